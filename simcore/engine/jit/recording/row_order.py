"""Recorded accesses warp after warp, as sinks take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.recording.access_rows import Rows
from kernelcast.simcore.host.compiled import compiled
from kernelcast.traces.trace import AccessTable

__all__ = ["by_warp"]

Ints = npt.NDArray[np.int64]


def by_warp(rows: Rows, used: int) -> AccessTable:
    """A copy of the first `used` accesses, warp after warp, each in the order that it has."""
    pc, warp, time, stage, pattern = (np.empty(used, np.int32) for _ in range(5))
    made = Rows(pc, warp, time, stage, np.empty(used, np.int64), pattern)
    if used:
        first, last = int(rows.warp[:used].min()), int(rows.warp[:used].max())
        _place(rows, used, first, np.zeros(last - first + 2, np.int64), made)
    return AccessTable(pc, warp, time, stage, made.address, pattern)


@compiled
def _place(rows: Rows, used: int, first: int, ends: Ints, made: Rows) -> None:
    """Counts the accesses of each warp, and puts each where those of warps before it end."""
    for row in range(used):
        ends[rows.warp[row] - first + 1] += 1
    for warp in range(1, len(ends)):
        ends[warp] += ends[warp - 1]
    for row in range(used):
        warp = rows.warp[row] - first
        at = ends[warp]
        ends[warp] = at + 1
        made.pc[at] = rows.pc[row]
        made.warp[at] = rows.warp[row]
        made.time[at] = rows.time[row]
        made.stage[at] = rows.stage[row]
        made.address[at] = rows.address[row]
        made.pattern[at] = rows.pattern[row]
