"""The compiled walk of all accesses, in the order of time, through L1 and L2 to DRAM."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.bitmask import ZERO, count_bits
from kernelcast.simcore.memory.cache import CacheState, flush
from kernelcast.simcore.memory.coalescer import coalesce_into, distinct_bytes, sector_room
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

__all__ = [
    "ATOMIC",
    "LOAD",
    "NOTHING",
    "STORE",
    "Accesses",
    "Paths",
    "Room",
    "walk",
    "working_room",
]

_STRETCH_BYTES = 64  # a multiple of every sector and every aligned access
_SHAPE_BITS = 9
_REMEMBERED_SHAPES = 1 << _SHAPE_BITS
NOTHING, LOAD, STORE, ATOMIC = 0, 1, 2, 3

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Accesses(NamedTuple):
    """The columns of the trace that memory depends on; `order` says in which order to take them.

    By access: `pc`, `warp`, `address`, `pattern`; by pattern: `lanes`, `offsets`; by warp: `sm`.
    """

    order: Ints
    pc: npt.NDArray[np.int32]
    warp: npt.NDArray[np.int32]
    address: Ints
    pattern: npt.NDArray[np.int32]
    lanes: Words
    offsets: Ints
    sm: Ints


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


class Room(NamedTuple):
    """Working space. Accesses of equal shape (pattern, pc, place within a stretch) are coalesced
    once: row i of these arrays remembers the shape `key[i]`, later ones of the same row replace it.

    By row: `key`, `found` sectors, `requested_bytes`, `ideal_sectors`; `relative` sectors and their
    `byte_masks`, shape (rows, sectors). `sectors`, `missing`: of the access at hand, what it asks
    for and what L1 lacks of it.
    """

    key: Ints
    found: Ints
    requested_bytes: Ints
    ideal_sectors: Ints
    relative: Ints
    byte_masks: Words
    sectors: Ints
    missing: Ints


def working_room(lanes: int, widest_access_bytes: int, l1: CacheState, l2: CacheState) -> Room:
    most = sector_room(lanes, widest_access_bytes, l2.sector_bytes)
    return Room(
        np.full(_REMEMBERED_SHAPES, -1, np.int64),
        np.zeros(_REMEMBERED_SHAPES, np.int64),
        np.zeros(_REMEMBERED_SHAPES, np.int64),
        np.zeros(_REMEMBERED_SHAPES, np.int64),
        np.zeros((_REMEMBERED_SHAPES, most), np.int64),
        np.zeros((_REMEMBERED_SHAPES, most), np.uint64),
        np.zeros(most, np.int64),
        np.zeros(most * l1.sectors_per_line, np.int64),
    )


@compiled
def _shape_row(accesses: Accesses, paths: Paths, sector_bytes: int, row: int, room: Room) -> int:
    """Where `room` remembers the shape of an access; coalesces it when it is new there."""
    pc, pattern = accesses.pc[row], accesses.pattern[row]
    place = accesses.address[row] & (_STRETCH_BYTES - 1)
    key = (np.int64(pattern) * len(paths.bytes) + pc) * _STRETCH_BYTES + place
    at = (key ^ (key >> _SHAPE_BITS)) & (_REMEMBERED_SHAPES - 1)
    if room.key[at] != key:
        room.key[at] = key
        found = coalesce_into(
            place,
            accesses.offsets[pattern],
            accesses.lanes[pattern],
            paths.alignment[pc],
            paths.bytes[pc],
            sector_bytes,
            room.relative[at],
            room.byte_masks[at],
        )
        distinct = distinct_bytes(room.byte_masks[at], found)
        room.found[at] = found
        room.requested_bytes[at] = count_bits(accesses.lanes[pattern]) * paths.bytes[pc]
        room.ideal_sectors[at] = (distinct + sector_bytes - 1) // sector_bytes
    return int(at)


@compiled
def _next_access(
    accesses: Accesses, paths: Paths, l2: CacheState, row: int, counters: Counters, room: Room
) -> int:
    """Puts the access's sectors into `room.sectors`; the row of its shape."""
    pc = accesses.pc[row]
    at = _shape_row(accesses, paths, l2.sector_bytes, row, room)
    base = (accesses.address[row] & -_STRETCH_BYTES) // l2.sector_bytes
    for position in range(room.found[at]):
        room.sectors[position] = base + room.relative[at, position]
    counters.requests[pc] += 1
    counters.requested_bytes[pc] += room.requested_bytes[at]
    counters.ideal_sectors[pc] += room.ideal_sectors[at]
    return at


@compiled
def walk(
    accesses: Accesses,
    paths: Paths,
    l1: CacheState,
    l2: CacheState,
    counters: Counters,
    room: Room,
) -> None:
    """Runs every access and the write-back at the end; results are in `counters` and `l2.written`.

    Atomics read and write their sectors at L2.
    """
    sectors, missing = room.sectors, room.missing
    for row in accesses.order:
        pc = accesses.pc[row]
        kind, role = paths.kind[pc], paths.l1_role[pc]
        if kind == NOTHING or accesses.lanes[accesses.pattern[row]] == ZERO:
            continue
        shape = _next_access(accesses, paths, l2, row, counters, room)
        found = room.found[shape]
        sm = accesses.sm[accesses.warp[row]]
        if kind == LOAD and role == L1_READ:
            count = read_l1(l1, sm, paths.whole_lines, sectors, found, missing, pc, counters)
            read_l2(l2, missing, count, pc, counters)
            continue
        counters.sectors[pc] += found
        if kind != STORE:
            read_l2(l2, sectors, found, pc, counters)
        if kind != LOAD:
            byte_masks = room.byte_masks[shape]
            if role != L1_BYPASS:
                write_l1(l1, sm, role, sectors, byte_masks, found)
            if paths.l2_allocates_writes:
                write_l2(l2, sectors, byte_masks, found, pc, counters)
            else:
                write_around_l2(l2, sectors, byte_masks, found, pc, counters)
    if paths.l2_allocates_writes:
        flush(l2)
