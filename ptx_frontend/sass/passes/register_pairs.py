"""Deletes updates of 64-bit registers from their halves where the 64 bits are there already.

A pair is valid where on every way to a place the last write was one of its 64 bits, or an update of
them from the halves. Forward data flow, one bit for each pair; the meet is `and`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kernelcast.ptx_frontend.sass.lowering.registers import SassRegisters
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Compute, Instruction, Straight

__all__ = ["without_valid_updates"]


def without_valid_updates(
    blocks: tuple[BasicBlock, ...], registers: SassRegisters
) -> dict[int, tuple[Straight, ...]]:
    """The bodies of all basic blocks by their index."""
    flow = _PairFlow(registers)
    if not registers.pairs:
        return {block.index: block.body for block in blocks}
    valid = _valid_at_start(blocks, flow)
    found = {}
    for block in blocks:
        now, kept = valid[block.index], []
        for instruction in block.body:
            bit = flow.updated(instruction)
            if bit and now & bit:
                continue
            now = flow.after(instruction, now)
            kept.append(instruction)
        found[block.index] = tuple(kept)
    return found


class _PairFlow:
    """Which bits an instruction sets and clears."""

    def __init__(self, registers: SassRegisters) -> None:
        self._bit: dict[int, int] = {}
        self._of_half: dict[int, int] = {}
        self._halves: dict[int, tuple[int, int]] = {}
        for number, ((file, low), pair) in enumerate(registers.pairs.items()):
            self._bit[pair.index] = 1 << number
            halves = registers.word(file, low).index, registers.word(file, low + 1).index
            self._halves[pair.index] = halves
            for half in halves:
                self._of_half[half] = self._of_half.get(half, 0) | 1 << number
        self.all = (1 << len(self._bit)) - 1

    def updated(self, instruction: Instruction) -> int:
        """The pair that the instruction does nothing but update from its halves; 0 for others."""
        if not self._is_copy(instruction, "mov.pack2"):
            return 0
        assert isinstance(instruction, Compute)
        (target,) = instruction.destinations
        if target is None or target.index not in self._bit:
            return 0
        sources = tuple(getattr(source, "index", -1) for source in instruction.sources)
        return self._bit[target.index] if sources == self._halves[target.index] else 0

    def after(self, instruction: Instruction, valid: int) -> int:
        """The pairs that are valid after an instruction."""
        bit = self.updated(instruction)
        if bit:
            return valid | bit
        kept = self._written_back(instruction) & valid
        for register in writes(instruction):
            valid &= ~self._of_half.get(register.index, 0) | kept
        for register in writes(instruction):
            # under a guard lanes keep what they had: `pair_destination` updates before
            valid |= self._bit.get(register.index, 0)
        return valid

    def _written_back(self, instruction: Instruction) -> int:
        """The pair whose halves the instruction writes from it; 0 for others."""
        if not self._is_copy(instruction, "mov.unpack2"):
            return 0
        assert isinstance(instruction, Compute)
        index = getattr(instruction.sources[0], "index", -1)
        halves = tuple(d.index if d is not None else -1 for d in instruction.destinations)
        return self._bit[index] if halves == self._halves.get(index) else 0

    @staticmethod
    def _is_copy(instruction: Instruction, name: str) -> bool:
        return isinstance(instruction, Compute) and (
            instruction.opcode.name == name and instruction.is_part
        )


def _valid_at_start(blocks: tuple[BasicBlock, ...], flow: _PairFlow) -> Mapping[int, int]:
    """Optimistic: everything is valid but at the entry, until the opposite is found."""
    valid = {block.index: flow.all for block in blocks}
    valid[0] = 0
    pending = [block.index for block in blocks]
    while pending:
        index = pending.pop(0)
        now = valid[index]
        for instruction in blocks[index].body:
            now = flow.after(instruction, now)
        for target in _targets(blocks[index]):
            if valid[target] & now != valid[target]:
                valid[target] &= now
                pending.append(target)
    return valid


def _targets(block: BasicBlock) -> Iterable[int]:
    return block.successors
