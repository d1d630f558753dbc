"""Computes once what parts of instructions would compute again, and finds 64-bit values in halves.

A part whose opcode and sources are those of one that dominates it gives the same. Accesses relative
to one register are then seen to be, which engines check together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kernelcast.ptx_frontend.sass.passes.parts import Parts
from kernelcast.ptx_frontend.sass.passes.values import Values
from kernelcast.ptx_frontend.sass.passes.whole_comparisons import WholeComparisons
from kernelcast.ptx_frontend.sass.passes.wholes import Wholes
from kernelcast.simcore.isa.analysis.flow_graph import immediate_dominators
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Instruction,
    Operand,
    Register,
    Straight,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["with_common_values"]

_COPIES = ("mov",)
_NEUTRAL = {"and": 1, "or": 0}
"""What leaves a predicate as it is."""


def with_common_values(
    blocks: tuple[BasicBlock, ...],
    unset: frozenset[int],
    parts: Parts,
    guarded: frozenset[int] = frozenset(),
) -> tuple[BasicBlock, ...]:
    """The basic blocks with fewer parts.

    `unset`: registers that may be read before a write; `guarded`: those whose one reader takes them
    only where the guard of their write holds.
    """
    return _CommonValues(blocks, Values(blocks, unset, guarded), parts).blocks()


class _CommonValues:
    """Walks the tree of dominators: what a basic block has computed holds in those below it."""

    def __init__(self, blocks: Sequence[BasicBlock], values: Values, parts: Parts) -> None:
        self._blocks = blocks
        self._values = values
        self._parts = parts
        self._known: dict[object, Register] = {}
        self._added: list[object] = []
        self._kept: list[Straight] = []
        self._place: Instruction = blocks[0].terminator
        self._wholes = Wholes(values, self._emit, self._packed)
        self._comparisons = WholeComparisons(values, self._emit, self._wholes)

    def blocks(self) -> tuple[BasicBlock, ...]:
        """All basic blocks in their order."""
        children = _dominated([block.successors for block in self._blocks])
        bodies: dict[int, tuple[Straight, ...]] = {}
        pending: list[tuple[int, list[object] | None]] = [(0, None)]
        while pending:
            index, leaving = pending.pop()
            if leaving is not None:
                for key in leaving:
                    del self._known[key]
                continue
            self._added = []
            bodies[index] = self._body(self._blocks[index])
            pending.append((index, self._added))
            pending.extend((child, None) for child in children.get(index, ()))
        return tuple(
            replace(
                block,
                body=tuple(map(self._values.renamed, bodies.get(block.index, block.body))),
                terminator=self._values.renamed_end(block.terminator),
            )
            for block in self._blocks
        )

    def _body(self, block: BasicBlock) -> tuple[Straight, ...]:
        self._kept = []
        for found in block.body:
            self._place = found
            instruction = self._simplified(self._values.renamed(found))
            self._values.note(instruction)
            if not isinstance(instruction, Compute) or not self._is_value(instruction):
                self._kept.append(instruction)
                continue
            (target,) = instruction.destinations
            assert target is not None
            source = self._copied(instruction) or self._comparisons.bit_test(instruction)
            if source is not None:
                self._values.merge(target, source)
                if not instruction.is_part:
                    self._kept.append(instruction)
                continue
            key = _key(instruction)
            earlier = self._known.get(key)
            if earlier is not None and instruction.is_part:
                self._values.merge(target, earlier)
                continue
            if earlier is None and self._values.are_values(instruction.sources):
                self._know(key, target)
            self._kept.append(instruction)
        return tuple(self._kept)

    def _know(self, key: object, target: Register) -> None:
        self._known[key] = target
        self._added.append(key)

    def _emit(self, mnemonic: str, bits: int, sources: tuple[Operand, ...]) -> Register:
        """A new part before the instruction that is looked at, or an earlier one that is alike."""
        target = self._parts.register(bits)
        instruction = self._parts.of(self._place, mnemonic, (target,), sources)
        key = _key(instruction)
        earlier = self._known.get(key)
        if earlier is not None:
            return earlier
        self._values.add(instruction)
        self._know(key, target)
        self._kept.append(instruction)
        return target

    def _packed(self, low: Operand, high: Operand) -> Register | None:
        """What is packed of two halves already."""
        types = ScalarType.B64, ScalarType.B64
        return self._known.get(("mov.pack2", *types, frozenset(), (low, high), (64,)))

    def _is_value(self, instruction: Compute) -> bool:
        """Whether the instruction gives one value that stays what it is."""
        destinations = instruction.destinations
        return (
            len(destinations) == 1
            and destinations[0] is not None
            and self._values.is_value(destinations[0])
        )

    def _copied(self, instruction: Compute) -> Register | None:
        """The value that an instruction copies."""
        source = _copy_source(instruction)
        (target,) = instruction.destinations
        if instruction.type.bits == 1 and instruction.opcode.name in _NEUTRAL:
            source = self._kept_predicate(instruction)
        if not isinstance(source, Register) or target is None or not self._values.is_value(source):
            return None
        return source if source.bits == target.bits == instruction.type.bits else None

    def _kept_predicate(self, instruction: Compute) -> Operand | None:
        """The predicate that stays what it is beside a neutral one."""
        neutral = _NEUTRAL[instruction.opcode.name]
        one, other = instruction.sources
        if self._values.number(one) == neutral:
            return self._values.first(other)
        return self._values.first(one) if self._values.number(other) == neutral else None

    def _simplified(self, instruction: Straight) -> Straight:
        """A part that packs halves as what they are halves of, or compares them one by one."""
        if not isinstance(instruction, Compute) or not instruction.is_part or instruction.guard:
            return instruction
        name = instruction.opcode.name
        if name == "mov.unpack2":
            low, high = instruction.destinations
            if high is None and low is not None:
                return self._as(instruction, "cvt.u32.u64", (low,), instruction.sources)
        if name == "mov.pack2" and self._values.are_values(instruction.sources):
            low_source, high_source = instruction.sources
            whole = self._wholes.whole(low_source, high_source)
            if whole is not None:
                return self._as(instruction, "mov.b64", instruction.destinations, (whole,))
        if name in _NEUTRAL and instruction.type.bits == 1 and self._is_value(instruction):
            one, other = instruction.sources
            compared = self._comparisons.comparison(name, one, other)
            if compared is not None:
                return self._as(instruction, "mov.pred", instruction.destinations, (compared,))
        return instruction

    def _as(
        self,
        instruction: Compute,
        mnemonic: str,
        destinations: tuple[Register | None, ...],
        sources: tuple[Operand, ...],
    ) -> Compute:
        """The part as another instruction of the same place."""
        found = self._parts.of(instruction, mnemonic, destinations, sources)
        return changed(found, pc=instruction.pc)


def _copy_source(instruction: Compute) -> Operand | None:
    if instruction.opcode.name not in _COPIES or len(instruction.sources) != 1:
        return None
    return instruction.sources[0]


def _key(instruction: Compute) -> object:
    """What two instructions that give the same have in common."""
    return (
        instruction.opcode.name,
        instruction.type,
        instruction.source_type,
        instruction.modifiers,
        instruction.sources,
        tuple(d.bits for d in instruction.destinations if d is not None),
    )


def _dominated(successors: list[tuple[int, ...]]) -> Mapping[int, list[int]]:
    """The basic blocks directly below each in the tree of dominators."""
    found: dict[int, list[int]] = {}
    for block, above in immediate_dominators(successors, 0).items():
        found.setdefault(above, []).append(block)
    return found
