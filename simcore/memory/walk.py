"""The compiled walk of accesses, in the order of time, through L1 and L2 to DRAM."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.access_shapes import ShapeTable, learn_shape, shape_row
from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.compiled import compiled
from kernelcast.simcore.memory.levels import (
    L1_BYPASS,
    L1_READ,
    Counters,
    read_l1,
    read_l2,
    write_around_l2,
    write_l1,
    write_l2,
)

__all__ = ["ATOMIC", "LOAD", "NOTHING", "STORE", "Accesses", "Paths", "settle", "walk"]

NOTHING, LOAD, STORE, ATOMIC = 0, 1, 2, 3

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Accesses(NamedTuple):
    """What memory depends on. By access: `pc`, `sm`, `address`, `pattern`; by pattern: `lanes`,
    `offsets`."""

    pc: npt.NDArray[np.int32]
    sm: npt.NDArray[np.int32]
    address: Ints
    pattern: npt.NDArray[np.int32]
    lanes: Words
    offsets: Ints


class Paths(NamedTuple):
    """By pc: what the instruction does (LOAD, ...), what L1 does for it (L1_READ, ...), its width.

    `whole_lines`: L1 is asked for lines, not sectors.
    """

    kind: npt.NDArray[np.int8]
    l1_role: npt.NDArray[np.int8]
    bytes: Ints
    alignment: Ints
    whole_lines: bool
    l2_allocates_writes: bool


@compiled
def _settle_row(
    paths: Paths, l1: CacheState, shapes: ShapeTable, at: np.uint64, count: Counters
) -> None:
    """Adds what all uses of a shape have in common to the counters."""
    uses, pc = shapes.uses[at], shapes.pc[at]
    if uses == 0:
        return
    shapes.uses[at] = 0
    kind, found = paths.kind[pc], shapes.found[at]
    count.requests[pc] += uses
    count.requested_bytes[pc] += uses * shapes.requested_bytes[at]
    count.ideal_sectors[pc] += uses * shapes.ideal_sectors[at]
    if kind == LOAD and paths.l1_role[pc] == L1_READ:
        if paths.whole_lines:
            found = shapes.l1.lines[at] * l1.sectors_per_line
        count.l1_reads[pc] += uses * found
    elif kind != STORE:
        count.l2_reads[pc] += uses * found
    if kind != LOAD:
        count.l2_writes[pc] += uses * found
    count.sectors[pc] += uses * found


@compiled
def settle(paths: Paths, l1: CacheState, shapes: ShapeTable, counters: Counters) -> None:
    """Brings the counters up to date with the uses of all remembered shapes."""
    for at in range(len(shapes.uses)):
        _settle_row(paths, l1, shapes, np.uint64(at), counters)


@compiled
def walk(
    order: Ints,
    row_mask: int,
    accesses: Accesses,
    paths: Paths,
    l1: CacheState,
    l2: CacheState,
    shapes: ShapeTable,
    counters: Counters,
) -> None:
    """Runs the accesses whose rows are the low bits `row_mask` of `order`.

    Atomics read and write their sectors at L2.
    """
    l1_shift = shapes.stretch_shift - shapes.sector_shift - l1.line_shift
    l2_shift = shapes.stretch_shift - shapes.sector_shift - l2.line_shift
    for item in order:
        row = np.uint64(item & row_mask)  # unsigned: needs no test for counting from the end
        pc, pattern = np.uint64(accesses.pc[row]), np.uint64(accesses.pattern[row])
        address = accesses.address[row]
        place = address & (shapes.stretch_bytes - 1)
        key = (np.int64(pattern) * len(paths.kind) + np.int64(pc)) * shapes.stretch_bytes + place
        at = shape_row(key)
        if shapes.key[at] != key:
            _settle_row(paths, l1, shapes, at, counters)
            shapes.key[at] = key
            shapes.pc[at] = np.int64(pc)
            offsets, lanes = accesses.offsets[pattern], accesses.lanes[pattern]
            learn_shape(shapes, at, place, offsets, lanes, paths.alignment[pc], paths.bytes[pc])
        shapes.uses[at] += 1
        stretch = address >> shapes.stretch_shift
        l1_line, l2_line = stretch << l1_shift, stretch << l2_shift
        kind, role, sm = paths.kind[pc], paths.l1_role[pc], int(accesses.sm[row])
        if kind == LOAD and role == L1_READ:
            whole = paths.whole_lines
            read_l1(l1, l2, sm, whole, shapes.l1, at, l1_line, pc, counters)
            continue
        if kind != STORE:
            read_l2(l2, shapes.l2, at, l2_line, pc, counters)
        if kind != LOAD:
            if role != L1_BYPASS:
                write_l1(l1, sm, role, shapes.l1, at, l1_line)
            if paths.l2_allocates_writes:
                write_l2(l2, shapes.l2, shapes.byte_masks, at, l2_line, pc, counters)
            else:
                write_around_l2(l2, shapes.l2, at, l2_line, pc, counters)
