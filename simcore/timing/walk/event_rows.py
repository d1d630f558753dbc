"""The events of recorded paths as the compiled simulator reads them: a row for each.

Warps of regular kernels go the same way, so that equal paths are kept once: the walk is as fast as
the processor's caches, and all warps of a product read the same few kilobytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.distinct import distinct
from kernelcast.simcore.timing.walk.missed_lines import event_turns
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["EventRows", "event_rows", "turn_of_paths"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Column = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class EventRows(NamedTuple):
    """Events and rows: see KernelArrays, whose rows of the pc number `row_pc` these are.

    `row_passes`: what an access of the row takes. The path of each warp is the events from `begin`
    to `end`, shape (paths,) both.
    """

    begin: Ints
    end: Ints
    row: Column
    turn: Column
    row_pc: Ints
    row_passes: Floats


def event_rows(
    paths: WarpPaths,
    wavefronts: Floats,
    least_bytes: Floats,
    wavefront_bytes: float,
    has_passes: Flags,
    is_each_apart: bool,
) -> EventRows:
    """The rows of all events.

    By pc, shape (instructions,): `has_passes`, whether what an event takes matters; `least_bytes`
    of a lane, which L1 moves at `wavefront_bytes` a pass. `is_each_apart` keeps all paths as they
    are, because what belongs to an event is found by its number.
    """
    pc = np.ascontiguousarray(paths.pc, np.int32)
    passes = np.maximum(wavefronts, paths.lanes * least_bytes[pc] / wavefront_bytes)
    row, row_pc, row_passes = _rows(pc, passes, has_passes)
    start = np.ascontiguousarray(paths.start, np.int64)
    begin, end = start[:-1], start[1:]
    if not is_each_apart:
        begin, end, row = _distinct(start, row)
    ends_of_paths = np.append(np.unique(begin), len(row))
    turn = event_turns(ends_of_paths, row_pc.astype(np.int32)[row])
    return EventRows(begin, end, row, turn, row_pc, row_passes)


def turn_of_paths(begin: Ints, warps: int) -> int:
    """Thread blocks after which the paths of recorded ones come again, in a turn of all of them.

    Each has so many `warps`; one where they all go the same way.
    """
    paths = begin.reshape(-1, warps)
    turns = (turn for turn in range(1, len(paths)) if len(paths) % turn == 0)
    return next((turn for turn in turns if (paths[turn:] == paths[:-turn]).all()), len(paths))


def _rows(pc: Column, passes: Floats, has_passes: Flags) -> tuple[Column, Ints, Floats]:
    """The row of each event, the pc and the passes of each row."""
    events = np.flatnonzero(has_passes[pc])
    values, _, value = distinct(passes[events])
    is_met = np.zeros((len(has_passes), max(1, len(values))), np.bool_)
    is_met[~has_passes, 0] = True
    is_met[pc[events], value] = True
    is_met[~is_met.any(axis=1), 0] = True  # of no event
    row = (np.cumsum(is_met, dtype=np.int32) - 1).reshape(is_met.shape)
    event_row = row[:, 0][pc]
    event_row[events] = row[pc[events], value]
    row_pc, number = np.nonzero(is_met)
    return (
        event_row,
        row_pc,
        np.append(values, 0.0)[number] if len(values) else np.zeros(len(row_pc)),
    )


def _distinct(start: Ints, row: Column) -> tuple[Ints, Ints, Column]:
    """Begin and end of each path among the paths that differ, and the rows of these."""
    known = dict[bytes, int]()
    kept = list[Column]()
    begin, at = np.empty(len(start) - 1, np.int64), 0
    for path in range(len(start) - 1):
        rows = row[start[path] : start[path + 1]]
        found = known.setdefault(rows.tobytes(), at)
        if found == at and len(rows):
            kept.append(rows)
            at += len(rows)
        begin[path] = found
    return begin, begin + np.diff(start), np.concatenate(kept) if kept else row[:0]
