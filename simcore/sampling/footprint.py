"""How much memory a wave of thread blocks touches, and how soon that turns over a cache."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.traces.stream import AccessBatch

__all__ = ["MOST_WARM_UP_WAVES", "touched_bytes", "turnover_waves"]

MOST_WARM_UP_WAVES = 64
"""Waves that bring in so little are no burden to a cache: what they find there matters less."""

_ACCESSES_AT_ONCE = 1 << 16


def touched_bytes(batch: AccessBatch, sector_bytes: int) -> int:
    """Bytes of the distinct sectors that the accesses of a batch touch.

    Accesses are aligned to their size, so that no lane's lies in two sectors.
    """
    address, pattern = batch.accesses.address, batch.accesses.pattern
    shift = sector_bytes.bit_length() - 1
    found = np.zeros(0, np.int64)
    for begin in range(0, len(address), _ACCESSES_AT_ONCE):
        part = slice(begin, begin + _ACCESSES_AT_ONCE)
        # lanes that take no part have offset 0, which is the first active lane's own sector
        sectors = (address[part, None] + batch.patterns.offsets[pattern[part]]) >> shift
        is_new = np.ones(sectors.shape, np.bool_)
        is_new[:, 1:] = sectors[:, 1:] != sectors[:, :-1]
        found = _distinct(np.concatenate([found, sectors[is_new]]))
    return len(found) * sector_bytes


def _distinct(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """np.unique, which hashes, takes many times as long as sorting."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


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
