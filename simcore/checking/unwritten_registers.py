"""Probes of registers that are used before they are written, on the path that a thread takes.

Registers that may be, and what is computed of them, have a predicate beside them that says whether
they hold anything. Computing with an unwritten register is no defect yet, compilers do so on paths
whose results they drop; an address, a branch, a guard or a store made of it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelcast.simcore.checking.records import UNWRITTEN
from kernelcast.simcore.checking.rewriting import Probed, Rewriter
from kernelcast.simcore.isa.analysis.control_flow import live_in, writes
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Branch,
    Compute,
    Guard,
    Immediate,
    Instruction,
    Load,
    Operand,
    Register,
    Store,
    Straight,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["with_unwritten_registers"]

_IN_PARTS = ("mov.pack", "bfi", "prmt", "lop3", "and", "or", "xor", "shf")
"""Opcodes that put registers together of parts, of which some may never be used."""
_ZERO_OF_ITSELF = ("xor", "sub")
_ONE = Immediate(1)


def with_unwritten_registers(probed: Probed) -> Probed:
    """The kernel with probes wherever an unwritten register may be used; itself without any."""
    kernel = probed.kernel
    if kernel.machine is not None or not live_in(kernel)[0]:
        return probed
    return _Registers(probed).rewritten()


class _Registers:
    def __init__(self, probed: Probed) -> None:
        self._probed = probed
        self._rewriter = Rewriter(probed)
        by_index = {r.index: r for r in probed.kernel.registers}
        of = {by_index[i] for i in live_in(probed.kernel)[0] if i in by_index}
        self._holds = {r.index: self._rewriter.register(1) for r in sorted(of, key=_index)}
        while self._spreads():
            pass

    def rewritten(self) -> Probed:
        return self._rewriter.rewritten(self._uses, self._results)

    def _spreads(self) -> bool:
        """Whether more registers are computed of those that are looked at."""
        found = False
        for instruction in self._probed.kernel.instructions:
            if not isinstance(instruction, Compute | WarpOperation):
                continue
            if not any(self._of(source) for source in instruction.sources):
                continue
            for register in writes(instruction):
                if register.index not in self._holds:
                    self._holds[register.index] = self._rewriter.register(1)
                    found = True
        return found

    def _of(self, operand: Operand | None) -> Register | None:
        """What says whether an operand holds anything; None where it does."""
        return self._holds.get(operand.index) if isinstance(operand, Register) else None

    def _uses(self, instruction: Instruction) -> Iterator[Straight]:
        if isinstance(instruction, Branch) or instruction.guard is not None:
            guard = instruction.guard
            holds = self._of(guard.register) if guard is not None else None
            if holds is not None:
                yield self._rewriter.probe(instruction, UNWRITTEN, Guard(holds, negated=True))
        if isinstance(instruction, Load | Store | Atomic):
            yield from self._probe(instruction, [instruction.address.base])
        if isinstance(instruction, Store) and self._is_whole(instruction):
            yield from self._probe(instruction, instruction.sources[:1])
        if isinstance(instruction, Atomic):
            yield from self._probe(instruction, instruction.sources)

    def _is_whole(self, store: Store) -> bool:
        """Whether a store may write nothing that was written.

        Elements that nobody sets are padding where others are set; so may local memory hold.
        """
        is_local = store.address.space is AddressSpace.LOCAL
        return not is_local and all(self._of(source) for source in store.sources)

    def _probe(
        self, instruction: Instruction, operands: Iterable[Operand | None]
    ) -> Iterator[Straight]:
        for operand in operands:
            holds = self._of(operand)
            if holds is not None:
                yield from self._rewriter.probe_where(instruction, UNWRITTEN, holds, negated=True)

    def _results(self, instruction: Instruction) -> Iterator[Straight]:
        targets = [self._of(register) for register in writes(instruction)]
        written = [register for register in targets if register is not None]
        if not written:
            return
        first, *others = written
        yield from self._first(instruction, first)
        for other in others:
            yield self._copy(instruction, other, first)

    def _first(self, instruction: Instruction, target: Register) -> Iterator[Straight]:
        """Sets what says whether the results of an instruction hold anything."""
        if isinstance(instruction, WarpOperation):
            yield from self._exchanged(instruction, target)
            return
        if isinstance(instruction, Compute) and instruction.opcode.algebra is Algebra.CHOICE:
            yield from self._chosen(instruction, target)
            return
        sources: list[Register] = []
        if isinstance(instruction, Compute):
            found = [self._of(s) for s in instruction.sources]
            sources = [register for register in found if register is not None]
            if instruction.opcode.name.startswith(_IN_PARTS) and len(sources) < len(found):
                sources = []
            if instruction.opcode.name in _ZERO_OF_ITSELF and len({*instruction.sources}) == 1:
                sources = []
        yield from self._all(instruction, target, sources)

    def _all(
        self, about: Instruction, target: Register, sources: Sequence[Register]
    ) -> Iterator[Straight]:
        if not sources:
            yield self._set(about, target)
            return
        joined = sources[0]
        name = "and"
        if isinstance(about, Compute) and about.opcode.name.startswith(_IN_PARTS):
            name = "or"
        for source in sources[1:]:
            both = self._rewriter.register(1)
            yield self._rewriter.compute(about, name, ScalarType.PRED, both, [joined, source])
            joined = both
        yield self._copy(about, target, joined)

    def _set(self, about: Instruction, target: Register) -> Straight:
        return self._rewriter.compute(about, "mov", ScalarType.PRED, target, [_ONE], about.guard)

    def _copy(self, about: Instruction, target: Register, source: Register) -> Straight:
        return self._rewriter.compute(about, "mov", ScalarType.PRED, target, [source], about.guard)

    def _chosen(self, about: Compute, target: Register) -> Iterator[Straight]:
        """One of two operands, and the predicate that chooses."""
        left, right, which = (self._of(source) for source in about.sources)
        chosen = self._rewriter.register(1)
        sides: list[Operand] = [left or _ONE, right or _ONE, about.sources[2]]
        yield self._rewriter.compute(about, "selp", ScalarType.PRED, chosen, sides)
        yield from self._all(about, target, [chosen] if which is None else [chosen, which])

    def _exchanged(self, about: WarpOperation, target: Register) -> Iterator[Straight]:
        """What another lane's register says where its value goes; votes and the like hold."""
        source = self._of(about.sources[0]) if about.sources else None
        if source is None or not about.opcode.name.startswith("shfl"):
            yield self._set(about, target)
            return
        number, there = self._rewriter.register(32), self._rewriter.register(32)
        result = self._rewriter.register(1)
        numbers: list[Operand] = [_ONE, Immediate(0), source]
        yield self._rewriter.compute(about, "selp", ScalarType.B32, number, numbers)
        yield self._rewriter.exchange(about, there, number)
        yield self._rewriter.compute(
            about, "setp.ne", ScalarType.U32, result, [there, Immediate(0)]
        )
        yield self._copy(about, target, result)


def _index(register: Register) -> int:
    return register.index
