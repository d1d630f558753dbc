"""Phases of barriers and mbarriers as the compiled simulator reads them.

Each phase of a recorded thread block is a cell with the number of events that take part in it. A
thread block waits for its own warps and copies only: those that other thread blocks of its cluster
owe are taken to be there, as if these were just as far, and a phase in which no event of the
thread block takes part holds nobody up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["CELL_WORDS", "LEFT", "LIST_HEAD", "PHASE_READY", "PhaseCells", "phase_cells"]

LEFT, PHASE_READY, CELL_WORDS = range(3)
"""Words of a cell: events that the phase lacks, and when those it had are done, packed."""
LIST_HEAD = 2

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PhaseCells:
    """Cells of phases, and the events that take part in them.

    `of_event`: the place in `lists` of how many cells the event takes part in, how many it waits
    for, and these cells; empty where no event has phases. `needs`: events of each cell, recorded
    thread block i having the cells from `first[i]` on, `most` at most.
    """

    of_event: npt.NDArray[np.int32]
    lists: Ints
    first: Ints
    needs: Ints
    most: int


def phase_cells(paths: WarpPaths, is_told: Flags) -> PhaseCells:
    """The phases of all recorded thread blocks as cells.

    `is_told` by pc: whether its events take part in phases, rather than nobody waiting for them.
    """
    table, recorded = paths.phases, len(paths.thread_blocks)
    owner, is_own = paths.thread_block_of(table.event), paths.is_own_phase
    told = np.flatnonzero(is_own & ~table.is_wait & is_told[paths.pc[table.event]])
    waits = np.flatnonzero(is_own & table.is_wait)
    rows = np.concatenate((told, waits))
    keys = np.stack((owner[rows], table.barrier[rows], table.phase[rows]))
    cells, cell = np.unique(keys, axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    needs = np.bincount(cell[: len(told)], minlength=cells.shape[1])
    first = np.searchsorted(cells[0], np.arange(recorded + 1))
    events = len(paths.pc) if len(table) or is_told.any() else 0
    of_event, lists = _lists(
        events, table.event[rows], table.is_wait[rows], cell - first[owner[rows]]
    )
    most = int(np.diff(first).max(initial=0))
    return PhaseCells(of_event, lists, first.astype(np.int64), needs.astype(np.int64), most)


def _lists(
    events: int, event: Ints, is_wait: Flags, cell: Ints
) -> tuple[npt.NDArray[np.int32], Ints]:
    """The first list is empty."""
    order = np.lexsort((is_wait, event))
    listed, inverse, size = np.unique(event[order], return_inverse=True, return_counts=True)
    begin = LIST_HEAD + np.cumsum(size + LIST_HEAD) - (size + LIST_HEAD)
    within = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    lists = np.zeros(LIST_HEAD + len(order) + LIST_HEAD * len(listed), np.int64)
    lists[begin[inverse] + LIST_HEAD + within] = cell[order]
    waits = np.bincount(inverse, is_wait[order], len(listed)).astype(np.int64)
    lists[begin], lists[begin + 1] = size - waits, waits
    of_event = np.zeros(events, np.int32)
    of_event[listed] = begin
    return of_event, lists
