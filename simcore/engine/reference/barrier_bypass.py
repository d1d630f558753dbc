"""Threads that go round a barrier to the very code behind it, while others wait there.

Only the straight way counts: an edge into the basic block behind the barrier from one that the
barrier does not lead to. Threads that return without touching that code do no harm, nor does a
branch before the barrier that all threads of a thread block take alike: a loop unrolled by the
compiler has one that skips its remainder.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.analysis.control_flow import dominators
from kernelcast.simcore.isa.analysis.thread_block_uniformity import thread_block_values
from kernelcast.simcore.isa.ir.kernel import BarrierSync, BasicBlock, Branch, Jump, Kernel

__all__ = ["BarrierBypassLog", "barrier_bypasses"]

Mask = npt.NDArray[np.bool_]


def barrier_bypasses(kernel: Kernel) -> Mapping[tuple[int, int], tuple[int, ...]]:
    """Edge of the control flow -> basic blocks whose closing barrier it goes round."""
    before = dominators([block.successors for block in kernel.blocks])
    common: frozenset[int] | None = None
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    for barrier in kernel.blocks:
        end = barrier.terminator
        if not isinstance(end, BarrierSync) or end.is_cluster:
            continue  # threads that do not wait for their cluster are counted all the same
        behind = _first_code(kernel, end.target)
        # A loop's header dominates the barriers of the loop: entering the loop is no way round.
        if behind in before[barrier.index]:
            continue
        for block in kernel.blocks:
            if behind in block.successors and barrier.index not in before[block.index]:
                common = thread_block_values(kernel) if common is None else common
                if block.index in before[barrier.index] and _is_common(block, common):
                    continue
                edge = (block.index, behind)
                found[edge] = (*found.get(edge, ()), barrier.index)
    return found


def _is_common(block: BasicBlock, common: frozenset[int]) -> bool:
    """Whether the threads of a thread block all leave it the same way, however often."""
    end = block.terminator
    return isinstance(end, Branch) and end.guard.register.index in common


def _first_code(kernel: Kernel, index: int) -> int:
    """Where basic blocks that only jump lead to."""
    seen: set[int] = set()
    while index not in seen:
        seen.add(index)
        block = kernel.blocks[index]
        if block.body or not isinstance(block.terminator, Jump):
            break
        index = block.terminator.target
    return index


class BarrierBypassLog:
    """How often each lane came past each barrier, and whether it went round it the last time."""

    def __init__(self, ways: Mapping[tuple[int, int], tuple[int, ...]], lanes: int) -> None:
        self._ways = ways
        barriers = {barrier for passed in ways.values() for barrier in passed}
        self._times = {barrier: np.zeros(lanes, np.int64) for barrier in barriers}
        self._went_round = {barrier: np.zeros(lanes, np.bool_) for barrier in barriers}

    def take(self, source: int, target: int, mask: Mask | None) -> None:
        """Lanes follow an edge."""
        for barrier in self._ways.get((source, target), ()):
            self._note(barrier, mask, went_round=True)

    def wait(self, barrier: int, mask: Mask | None) -> None:
        """Lanes wait at the barrier that closes a basic block."""
        if barrier in self._times:
            self._note(barrier, mask, went_round=False)

    def absent(self, barrier: int, mask: Mask | None, lanes_per_thread_block: int) -> Mask | None:
        """Lanes that went round the barrier this time, in thread blocks that wait there.

        `mask` are the waiting lanes; None when nobody is missing.
        """
        if barrier not in self._times or mask is None:
            return None
        shape = (-1, lanes_per_thread_block)
        times, waits = self._times[barrier].reshape(shape), mask.reshape(shape)
        this_time = np.where(waits, times, 0).max(axis=1, keepdims=True)
        absent = (times == this_time) & self._went_round[barrier].reshape(shape)
        absent &= waits.any(axis=1, keepdims=True)
        return absent.reshape(-1) if absent.any() else None

    def _note(self, barrier: int, mask: Mask | None, *, went_round: bool) -> None:
        chosen = slice(None) if mask is None else mask
        self._times[barrier][chosen] += 1
        self._went_round[barrier][chosen] = went_round
