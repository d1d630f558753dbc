"""How much memory a wave of thread blocks touches, and how soon that turns over a cache."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.traces.stream import AccessBatch

__all__ = ["MOST_WARM_UP_WAVES", "Footprint", "turnover_waves"]

MOST_WARM_UP_WAVES = 64
"""Waves that bring in so little are no burden to a cache: what they find there matters less."""

_FREE = -1
_FIRST_ROOM = 1 << 12
_NEIGHBOURS = 6
"""Low bits of a sector's number that hashing keeps, so that neighbours stay together."""
_SPREAD = 0x1E3779B97F4A7C15
"""An odd number whose products spread over all bits (Knuth, TAOCP 3, section 6.4)."""

Ints = npt.NDArray[np.int64]


class Footprint:
    """An AccessSink that counts the distinct sectors of all accesses.

    Accesses are aligned to their size, so that no lane's lies in two sectors.
    """

    def __init__(self, sector_bytes: int) -> None:
        self._sector_bytes = sector_bytes
        self._table: Ints = np.full(_FIRST_ROOM, _FREE)
        self._count = 0

    @property
    def touched_bytes(self) -> int:
        """Bytes of all distinct sectors so far."""
        return self._count * self._sector_bytes

    def accept(self, batch: AccessBatch) -> None:
        """Enters the sectors of a batch's accesses."""
        # lanes that take no part have offset 0, which is the first active lane's own sector
        offsets = np.ascontiguousarray(batch.patterns.offsets, np.int64)
        pattern = np.ascontiguousarray(batch.accesses.pattern, np.int64)
        address = np.ascontiguousarray(batch.accesses.address, np.int64)
        shift = self._sector_bytes.bit_length() - 1
        reached = 0
        while reached < len(address):
            self._make_room(offsets.shape[1])
            reached, self._count = _enter(
                self._table, self._count, address, pattern, offsets, shift, reached
            )

    def _make_room(self, wanted: int) -> None:
        """Makes the table larger until so many more fill less than half of it."""
        old = self._table
        while 2 * (self._count + wanted) > len(self._table):
            self._table = np.full(2 * len(self._table), _FREE)
        if self._table is not old:
            known = old[old != _FREE]
            _enter(self._table, 0, known, np.zeros_like(known), np.zeros((1, 1), np.int64), 0, 0)


@compiled
def _enter(
    table: Ints, count: int, address: Ints, pattern: Ints, offsets: Ints, shift: int, first: int
) -> tuple[int, int]:
    """Enters the sectors of the accesses from `first` on, while half of the table is free.

    Returns the first access that is left, and how many sectors there are.
    """
    last = len(table) - 1
    lanes = offsets.shape[1]
    for access in range(first, len(address)):
        if 2 * (count + lanes) > len(table):
            return access, count
        before = _FREE
        for lane in range(lanes):
            sector = (address[access] + offsets[pattern[access], lane]) >> shift
            if sector == before:
                continue
            before = sector
            high = ((sector >> _NEIGHBOURS) * _SPREAD) >> 20 << _NEIGHBOURS
            at = (high | (sector & ((1 << _NEIGHBOURS) - 1))) & last
            while table[at] != _FREE and table[at] != sector:
                at = (at + 1) & last
            if table[at] == _FREE:
                table[at] = sector
                count += 1
    return len(address), count


def turnover_waves(first_wave: int, two_waves: int, cache_bytes: int) -> int:
    """Waves until a cache keeps nothing of what it held before, at most MOST_WARM_UP_WAVES.

    `first_wave` and `two_waves`: bytes that one wave, and two together, touch. Where the second
    touches nothing new, one wave brings in all that the following ones use.
    """
    growth = two_waves - first_wave
    left = cache_bytes - first_wave
    if growth <= 0 or left <= 0:
        return 1
    return min(MOST_WARM_UP_WAVES, 1 + -(-left // growth))
