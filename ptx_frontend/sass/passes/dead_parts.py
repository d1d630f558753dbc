"""Deletes parts of instructions whose results nobody reads."""

from __future__ import annotations

from dataclasses import replace

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Compute, Instruction, Load, Straight
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["without_dead_parts"]


def without_dead_parts(
    blocks: tuple[BasicBlock, ...],
) -> tuple[BasicBlock, ...]:
    """The basic blocks without parts that compute for nobody; registers must have one value each.

    What counts as an instruction stays, whatever becomes of its result.
    """
    readers: dict[int, int] = {}
    writers: dict[int, list[Instruction]] = {}
    for block in blocks:
        for instruction in (*block.body, block.terminator):
            for register in reads(instruction):
                readers[register.index] = readers.get(register.index, 0) + 1
            for register in writes(instruction):
                writers.setdefault(register.index, []).append(instruction)
    dead: set[int] = set()
    pending: list[Instruction] = [x for block in blocks for x in block.body if _is_pure(x)]
    while pending:
        candidate = pending.pop()
        if id(candidate) in dead:
            continue
        own = [register.index for register in reads(candidate)]
        if any(
            readers.get(register.index, 0) > own.count(register.index)
            for register in writes(candidate)
        ):
            continue
        dead.add(id(candidate))
        for index in own:
            readers[index] -= 1
            pending.extend(w for w in writers.get(index, ()) if _is_pure(w))
    return tuple(
        replace(block, body=tuple(item for item in block.body if id(item) not in dead))
        for block in blocks
    )


def _is_pure(instruction: Instruction | Straight) -> bool:
    """Whether only its results matter."""
    if not instruction.is_part:
        return False
    if isinstance(instruction, Load):
        return instruction.address.space is AddressSpace.PARAM
    return isinstance(instruction, Compute)
