"""Finds loads of shared memory that look again and again for what other threads write.

Machine code does not say which of them are volatile. A load in a loop whose address stays the same
there, and in which nothing is written, would have been moved out of the loop if it were not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.spin_loops import loops
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierSync,
    BasicBlock,
    Compute,
    Instruction,
    Kernel,
    Load,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["with_waiting_loads"]


def with_waiting_loads(kernel: Kernel) -> Kernel:
    """The kernel whose loads in loops that wait are volatile."""
    if not any(isinstance(i, Load) and _is_shared(i) for b in kernel.blocks for i in b.body):
        return kernel
    found: set[int] = set()
    for loop in loops(kernel):
        blocks = [kernel.blocks[index] for index in loop.body]
        inside: list[Instruction] = [i for block in blocks for i in (*block.body, block.terminator)]
        if not any(isinstance(i, Store | Atomic | BarrierSync) for i in inside):
            found.update(id(load) for load in _fixed_loads(inside))
    if not found:
        return kernel
    return replace(kernel, blocks=tuple(_marked(block, found) for block in kernel.blocks))


def _is_shared(load: Load) -> bool:
    return load.address.space is AddressSpace.SHARED and not load.volatile


def _fixed_loads(inside: Sequence[Instruction]) -> list[Load]:
    """The loads of shared memory whose addresses do not change in a loop."""
    writers: dict[int, list[Instruction]] = {}
    for instruction in inside:
        for register in writes(instruction):
            writers.setdefault(register.index, []).append(instruction)
    changing = set(writers)
    size = -1
    while size != len(changing):
        size = len(changing)
        changing = {
            index
            for index in changing
            if any(
                not isinstance(i, Compute) or any(r.index in changing for r in reads(i))
                for i in writers[index]
            )
        }
    return [
        load
        for load in inside
        if isinstance(load, Load)
        and _is_shared(load)
        and not any(register.index in changing for register in reads(load))
    ]


def _marked(block: BasicBlock, found: set[int]) -> BasicBlock:
    if not any(id(i) in found for i in block.body):
        return block
    body = tuple(
        changed(i, volatile=True) if isinstance(i, Load) and id(i) in found else i
        for i in block.body
    )
    return replace(block, body=body)
