"""What symbolic execution knows of a kernel's code before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.simcore.isa.analysis.control_flow import (
    ending_blocks,
    live_in,
    post_dominators,
    writes,
)
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.slices import address_slice
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["Structure", "structure"]


@dataclass(frozen=True, slots=True)
class Structure:
    """Facts of a kernel by basic block.

    `live` registers, the basic blocks `after` it on every way; `loops` by their headers. `needed`:
    instructions that addresses and ways depend on, by pc, and the registers they write.
    """

    live: tuple[frozenset[int], ...]
    after: tuple[frozenset[int], ...]
    loops: Mapping[int, frozenset[int]]
    endings: frozenset[int]
    needed: frozenset[int]
    needed_registers: frozenset[int]


@once_per_kernel
def structure(kernel: Kernel) -> Structure:
    """Computes what symbolic execution must know of the kernel, once per kernel."""
    needed = address_slice(kernel).pcs
    return Structure(
        live_in(kernel),
        _post_dominated_by(kernel),
        _natural_loops(kernel),
        ending_blocks(kernel),
        needed,
        frozenset(
            register.index
            for instruction in kernel.instructions
            if instruction.pc in needed
            for register in writes(instruction)
        ),
    )


def _post_dominated_by(kernel: Kernel) -> tuple[frozenset[int], ...]:
    """The strict post-dominators of each basic block."""
    immediate = post_dominators([block.successors for block in kernel.blocks])
    found = []
    for index in range(len(kernel.blocks)):
        chain: list[int] = []
        at = immediate[index]
        while at is not None and at not in chain:
            chain.append(at)
            at = immediate[at]
        found.append(frozenset(chain))
    return tuple(found)


def _natural_loops(kernel: Kernel) -> dict[int, frozenset[int]]:
    """The basic blocks of each loop, by its header; basic blocks are in topological order."""
    before: dict[int, list[int]] = {}
    for block in kernel.blocks:
        for target in block.successors:
            before.setdefault(target, []).append(block.index)
    found: dict[int, frozenset[int]] = {}
    for block in kernel.blocks:
        for header in block.successors:
            if header > block.index:
                continue
            body, pending = {header}, [block.index]
            while pending:
                index = pending.pop()
                if index not in body:
                    body.add(index)
                    pending.extend(before.get(index, ()))
            found[header] = found.get(header, frozenset()) | body
    return found
