"""Coalescing: the lane addresses of one warp access become distinct sectors or lines.

Sectors are the unit that every later level works in. A line-wise first level (Fermi with L1) asks
for all sectors of each line that a sector of the access lies in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.bitmask import ONE, ZERO, count_bits, low_bits
from kernelcast.simcore.memory.compiled import compiled

__all__ = [
    "MAX_SECTOR_BYTES",
    "Transactions",
    "coalesce",
    "coalesce_into",
    "distinct_bytes",
    "sector_room",
]

MAX_SECTOR_BYTES = 64
"""A sector's byte mask is one 64-bit word."""

Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]


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
    room = sector_room(len(addresses), access_bytes, sector_bytes)
    sectors, byte_masks = np.empty(room, np.int64), np.empty(room, np.uint64)
    lanes = np.ascontiguousarray(addresses, dtype=np.int64)
    found = coalesce_into(
        0, lanes, np.uint64(mask), -1, access_bytes, sector_bytes, sectors, byte_masks
    )
    return Transactions(sectors[:found], byte_masks[:found], sector_bytes)


def sector_room(lanes: int, access_bytes: int, sector_bytes: int) -> int:
    """An upper bound of the sectors that one warp access can touch."""
    return lanes * (access_bytes // sector_bytes + 2)


@compiled
def _place(sectors: Ints, byte_masks: Masks, found: int, sector: int, bytes_: np.uint64) -> int:
    """Inserts or widens a sector; searches from the end because lanes mostly ascend."""
    at = found
    while at > 0 and sectors[at - 1] > sector:
        at -= 1
    if at > 0 and sectors[at - 1] == sector:
        byte_masks[at - 1] |= bytes_
        return found
    for moved in range(found, at, -1):
        sectors[moved] = sectors[moved - 1]
        byte_masks[moved] = byte_masks[moved - 1]
    sectors[at] = sector
    byte_masks[at] = bytes_
    return found + 1


@compiled
def _place_wide(
    sectors: Ints, byte_masks: Masks, found: int, start: int, access_bytes: int, sector_bytes: int
) -> int:
    """Places an access that several sectors share."""
    end = start + access_bytes
    first = start - (start & (sector_bytes - 1))
    for base in range(first, end, sector_bytes):
        low = max(start - base, 0)
        bytes_ = low_bits(min(end - base, sector_bytes) - low) << np.uint64(low)
        found = _place(sectors, byte_masks, found, base // sector_bytes, bytes_)
    return found


@compiled
def coalesce_into(
    address: int,
    offsets: Ints,
    lanes: np.uint64,
    alignment: int,
    access_bytes: int,
    sector_bytes: int,
    sectors: Ints,
    byte_masks: Masks,
) -> int:
    """Fills `sectors` and `byte_masks`; the number of sectors.

    Lane i of `lanes` touches `access_bytes` from (address + offsets[i]) & alignment, where
    `alignment` is -1 or minus the width of the wide access that this one is a part of.
    """
    found = 0
    within = sector_bytes - 1
    shift = count_bits(np.uint64(within))
    bytes_ = low_bits(access_bytes)
    for lane in range(len(offsets)):
        if (lanes >> np.uint64(lane)) & ONE == ZERO:
            continue
        start = (address + offsets[lane]) & alignment
        sector, low = start >> shift, start & within
        if low + access_bytes <= sector_bytes:
            placed = bytes_ << np.uint64(low)
            if found and sectors[found - 1] == sector:
                byte_masks[found - 1] |= placed
            else:
                found = _place(sectors, byte_masks, found, sector, placed)
        else:
            found = _place_wide(sectors, byte_masks, found, start, access_bytes, sector_bytes)
    return found


@compiled
def distinct_bytes(byte_masks: Masks, found: int) -> int:
    """Bytes that the first `found` sectors were asked for."""
    total = 0
    for at in range(found):
        total += count_bits(byte_masks[at])
    return total
