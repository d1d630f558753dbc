"""Numbers for 64-bit keys: a hash table that takes whole arrays at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["KeyNumbers"]

_EMPTY, _CLAIMED = -1, -2
_SMALLEST = 1 << 8

Ints = npt.NDArray[np.int64]


class KeyNumbers:
    """Numbers keys, which should be well mixed, in the order in which they first appear."""

    def __init__(self) -> None:
        self._count = 0
        self._keys = np.zeros(_SMALLEST, np.int64)
        self._numbers = np.full(_SMALLEST, _EMPTY, np.int32)

    def of(self, keys: Ints) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
        """The number of each key, and where in `keys` those stand that were not known."""
        self._reserve(self._count + len(keys))
        slots = self._slots(keys)
        fresh = np.flatnonzero(self._numbers[slots] == _CLAIMED)
        claimed = slots[fresh]
        position = np.arange(len(fresh), dtype=np.int32)
        self._numbers[claimed[::-1]] = position[::-1]  # the first of equal keys is written last
        is_first = self._numbers[claimed] == position
        new = fresh[is_first]
        self._numbers[slots[new]] = np.arange(self._count, self._count + len(new))
        self._count += len(new)
        return self._numbers[slots], new

    def _slots(self, keys: Ints) -> npt.NDArray[np.intp]:
        """Where each key stands, claiming empty slots for new ones: linear probing, in rounds."""
        last = len(self._keys) - 1
        slots = (keys & last).astype(np.intp)
        searching = np.arange(len(keys))
        while len(searching):
            wanted, at = keys[searching], slots[searching]
            is_empty = self._numbers[at] == _EMPTY
            self._keys[at[is_empty]] = wanted[is_empty]
            self._numbers[at[is_empty]] = _CLAIMED
            searching = searching[self._keys[at] != wanted]
            slots[searching] = (slots[searching] + 1) & last
        return slots

    def _reserve(self, keys: int) -> None:
        """Room for so many keys with at least half of the slots empty."""
        if 2 * keys <= len(self._keys):
            return
        is_used = self._numbers >= 0
        known, numbers = self._keys[is_used], self._numbers[is_used]
        size = 1 << (2 * keys - 1).bit_length()
        self._keys, self._numbers = np.zeros(size, np.int64), np.full(size, _EMPTY, np.int32)
        self._numbers[self._slots(known)] = numbers
