"""Loops in which lanes may wait for what other lanes, warps or thread blocks write.

Whether such a loop goes on depends on what it reads of memory that others write: an atomic's
result, or a load that must look again each time. The dependence is followed through registers,
through local memory and through the branches in the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kernelcast.errors import LimitExceeded
from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.host.limits import MOST_NESTED_BLOCKS
from kernelcast.simcore.isa.analysis.control_flow import post_dominators, reads, writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Branch,
    Compute,
    Fence,
    Instruction,
    Kernel,
    Load,
    Special,
    SpecialRegister,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "SpinLoop",
    "is_ordering",
    "loops",
    "meeting_blocks",
    "patience",
    "reads_clock",
    "spin_loops",
]

_SHARED_WITH_OTHERS = (AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.SHARED)
_PRIVATE = (AddressSpace.LOCAL, AddressSpace.GENERIC)
_LOOKS_AGAIN = ("cv", "cg")
_CLOCKS = (Special.CLOCK, Special.CLOCK64, Special.GLOBALTIMER)
_PATIENCE, _PATIENCE_TOGETHER = 32, 1024


@dataclass(frozen=True, slots=True)
class SpinLoop:
    """`head`: the basic block that jumps go back to; `body`: all basic blocks, the head too.

    `is_suspended`: all that it looks at are mbarriers, where hardware puts the thread aside.
    """

    head: int
    body: frozenset[int]
    is_suspended: bool = False


@once_per_kernel
def spin_loops(kernel: Kernel) -> tuple[SpinLoop, ...]:
    """Loops in which lanes may wait for what others write, in ascending order of their heads."""
    has_fence = any(isinstance(i, Fence) for i in kernel.instructions)
    if not any(_is_source(i, has_fence) for i in kernel.instructions):
        return ()
    following = post_dominators([block.successors for block in kernel.blocks])
    return tuple(loop for loop in loops(kernel) if _may_wait(kernel, loop, following))


@once_per_kernel
def meeting_blocks(kernel: Kernel) -> tuple[int, ...]:
    """Basic blocks at which lanes wait for members that may be spinning.

    These are the ones with operations across lanes that name their members, in kernels with spin
    loops.
    """
    if not spin_loops(kernel):
        return ()
    return tuple(
        block.index
        for block in kernel.blocks
        if any(isinstance(i, WarpOperation) and i.members is not None for i in block.body)
    )


def patience(*, waits_for_members: bool) -> int:
    """The number of passes without progress after which spinning lanes let others run.

    Where it is not known which members an operation across lanes has, nobody waits for them: it
    fails when lanes come to it that went ahead.
    """
    return _PATIENCE if waits_for_members else _PATIENCE_TOGETHER


@once_per_kernel
def reads_clock(kernel: Kernel) -> bool:
    """Whether the kernel reads a clock or timer register."""
    return any(
        isinstance(source, SpecialRegister) and source.which in _CLOCKS
        for i in kernel.instructions
        if isinstance(i, Compute)
        for source in i.sources
    )


def is_ordering(fence: Fence) -> bool:
    """Whether the fence orders accesses to memory; hints and pauses are fences, too."""
    return fence.mnemonic.lower().startswith(("membar", "fence"))


def _heads(kernel: Kernel) -> list[int]:
    return sorted({t for b in kernel.blocks for t in b.successors if t <= b.index})


def loops(kernel: Kernel) -> Iterator[SpinLoop]:
    """All loops; raises LimitExceeded where they lie in one another too often to look at each."""
    before: dict[int, list[int]] = {}
    for block in kernel.blocks:
        for target in block.successors:
            before.setdefault(target, []).append(block.index)
    seen = 0
    for head in watched(_heads(kernel), "looking for spin loops"):
        loop = _loop(kernel, head, before)
        seen += len(loop.body)
        if seen > MOST_NESTED_BLOCKS:
            raise LimitExceeded(
                f"{kernel.name}: its loops hold more than {MOST_NESTED_BLOCKS:,} basic blocks, "
                "each counted in every loop that it lies in"
            )
        yield loop


def _loop(kernel: Kernel, head: int, before: Mapping[int, Sequence[int]]) -> SpinLoop:
    """The basic blocks from which the head is reached again; `before`: each one's predecessors."""
    body = {head}
    pending = [index for index in before[head] if index >= head]
    while pending:
        index = pending.pop()
        if index not in body:
            body.add(index)
            pending += [source for source in before.get(index, ()) if source >= head]
    looks = [i for index in body for i in kernel.blocks[index].body if _is_source(i, False)]
    return SpinLoop(head, frozenset(body), all(map(is_mbarrier_look, looks)))


def _may_wait(kernel: Kernel, loop: SpinLoop, following: tuple[int | None, ...]) -> bool:
    """Whether a way out depends on what others write."""
    blocks = [kernel.blocks[index] for index in sorted(loop.body)]
    inside = [(block.index, i) for block in blocks for i in block.body]
    has_fence = any(isinstance(i, Fence) for _, i in inside)
    tainted = {r.index for _, i in inside if _is_source(i, has_fence) for r in writes(i)}
    if not tainted:
        return False
    controlled: set[int] = set()
    size = (-1, -1)
    while size != (len(tainted), len(controlled)):
        size = len(tainted), len(controlled)
        spilled = any(
            isinstance(i, Store) and i.address.space in _PRIVATE and _depends(i, tainted)
            for _, i in inside
        )
        for index, i in inside:
            reloaded = spilled and isinstance(i, Load) and i.address.space in _PRIVATE
            if index in controlled or reloaded or _depends(i, tainted):
                tainted.update(r.index for r in writes(i))
        for block in blocks:
            if isinstance(block.terminator, Branch) and _depends(block.terminator, tainted):
                controlled |= _controlled(kernel, loop, block.index, following[block.index])
    return any(
        isinstance(block.terminator, Branch)
        and not loop.body.issuperset(block.successors)
        and (block.index in controlled or _depends(block.terminator, tainted))
        for block in blocks
    )


def _is_source(instruction: Instruction, has_fence: bool) -> bool:
    """Whether the instruction may see something new each time."""
    if isinstance(instruction, Atomic):
        return True
    if not isinstance(instruction, Load) or instruction.address.space not in _SHARED_WITH_OTHERS:
        return False
    return instruction.volatile or instruction.cache in _LOOKS_AGAIN or has_fence


def _depends(instruction: Instruction, tainted: set[int]) -> bool:
    return any(register.index in tainted for register in reads(instruction))


def _controlled(kernel: Kernel, loop: SpinLoop, branch: int, end: int | None) -> set[int]:
    """Basic blocks of the loop that a branch decides about: up to where its ways meet again."""
    found: set[int] = set()
    pending = list(kernel.blocks[branch].successors)
    while pending:
        index = pending.pop()
        if index in (end, loop.head) or index not in loop.body or index in found:
            continue
        found.add(index)
        pending.extend(kernel.blocks[index].successors)
    return found
