"""Counted barriers that are for a whole thread block of the launch at hand: plain barriers."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from kernelcast.simcore.isa.ir.kernel import (
    BarrierArrive,
    BarrierSync,
    BasicBlock,
    Immediate,
    Kernel,
)
from kernelcast.simcore.isa.opcodes.warp import GROUP

__all__ = ["with_whole_barriers"]

_known: WeakKeyDictionary[Kernel, dict[int, Kernel]] = WeakKeyDictionary()


def with_whole_barriers(kernel: Kernel, threads: int) -> Kernel:
    """The kernel with counted barriers for all `threads` of a thread block made plain ones.

    Threads are counted as whole warps. The kernel itself where nothing changes, and the same object
    every time.
    """
    padded = -(-threads // GROUP) * GROUP
    if not any(_is_whole(kernel, block, padded) for block in kernel.blocks):
        return kernel
    versions = _known.setdefault(kernel, {})
    if padded not in versions:
        blocks = tuple(
            replace(block, terminator=replace(block.terminator, count=None))
            if isinstance(block.terminator, BarrierSync) and _is_whole(kernel, block, padded)
            else block
            for block in kernel.blocks
        )
        versions[padded] = replace(kernel, blocks=blocks)
    return versions[padded]


def _is_whole(kernel: Kernel, block: BasicBlock, padded: int) -> bool:
    end = block.terminator
    if not isinstance(end, BarrierSync) or end.number is not None:
        return False  # lanes of a warp may come to barriers of different number
    if end.count != Immediate(padded):
        return False
    return not any(isinstance(i, BarrierArrive) for i in kernel.instructions)
