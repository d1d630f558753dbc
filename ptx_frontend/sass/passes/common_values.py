"""Computes once what parts of instructions would compute again, and finds 64-bit values in halves.

Registers with one write that reaches all their readers are values (static single assignment): a
part whose opcode and sources are those of one that dominates it gives the same. Accesses relative
to one register are then seen to be, which engines check together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.ptx_frontend.sass.passes.renaming import renamed
from kernelcast.simcore.isa.analysis.flow_graph import immediate_dominators
from kernelcast.simcore.isa.analysis.uniformity import definitions
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Immediate,
    Instruction,
    Operand,
    Register,
    Straight,
)

__all__ = ["with_common_values"]

_SIGN = Immediate(31)
_ZERO = Immediate(0)
_COPIES = ("mov",)


def with_common_values(
    blocks: tuple[BasicBlock, ...], unset: frozenset[int]
) -> tuple[BasicBlock, ...]:
    """The basic blocks with fewer parts. `unset`: registers that may be read before a write."""
    return _CommonValues(blocks, unset).blocks()


class _CommonValues:
    """Walks the tree of dominators: what a basic block has computed holds in those below it."""

    def __init__(self, blocks: tuple[BasicBlock, ...], unset: frozenset[int]) -> None:
        self._blocks = blocks
        writers: dict[int, Instruction | None] = {}
        for block in blocks:
            for instruction in block.body:
                for register in definitions(instruction):
                    is_first = register.index not in writers and instruction.guard is None
                    writers[register.index] = instruction if is_first else None
        self._values = {
            index: writer
            for index, writer in writers.items()
            if writer is not None and index not in unset
        }
        """What gives each value."""
        self._same: dict[Register, Register] = {}
        self._known: dict[object, Register] = {}

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
            added: list[object] = []
            bodies[index] = self._body(self._blocks[index], added)
            pending.append((index, added))
            pending.extend((child, None) for child in children.get(index, ()))
        return tuple(
            replace(
                block,
                body=tuple(renamed(i, self._same) for i in bodies.get(block.index, block.body)),
                terminator=renamed(block.terminator, self._same),
            )
            for block in self._blocks
        )

    def _body(self, block: BasicBlock, added: list[object]) -> tuple[Straight, ...]:
        kept: list[Straight] = []
        for found in block.body:
            instruction = self._simplified(renamed(found, self._same))
            if not isinstance(instruction, Compute) or not self._is_value(instruction):
                kept.append(instruction)
                continue
            (target,) = instruction.destinations
            assert target is not None
            self._values[target.index] = instruction
            source = self._copied(instruction)
            if source is not None:
                self._same[target] = source
                if not instruction.is_part:
                    kept.append(instruction)
                continue
            key = _key(instruction)
            earlier = self._known.get(key)
            if earlier is not None and instruction.is_part:
                self._same[target] = earlier
                continue
            if earlier is None and self._are_values(instruction.sources):
                self._known[key] = target
                added.append(key)
            kept.append(instruction)
        return tuple(kept)

    def _is_value(self, instruction: Compute) -> bool:
        """Whether the instruction gives one value that stays what it is."""
        destinations = instruction.destinations
        return (
            len(destinations) == 1
            and destinations[0] is not None
            and destinations[0].index in self._values
        )

    def _are_values(self, operands: Iterable[Operand]) -> bool:
        return all(
            isinstance(operand, Immediate)
            or (isinstance(operand, Register) and operand.index in self._values)
            for operand in operands
        )

    def _copied(self, instruction: Compute) -> Register | None:
        """The value that an instruction copies."""
        if instruction.opcode.name not in _COPIES or len(instruction.sources) != 1:
            return None
        source, (target,) = instruction.sources[0], instruction.destinations
        is_value = isinstance(source, Register) and source.index in self._values
        if not is_value or target is None or not isinstance(source, Register):
            return None
        return source if source.bits == target.bits == instruction.type.bits else None

    def _simplified(self, instruction: Straight) -> Straight:
        """A part that packs halves as what they are halves of."""
        if not isinstance(instruction, Compute) or not instruction.is_part:
            return instruction
        if instruction.opcode.name == "mov.unpack2" and instruction.guard is None:
            low, high = instruction.destinations
            if high is None and low is not None:
                return _as(instruction, "cvt.u32.u64", (low,), instruction.sources)
        if instruction.opcode.name != "mov.pack2" or not self._are_values(instruction.sources):
            return instruction
        low_source, high_source = instruction.sources
        if isinstance(low_source, Register):
            if high_source == _ZERO:
                return _as(instruction, "cvt.u64.u32", instruction.destinations, (low_source,))
            if self._is_sign(high_source, low_source):
                return _as(instruction, "cvt.s64.s32", instruction.destinations, (low_source,))
        whole = self._whole(low_source, high_source)
        if whole is not None:
            return _as(instruction, "mov.b64", instruction.destinations, (whole,))
        return instruction

    def _writer(self, operand: Operand) -> Compute | None:
        found = self._values.get(operand.index) if isinstance(operand, Register) else None
        return found if isinstance(found, Compute) else None

    def _is_sign(self, high: Operand, low: Register) -> bool:
        writer = self._writer(high)
        if writer is None or writer.opcode.name != "shr" or not writer.type.is_signed:
            return False
        value, amount = writer.sources
        value = self._same.get(value, value) if isinstance(value, Register) else value
        return value == low and amount == _SIGN

    def _whole(self, low: Operand, high: Operand) -> Operand | None:
        """The 64 bits whose halves the operands are."""
        writer = self._writer(low)
        if writer is None or writer is not self._writer(high):
            return None
        if writer.opcode.name != "mov.unpack2" or writer.destinations != (low, high):
            return None
        (source,) = writer.sources
        source = self._same.get(source, source) if isinstance(source, Register) else source
        return source if self._are_values([source]) else None


def _as(
    instruction: Compute,
    mnemonic: str,
    destinations: tuple[Register | None, ...],
    sources: tuple[Operand, ...],
) -> Compute:
    """The part as another instruction of the same place."""
    form = compute_form(mnemonic, "")
    assert isinstance(form, ComputeForm)
    return replace(
        instruction,
        mnemonic=mnemonic,
        opcode=form.opcode,
        type=form.type,
        source_type=form.source_type,
        modifiers=form.modifiers,
        destinations=destinations,
        sources=sources,
    )


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
