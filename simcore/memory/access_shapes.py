"""The lines of a warp access, remembered by its shape: regular kernels repeat few shapes endlessly.

The shape of an access is its pattern, its instruction and its place within a *stretch* of memory
that is as long as the longest cache line. Line numbers of a shape count from the stretch's start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.bitmask import count_bits, low_bits
from kernelcast.simcore.memory.coalescer import coalesce_into, distinct_bytes, sector_room
from kernelcast.simcore.memory.compiled import compiled

__all__ = ["LineRuns", "ShapeTable", "empty_shapes", "forget", "learn_shape", "shape_row"]

_ROW_BITS = 9
_ROWS = 1 << _ROW_BITS
_UNKNOWN = -1
_WIDEST_ACCESS_BYTES = 64  # merged accesses too: they begin at multiples of their width

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class LineRuns(NamedTuple):
    """By shape, the lines of one cache level that it touches, ascending.

    `lines`: how many, shape (rows,); `line`: their numbers; `touched`: bit masks of the sectors
    asked for; `whole`: of those asked for completely; shape (rows, most lines).
    """

    line_shift: int
    lines: Ints
    line: Ints
    touched: Ints
    whole: Ints


class ShapeTable(NamedTuple):
    """Row i remembers the shape `key[i]`; a later shape of the same row replaces it.

    By row: how often the shape was used since `key` was set, its `pc`, and what each use asks for.
    `byte_masks` of its sectors, shape (rows, sectors), ascending. `sectors`: working space.
    """

    stretch_bytes: int
    stretch_shift: int
    sector_shift: int
    sector_bytes: int
    key: Ints
    uses: Ints
    pc: Ints
    found: Ints
    requested_bytes: Ints
    ideal_sectors: Ints
    byte_masks: Words
    sectors: Ints
    l1: LineRuns
    l2: LineRuns


def empty_shapes(
    lanes: int, widest_access_bytes: int, sector_bytes: int, l1_line_shift: int, l2_line_shift: int
) -> ShapeTable:
    """`line_shift`s are binary logarithms of sectors a line."""
    most = sector_room(lanes, widest_access_bytes, sector_bytes)
    longest_line = sector_bytes << max(l1_line_shift, l2_line_shift)
    stretch = max(longest_line, _WIDEST_ACCESS_BYTES)

    def runs(line_shift: int) -> LineRuns:
        columns = (np.zeros((_ROWS, most), np.int64) for _ in range(3))
        return LineRuns(line_shift, np.zeros(_ROWS, np.int64), *columns)

    return ShapeTable(
        stretch,
        stretch.bit_length() - 1,
        sector_bytes.bit_length() - 1,
        sector_bytes,
        np.full(_ROWS, _UNKNOWN, np.int64),
        np.zeros(_ROWS, np.int64),
        np.zeros(_ROWS, np.int64),
        np.zeros(_ROWS, np.int64),
        np.zeros(_ROWS, np.int64),
        np.zeros(_ROWS, np.int64),
        np.zeros((_ROWS, most), np.uint64),
        np.zeros(most, np.int64),
        runs(l1_line_shift),
        runs(l2_line_shift),
    )


def forget(shapes: ShapeTable) -> None:
    """Makes every row unknown, as when patterns get new numbers."""
    shapes.key[:] = _UNKNOWN


@compiled
def _collect_lines(shapes: ShapeTable, runs: LineRuns, at: np.uint64, found: int) -> None:
    """Groups the sectors of `shapes.sectors` by line."""
    full = low_bits(shapes.sector_bytes)
    last = -1
    for position in range(found):
        sector = shapes.sectors[position]
        line = sector >> runs.line_shift
        if last < 0 or runs.line[at, last] != line:
            last += 1
            runs.line[at, last] = line
            runs.touched[at, last] = 0
            runs.whole[at, last] = 0
        bit = 1 << (sector & ((1 << runs.line_shift) - 1))
        runs.touched[at, last] |= bit
        if shapes.byte_masks[at, position] == full:
            runs.whole[at, last] |= bit
    runs.lines[at] = last + 1


@compiled
def learn_shape(
    shapes: ShapeTable,
    at: np.uint64,
    place: int,
    offsets: Ints,
    lanes: np.uint64,
    alignment: int,
    access_bytes: int,
) -> None:
    """Coalesces an access at `place` of a stretch into row `at`."""
    masks = shapes.byte_masks[at]
    found = coalesce_into(
        place, offsets, lanes, alignment, access_bytes, shapes.sector_bytes, shapes.sectors, masks
    )
    distinct = distinct_bytes(masks, found)
    shapes.found[at] = found
    shapes.requested_bytes[at] = count_bits(lanes) * access_bytes
    shapes.ideal_sectors[at] = (distinct + shapes.sector_bytes - 1) // shapes.sector_bytes
    _collect_lines(shapes, shapes.l1, at, found)
    _collect_lines(shapes, shapes.l2, at, found)


@compiled
def shape_row(key: int) -> np.uint64:
    """The row in which the shape `key` is remembered, if it is."""
    return np.uint64((key ^ (key >> _ROW_BITS)) & (_ROWS - 1))
