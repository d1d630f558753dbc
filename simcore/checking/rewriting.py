"""Kernels with instructions added that look at registers while they run.

What is looked at is told by probes: fences that order nothing, whose guard holds for the threads
that have something to tell. The added instructions use registers of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Fence,
    Guard,
    Instruction,
    Kernel,
    Operand,
    Register,
    Straight,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["PROBE", "Edit", "Probe", "Probed", "Rewriter"]

PROBE = "check"
"""The mnemonic of probes, which no source has."""
Edit: TypeAlias = Callable[[Instruction], Iterable[Straight]]


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe tells of: a kind of `records`, and the instruction that it is about."""

    kind: int
    about: Instruction


@dataclass(frozen=True)
class Probed:
    """A kernel with probes, by pc."""

    kernel: Kernel
    probes: dict[int, Probe] = field(default_factory=dict)


class Rewriter:
    """Makes added instructions for one kernel, and the kernel that has them."""

    def __init__(self, probed: Probed) -> None:
        self._kernel = probed.kernel
        self._probes = dict(probed.probes)
        self._registers = list(probed.kernel.registers)
        self._index = max((r.index for r in self._registers), default=-1) + 1
        self._pc = max((i.pc for i in probed.kernel.instructions), default=-1) + 1

    def register(self, bits: int) -> Register:
        """A register that nothing else uses; it holds zero at first."""
        self._registers.append(Register(self._index, bits, f"%check{self._index}"))
        self._index += 1
        return self._registers[-1]

    def compute(
        self,
        about: Instruction,
        name: str,
        type_: ScalarType,
        destination: Register,
        sources: Sequence[Operand],
        guard: Guard | None = None,
        source_type: ScalarType | None = None,
    ) -> Compute:
        """An instruction at the place of another one; comparisons have no second result."""
        code = OPCODES[name]
        results = len(code.signature.partition("=")[0])
        return Compute(
            pc=self._next_pc(),
            mnemonic=PROBE,
            span=about.span,
            origin=about.origin,
            guard=guard,
            is_added=True,
            opcode=code,
            type=type_,
            source_type=source_type or type_,
            destinations=(destination, *([None] * (results - 1))),
            sources=tuple(sources),
        )

    def exchange(self, about: WarpOperation, result: Register, source: Register) -> WarpOperation:
        """Exchanges another register between the same lanes."""
        others = [None] * (len(about.destinations) - 1)
        return replace(
            about,
            pc=self._next_pc(),
            mnemonic=PROBE,
            is_added=True,
            destinations=(result, *others),
            sources=(source, *about.sources[1:]),
        )

    def probe(self, about: Instruction, kind: int, guard: Guard) -> Fence:
        """Tells of the threads for which the guard holds."""
        pc = self._next_pc()
        self._probes[pc] = Probe(kind, about)
        return Fence(
            pc=pc, mnemonic=PROBE, span=about.span, origin=about.origin, guard=guard, is_added=True
        )

    def probe_where(
        self, about: Instruction, kind: int, register: Register, *, negated: bool = False
    ) -> list[Straight]:
        """Tells of the threads that do an instruction and for which a predicate holds."""
        if about.guard is None:
            return [self.probe(about, kind, Guard(register, negated))]
        parts: list[Straight] = []
        sides = []
        for guard in (about.guard, Guard(register, negated)):
            side = guard.register
            if guard.negated:
                side = self.register(1)
                parts.append(self.compute(about, "not", ScalarType.PRED, side, [guard.register]))
            sides.append(side)
        both = self.register(1)
        parts.append(self.compute(about, "and", ScalarType.PRED, both, sides))
        return [*parts, self.probe(about, kind, Guard(both, negated=False))]

    def rewritten(self, before: Edit, after: Edit, at_first: Iterable[Straight] = ()) -> Probed:
        """The kernel with what the edits give around each instruction."""
        blocks = []
        for block in self._kernel.blocks:
            body: list[Straight] = list(at_first) if block.index == 0 else []
            for instruction in block.body:
                if instruction.mnemonic == PROBE:
                    body.append(instruction)
                    continue
                body += [*before(instruction), instruction, *after(instruction)]
            body += before(block.terminator)
            blocks.append(_with_body(block, body))
        kernel = replace(self._kernel, blocks=tuple(blocks), registers=tuple(self._registers))
        return Probed(kernel, self._probes)

    def _next_pc(self) -> int:
        self._pc += 1
        return self._pc - 1


def _with_body(block: BasicBlock, body: Sequence[Straight]) -> BasicBlock:
    return replace(block, body=tuple(body))
