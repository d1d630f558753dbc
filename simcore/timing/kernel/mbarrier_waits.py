"""Waits for mbarriers in recorded paths.

A thread asks in a loop whether a phase of an mbarrier is over. How often it asks in vain depends on
the order in which an engine runs warps, and says nothing about a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernelcast.traces.phase_table import PhaseTable
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["MBARRIER_WAIT", "with_parts_told_by_whole", "without_tries"]

Ints = npt.NDArray[np.int64]

MBARRIER_WAIT = "mbarrier.wait"
"""What rows call a look at an mbarrier."""
_PASSED_OVER = ("compute", "branch")
"""Kinds of what a loop around a look may hold besides."""


def without_tries(instructions: Sequence[InstructionRow], paths: WarpPaths) -> WarpPaths:
    """The paths with one look for each wait, the last one, and without what led back to it."""
    looks = np.array([row.opcode == MBARRIER_WAIT for row in instructions], np.bool_)
    if not looks.any():
        return paths
    is_loop = np.array([row.kind in _PASSED_OVER for row in instructions], np.bool_) | looks
    kept = _kept(paths, looks[paths.pc], is_loop[paths.pc])
    before: Ints = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    return replace(
        paths,
        start=before[paths.start],
        pc=paths.pc[kept],
        lanes=paths.lanes[kept],
        pattern=paths.pattern[kept],
        address=paths.address[kept],
        phases=_moved(paths.phases, kept[paths.phases.event], before[paths.phases.event]),
    )


def with_parts_told_by_whole(instructions: Sequence[InstructionRow], paths: WarpPaths) -> WarpPaths:
    """The paths with phases of parts moved to the instruction that they are part of.

    Its event comes before theirs.
    """
    is_part = np.array([row.is_part for row in instructions], np.bool_)
    table = paths.phases
    if not is_part[paths.pc[table.event]].any():
        return paths
    whole = np.where(is_part[paths.pc], -1, np.arange(len(paths.pc)))
    np.maximum.accumulate(whole, out=whole)
    is_inside = whole[table.event] >= 0
    return replace(paths, phases=_moved(table, is_inside, whole[table.event]))


def _moved(table: PhaseTable, kept: npt.NDArray[np.bool_], event: Ints) -> PhaseTable:
    """Some rows, at other events."""
    return replace(
        table,
        event=event[kept],
        barrier=table.barrier[kept],
        phase=table.phase[kept],
        is_wait=table.is_wait[kept],
    )


def _kept(
    paths: WarpPaths, is_look: npt.NDArray[np.bool_], is_loop: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Which events stay when repeated looks at an mbarrier are dropped.

    Dropped are the events from a look to the next one at the same mbarrier that the same
    instruction takes, where nothing stands between but arithmetic and branches.
    """
    kept = np.ones(len(paths.pc), np.bool_)
    events = np.flatnonzero(is_look)
    others = np.concatenate((np.zeros(1, np.int64), np.cumsum(~is_loop)))
    warps = np.searchsorted(paths.start, events, side="right")
    first, second = events[:-1], events[1:]
    is_try = (
        (paths.pc[first] == paths.pc[second])
        & (paths.address[first] == paths.address[second])
        & (warps[:-1] == warps[1:])
        & (others[first] == others[second])
    )
    for begin, end in zip(first[is_try].tolist(), second[is_try].tolist(), strict=True):
        kept[begin:end] = False
    return kept
