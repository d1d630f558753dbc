"""Patterns of many tables brought together: equal ones get one number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.traces.key_numbers import KeyNumbers
from kernelcast.traces.pattern_table import PatternTable

__all__ = ["PatternNumbers"]

_ROWS_AT_ONCE = 1 << 12
"""Rows whose products fit the processor's own caches."""

Ints = npt.NDArray[np.int64]


class PatternNumbers:
    """Numbers patterns in the order in which they are first asked for.

    They are told apart by a 64-bit hash of their content: two of a million different ones collide
    with a chance below 1e-7.
    """

    def __init__(self) -> None:
        self._numbers = KeyNumbers()
        self._masks: list[npt.NDArray[np.uint64]] = []
        self._offsets: list[Ints] = []
        self._multipliers = np.zeros(0, np.uint64)

    def of(self, patterns: PatternTable, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The numbers of those rows of `patterns`; the shape is that of `rows`.

        TraceFormatError when warps are not as wide as in the tables before.
        """
        self._check_width(patterns.offsets.shape[1])
        used = _by_first_use(rows, len(patterns.mask))
        numbers, new = self._numbers.of(self._hashes(patterns, used))
        number_of = np.zeros(len(patterns.mask), np.int32)
        number_of[used] = numbers
        if len(new) or not self._masks:
            self._masks.append(patterns.mask[used[new]])
            self._offsets.append(patterns.offsets[used[new]])
        return number_of[rows]

    def hashes(self, patterns: PatternTable) -> Ints:
        """What patterns are told apart by: an order of them that no numbering changes."""
        self._check_width(patterns.offsets.shape[1])
        return self._hashes(patterns, np.arange(len(patterns.mask)))

    def table(self) -> PatternTable:
        """Every pattern that has a number; no lanes when there never was a table."""
        if not self._masks:
            return PatternTable(np.zeros(0, np.uint64), np.zeros((0, 0), np.int64))
        if len(self._masks) > 1:
            self._masks = [np.concatenate(self._masks)]
            self._offsets = [np.concatenate(self._offsets)]
        return PatternTable(self._masks[0], self._offsets[0])

    def _check_width(self, width: int) -> None:
        if not self._masks:
            random = np.random.default_rng(20170103)
            self._multipliers = random.integers(1, 2**63, width + 1, np.uint64) | np.uint64(1)
        elif len(self._multipliers) != width + 1:
            raise TraceFormatError(
                f"patterns of {width} lanes after those of {len(self._multipliers) - 1}"
            )

    def _hashes(self, patterns: PatternTable, rows: npt.NDArray[np.intp]) -> Ints:
        """Sums over lanes of scrambled products, so that round offsets collide no more often."""
        hashes = np.empty(len(rows), np.uint64)
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            piece = slice(first, first + _ROWS_AT_ONCE)
            product = patterns.offsets[rows[piece]].view(np.uint64)
            product *= self._multipliers[1:]
            product ^= product >> np.uint64(32)
            np.sum(product, axis=1, out=hashes[piece])
        hashes += patterns.mask[rows] * self._multipliers[0]
        return hashes.view(np.int64)


def _by_first_use(rows: npt.NDArray[np.int32], size: int) -> npt.NDArray[np.intp]:
    """The values of `rows`, once each, in the order in which they first appear."""
    first = np.full(size, len(rows), np.int64)
    first[rows[::-1]] = np.arange(len(rows) - 1, -1, -1)  # the last assignment stays
    used = np.flatnonzero(first < len(rows))
    place = first[used]
    return used if (place[1:] > place[:-1]).all() else used[np.argsort(place)]
