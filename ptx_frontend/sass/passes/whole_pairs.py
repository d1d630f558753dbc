"""Keeps 64-bit values whole that the assembler carries from basic block to basic block in halves.

Two registers that some part packs, and that are written in several places, become one register of
64 bits: each basic block takes its halves where it begins and packs them where it ends, and
`common_values` finds what the halves computed together. Where it does not find it in a loop, the
halves stay as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernelcast.ptx_frontend.sass.passes.common_values import with_common_values
from kernelcast.ptx_frontend.sass.passes.dead_parts import without_dead_parts
from kernelcast.ptx_frontend.sass.passes.parts import Parts
from kernelcast.ptx_frontend.sass.passes.renaming import with_registers
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Instruction,
    Operand,
    Register,
    Straight,
)

__all__ = ["with_values_whole"]

_WORD, _PAIR = 32, 64
_MOST_PAIRS = 16
"""More are looked at in no kernel, so that the time stays near that of one look."""


def with_values_whole(
    blocks: tuple[BasicBlock, ...], registers: Sequence[Register], unset: frozenset[int]
) -> tuple[tuple[BasicBlock, ...], tuple[Register, ...]]:
    """The basic blocks with common values computed once and whole pairs, and their registers.

    `unset`: registers that may be read before a write.
    """
    depths = _depths(blocks)
    pairs = _pairs(blocks, depths, unset)
    while True:
        parts = Parts(blocks, registers)
        joined = _Joined(blocks, pairs, parts)
        found = with_common_values(joined.blocks(), unset, parts, frozenset(joined.guarded))
        found = without_dead_parts(found)
        bad = {pair for pair in pairs if _is_packed(found, joined.wholes[pair], pair, depths)}
        if not bad:
            return found, tuple(parts.registers)
        pairs = [pair for pair in pairs if pair not in bad]


@dataclass(frozen=True, slots=True)
class _Pair:
    """`depth`: of the innermost loop in which the halves are packed."""

    low: Register
    high: Register
    depth: int


def _depths(blocks: Sequence[BasicBlock]) -> list[int]:
    """The loops around each basic block, which are numbered in the order of the flow."""
    depths = [0] * len(blocks)
    for block in blocks:
        for target in block.successors:
            for index in range(target, block.index + 1):
                depths[index] += 1
    return depths


def _packs(blocks: Sequence[BasicBlock]) -> Iterator[tuple[BasicBlock, Compute]]:
    for block in blocks:
        for found in block.body:
            if isinstance(found, Compute) and found.opcode.name == "mov.pack2" and found.is_part:
                yield block, found


def _pairs(
    blocks: Sequence[BasicBlock], depths: Sequence[int], unset: frozenset[int]
) -> list[_Pair]:
    """Halves that are packed in loops; each register is in one pair only."""
    counts: dict[int, int] = {}
    fixed: set[int] = set(unset)
    for block in blocks:
        for instruction in block.body:
            written = writes(instruction)
            for register in written:
                counts[register.index] = counts.get(register.index, 0) + 1
            if instruction.guard is not None and instruction.guard.register in written:
                fixed.update(register.index for register in written)
    candidates: list[_Pair] = []
    for block, pack in _packs(blocks):
        low, high = pack.sources
        if depths[block.index] and isinstance(low, Register) and isinstance(high, Register):
            candidates.append(_Pair(low, high, depths[block.index]))
    taken: set[int] = set()
    found: list[_Pair] = []
    for pair in sorted(candidates, key=lambda pair: -pair.depth):
        own = {pair.low.index, pair.high.index}
        are_carried = all(counts.get(index, 0) > 1 and index not in fixed for index in own)
        are_words = pair.low.bits == pair.high.bits == _WORD
        if len(own) > 1 and are_words and are_carried and not own & taken:
            taken |= own
            found.append(pair)
    return found[:_MOST_PAIRS]


def _is_packed(
    blocks: Sequence[BasicBlock], whole: Register, pair: _Pair, depths: Sequence[int]
) -> bool:
    """Whether the whole is still packed of halves in a loop as deep as the one that reads it."""
    return any(
        pack.destinations == (whole,) and depths[block.index] >= pair.depth
        for block, pack in _packs(blocks)
    )


def _inner_registers(blocks: Sequence[BasicBlock]) -> frozenset[int]:
    """Words that one basic block alone writes, some of them under guards, and reads afterwards."""
    where: dict[int, int] = {}
    found: set[int] = set()
    shared: set[int] = set()
    for block in blocks:
        for instruction in (*block.body, block.terminator):
            written = writes(instruction)
            for register in (*reads(instruction), *written):
                if where.setdefault(register.index, block.index) != block.index:
                    shared.add(register.index)
            is_guarded = instruction.guard is not None
            own_guard = instruction.guard.register if instruction.guard else None
            for register in written:
                is_first = register.index not in found
                if register.bits != _WORD or own_guard in written or (is_first and is_guarded):
                    shared.add(register.index)
                found.add(register.index)
            shared.update(r.index for r in reads(instruction) if r.index not in found)
    return frozenset(found - shared)


class _Joined:
    """Writes basic blocks over whole pairs; `wholes` are their registers.

    `guarded`: registers that are written under a guard and read where it holds.
    """

    def __init__(self, blocks: Sequence[BasicBlock], pairs: Sequence[_Pair], parts: Parts) -> None:
        self._blocks = blocks
        self._parts = parts
        self.wholes = {
            pair: parts.register(_PAIR, f"{pair.low.name}:{pair.high.name}") for pair in pairs
        }
        self._halves = {r.index: pair for pair in pairs for r in (pair.low, pair.high)}
        self._inner = _inner_registers(blocks) if pairs else frozenset()
        self._now: dict[int, Register] = {}
        self.guarded: set[int] = set()

    def blocks(self) -> tuple[BasicBlock, ...]:
        """All basic blocks."""
        if not self._halves:
            return tuple(self._blocks)
        return tuple(map(self._block, self._blocks))

    def _block(self, block: BasicBlock) -> BasicBlock:
        instructions: tuple[Instruction, ...] = (*block.body, block.terminator)
        written = {r.index for i in instructions for r in writes(i)} & set(self._halves)
        touched = written | ({r.index for i in instructions for r in reads(i)} & set(self._halves))
        if not touched:
            return block
        body: list[Straight] = []
        self._now = {}
        for pair in dict.fromkeys(self._halves[index] for index in sorted(touched)):
            body.extend(self._taken(pair, instructions[0]))
        for instruction in block.body:
            body.extend(self._named(instruction))
        end = with_registers(block.terminator, self._read, None)
        for pair in dict.fromkeys(self._halves[index] for index in sorted(written)):
            halves = self._now[pair.low.index], self._now[pair.high.index]
            body.append(self._parts.of(instructions[-1], "mov.b64", (self.wholes[pair],), halves))
        return replace(block, body=tuple(body), terminator=end)

    def _taken(self, pair: _Pair, place: Instruction) -> Iterator[Compute]:
        """The whole as a value of this basic block, and its halves."""
        value = self._parts.register(_PAIR)
        low, high = (self._parts.register(_WORD, r.name) for r in (pair.low, pair.high))
        self._now[pair.low.index], self._now[pair.high.index] = low, high
        yield self._parts.of(place, "mov.b64", (value,), (self.wholes[pair],))
        yield self._parts.of(place, "mov.b64", (low, high), (value,))

    def _read(self, register: Register) -> Register:
        return self._now.get(register.index, register)

    def _named(self, instruction: Straight) -> Iterator[Straight]:
        """The instruction over halves of this basic block; a choice after a guarded write."""
        before = dict(self._now)
        fresh = {
            register.index: self._parts.register(_WORD, register.name)
            for register in writes(instruction)
            if register.index in self._halves or register.index in self._inner
        }
        named: Any = with_registers(
            instruction, self._read, lambda register: fresh.get(register.index, register)
        )
        yield named
        self._now.update(fresh)
        guard = named.guard
        if guard is None:
            return
        for index, register in fresh.items():
            self.guarded.add(register.index)
            chosen = self._parts.register(_WORD, register.name)
            sources: tuple[Operand, ...] = (register, before[index], guard.register)
            if guard.negated:
                sources = (before[index], register, guard.register)
            self._now[index] = chosen
            yield self._parts.of(instruction, "selp.b32", (chosen,), sources)
