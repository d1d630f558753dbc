"""Coalescing: the lane addresses of one warp access become distinct sectors or lines.

Sectors are the unit that every later level works in. A line-wise first level (Fermi with L1) asks
for all sectors of each line that a sector of the access lies in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import ONE, ZERO, count_bits, low_bits
from kernelcast.simcore.memory.sets.way_search import trailing_zeros

__all__ = [
    "MAX_SECTOR_BYTES",
    "SectorRoom",
    "Transactions",
    "coalesce",
    "coalesce_into",
    "distinct_bytes",
    "new_room",
    "sector_room",
]

MAX_SECTOR_BYTES = 64
"""A sector's byte mask is one 64-bit word."""

_LANE_BITS = 6  # 64 lanes

Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]


class SectorRoom(NamedTuple):
    """Room for the sectors of one access and their byte masks.

    `starts`, shape (2, lanes), is working space.
    """

    starts: Ints
    sectors: Ints
    byte_masks: Masks


@dataclass(frozen=True)
class Transactions:
    """Distinct sectors of one warp access, ascending.

    `sectors`: address / sector_bytes; `byte_masks`: bit i is byte i of the sector.
    """

    sectors: Ints
    byte_masks: Masks
    sector_bytes: int

    @property
    def requested_bytes(self) -> int:
        """Distinct bytes that the lanes touch."""
        return sum(int(mask).bit_count() for mask in self.byte_masks)

    @property
    def ideal_sectors(self) -> int:
        """How few sectors could have carried the requested bytes."""
        return -(-self.requested_bytes // self.sector_bytes)

    def lines(self, line_bytes: int) -> Ints:
        """Distinct lines (address / line_bytes) that hold the sectors, ascending."""
        return np.unique(self.sectors * self.sector_bytes // line_bytes)


def coalesce(addresses: Ints, mask: int, access_bytes: int, sector_bytes: int = 32) -> Transactions:
    """The sectors of the lanes in `mask`; `addresses` are bytes, shape (lanes,), at most 64."""
    room = new_room(len(addresses), sector_room(len(addresses), access_bytes, sector_bytes))
    lanes = np.ascontiguousarray(addresses, dtype=np.int64)
    found = coalesce_into(0, lanes, np.uint64(mask), -1, access_bytes, sector_bytes, room)
    return Transactions(room.sectors[:found], room.byte_masks[:found], sector_bytes)


def new_room(lanes: int, sectors: int) -> SectorRoom:
    """Makes room for accesses of so many lanes and sectors."""
    starts = np.empty((2, lanes), np.int64)
    return SectorRoom(starts, np.empty(sectors, np.int64), np.empty(sectors, np.uint64))


def sector_room(lanes: int, access_bytes: int, sector_bytes: int) -> int:
    """An upper bound of the sectors that one warp access can touch."""
    return lanes * (access_bytes // sector_bytes + 2)


@compiled
def _list_starts(
    address: int, offsets: Ints, lanes: np.uint64, alignment: int, starts: Ints
) -> int:
    """Fills `starts` with address and lane number; how often the addresses descend.

    A lane that takes no part repeats the first that does, which changes nothing.
    """
    first = np.uint64(trailing_zeros(int(np.int64(lanes))))
    repeated = (address + offsets[first]) & alignment
    width = len(offsets)
    for lane in range(width):
        start = (address + offsets[lane]) & alignment
        is_active = (lanes >> np.uint64(lane)) & ONE != ZERO
        starts[lane] = ((start if is_active else repeated) << _LANE_BITS) | lane
    descents = 0
    for lane in range(width - 1):
        descents += starts[lane + 1] < starts[lane]
    return descents


@compiled
def _sort_starts(starts: Ints, width: int, ordered: Ints) -> None:
    """Each goes to the place that as many smaller ones leave it: comparisons in vectors."""
    for lane in range(width):
        start, rank = starts[lane], 0
        for other in range(width):
            rank += starts[other] < start
        ordered[np.uint64(rank)] = start


@compiled
def _merge_starts(
    starts: Ints, width: int, access_bytes: int, sector_bytes: int, sectors: Ints, masks: Masks
) -> int:
    """Finds the sectors of ascending `starts`; returns how many there are.

    Accesses are equally long, so that each begins no earlier than in the sectors of the one before,
    which follow each other without gaps.
    """
    within = sector_bytes - 1
    shift = trailing_zeros(sector_bytes)
    bytes_ = low_bits(access_bytes)
    found, last = 0, 0
    for lane in range(width):
        start = starts[lane] >> _LANE_BITS
        sector, low = start >> shift, start & within
        placed = bytes_ << np.uint64(low)
        left = low + access_bytes
        if left > sector_bytes:
            placed = low_bits(sector_bytes - low) << np.uint64(low)
        while True:
            if found > 0 and sector <= last:
                masks[np.uint64(found - 1 - (last - sector))] |= placed
            else:
                sectors[np.uint64(found)] = sector
                masks[np.uint64(found)] = placed
                found += 1
                last = sector
            left -= sector_bytes
            if left <= 0:
                break
            sector += 1
            placed = low_bits(min(left, sector_bytes))
    return found


@compiled
def coalesce_into(
    address: int,
    offsets: Ints,
    lanes: np.uint64,
    alignment: int,
    access_bytes: int,
    sector_bytes: int,
    room: SectorRoom,
) -> int:
    """Fills the sectors and byte masks of `room`; the number of sectors.

    Lane i of `lanes` touches `access_bytes` from (address + offsets[i]) & alignment, where
    `alignment` is -1 or minus the width of the wide access that this one is a part of.
    """
    if lanes == ZERO:
        return 0
    starts, width, at = room.starts, len(offsets), 0
    if _list_starts(address, offsets, lanes, alignment, starts[0]) > 0:
        _sort_starts(starts[0], width, starts[1])
        at = 1
    return _merge_starts(
        starts[at], width, access_bytes, sector_bytes, room.sectors, room.byte_masks
    )


@compiled
def distinct_bytes(byte_masks: Masks, found: int) -> int:
    """Bytes that the first `found` sectors were asked for."""
    total = 0
    for at in range(found):
        total += count_bits(byte_masks[at])
    return total
