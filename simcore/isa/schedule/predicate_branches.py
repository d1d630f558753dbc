"""Short branches that native code does not take: it executes what they skip under a guard.

ptxas 13.0 for sm_75 to sm_100 predicates up to eight instructions that compute, loads and stores
besides; nothing that holds an atomic, an exchange between lanes or a branch of its own.
"""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.counting_rules import native_counting
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Branch,
    Compute,
    Immediate,
    Jump,
    Kernel,
    Load,
    Store,
)
from kernelcast.simcore.isa.opcodes.columns import Expansion

__all__ = ["is_branching", "predecessors", "predicated_edges"]

_MOST_COMPUTED = 8
_MOST_ACCESSES = 8
_APPROXIMATE = frozenset(("approx", "full"))


@once_per_kernel
def predicated_edges(kernel: Kernel) -> frozenset[tuple[int, int]]:
    """Edges between basic blocks that native code has in one: no branch is taken there."""
    before = predecessors(kernel)
    found: set[tuple[int, int]] = set()
    for block in kernel.blocks:
        end = block.terminator
        if not isinstance(end, Branch) or end.target == end.otherwise:
            continue
        for side, other in ((end.otherwise, end.target), (end.target, end.otherwise)):
            if before[side] != (block.index,) or not _is_short(kernel, kernel.blocks[side]):
                continue
            after = kernel.blocks[side].successors[0]
            if after == other and set(before[other]) <= {block.index, side}:
                found |= {(block.index, side), (side, other), (block.index, other)}
                break
    return frozenset(found)


def predecessors(kernel: Kernel) -> list[tuple[int, ...]]:
    """Basic blocks that lead to each, rising."""
    found: list[set[int]] = [set() for _ in kernel.blocks]
    for block in kernel.blocks:
        for target in block.successors:
            found[target].add(block.index)
    return [tuple(sorted(item)) for item in found]


def is_branching(instruction: Compute) -> bool:
    """Whether an instruction becomes several, with a branch for the rare cases or a call."""
    if instruction.opcode.expansion is not Expansion.ROUNDED:
        return False
    if instruction.type.is_integer:
        return instruction.type.bits == 64 and not isinstance(instruction.sources[1], Immediate)
    return not _APPROXIMATE & instruction.modifiers


def _is_short(kernel: Kernel, block: BasicBlock) -> bool:
    if not isinstance(block.terminator, Jump):
        return False
    folded = native_counting(kernel).folded
    counted = [item for item in block.body if item.pc not in folded]
    computed = [item for item in counted if isinstance(item, Compute)]
    accesses = [item for item in counted if isinstance(item, Load | Store)]
    return (
        len(computed) + len(accesses) == len(counted)
        and len(computed) <= _MOST_COMPUTED
        and len(accesses) <= _MOST_ACCESSES
        and not any(map(is_branching, computed))
        and not any(item.guard is not None for item in counted)
    )
