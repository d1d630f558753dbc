"""Distinct sectors of address sets in the linear address space, for strides of any kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import StridedFamily

__all__ = ["count_in_intervals", "uses_in_intervals"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST_INTERVALS = 1 << 24


@dataclass(frozen=True, slots=True)
class _Intervals:
    """First and end of each, and the set it belongs to."""

    first: Ints
    end: Ints
    owner: Ints

    def of_units(self, unit: int, offset: int) -> _Intervals:
        """The intervals in units instead of bytes, disjoint and ascending in each set.

        Addresses begin `offset` bytes behind a unit.
        """
        first, end = (self.first + offset) // unit, (self.end - 1 + offset) // unit + 1
        return _Intervals(first, end, self.owner).merged()

    def merged(self) -> _Intervals:
        """The intervals with those of one set that overlap or touch united.

        Sets lie one behind the other on one axis.
        """
        if not len(self.first):
            return self
        low = int(self.first.min())
        apart = int(self.end.max()) - low + 1
        shift = self.owner * apart - low
        first, end = np.sort(self.first + shift), np.sort(self.end + shift)
        is_new = np.ones(len(first) + 1, np.bool_)
        is_new[1:-1] = first[1:] > end[:-1]
        first, end = first[is_new[:-1]], end[is_new[1:]]
        owner = first // apart
        return _Intervals(first - owner * apart + low, end - owner * apart + low, owner)

    def sizes(self, sets: int) -> Floats:
        """Units of each set."""
        sizes = (self.end - self.first).astype(np.float64)
        return np.asarray(np.bincount(self.owner, sizes, sets), np.float64)

    def joined_with_first(self, sets: int) -> _Intervals:
        """The intervals of each set together with those of the first one."""
        is_first = self.owner == 0
        first, end = self.first[is_first], self.end[is_first]
        return _Intervals(
            np.concatenate((self.first, np.tile(first, sets))),
            np.concatenate((self.end, np.tile(end, sets))),
            np.concatenate((self.owner, np.repeat(np.arange(sets), len(first)))),
        ).merged()


def count_in_intervals(sets: AddressSets, granularity: int, offsets: Sequence[int]) -> Floats:
    """Counts units of each set, and those shared with the first one, shape (offsets, 2, sets)."""
    found = np.zeros((len(offsets), 2, sets.count))
    touched = _dense(sets, granularity)
    for counts, offset in zip(found, offsets, strict=True):
        units = touched.of_units(granularity, offset)
        counts[0] = units.sizes(sets.count)
        both = units.joined_with_first(sets.count).sizes(sets.count)
        counts[1, 1:] = (counts[0, 0] + counts[0] - both)[1:]
    return found


def uses_in_intervals(sets: AddressSets, granularity: int, offset: int) -> Floats:
    """Counts last uses as `footprint.last_uses`, by stretches between all ends of all sets."""
    units = _dense(sets, granularity).of_units(granularity, offset)
    cuts, place = np.unique(np.concatenate((units.first, units.end)), return_inverse=True)
    depth, count = np.zeros((sets.count, len(cuts)), np.int8), len(units.owner)
    depth[units.owner, place[:count]] = 1
    depth[units.owner, place[count:]] = -1
    inside = np.cumsum(depth, axis=1, dtype=np.int8) > 0
    stretch, number = np.nonzero(inside.T)
    before = np.zeros(len(number), np.int64)
    before[1:] = np.where(stretch[1:] == stretch[:-1], number[:-1] + 1, 0)
    sizes = np.diff(cuts).astype(np.float64)[stretch]
    shape = sets.count, sets.count + 1
    pairs = np.bincount(number * shape[1] + before, sizes, shape[0] * shape[1])
    return np.asarray(pairs.reshape(shape), np.float64)


def _dense(sets: AddressSets, granularity: int) -> _Intervals:
    """Stretches of bytes; gaps shorter than a unit are none."""
    parts = [_stretches(member, granularity) for member, _ in sets.members]
    first = [starts.ravel() for starts, _ in parts]
    end = [starts + length for starts, (_, length) in zip(first, parts, strict=True)]
    owner = [
        np.repeat(owners, starts.shape[1])
        for (_, owners), (starts, _) in zip(sets.members, parts, strict=True)
    ]
    none = [np.empty(0, np.int64)]
    return _Intervals(*(np.concatenate(none + arrays) for arrays in (first, end, owner)))


def _stretches(member: StridedFamily, granularity: int) -> tuple[Ints, int]:
    """First bytes of dense stretches, shape (bases, stretches), and their one length."""
    length, shift, outer = member.access_bytes, 0, []
    for stride, begin, end in member.spans:
        if stride - length < granularity:
            shift += stride * begin
            length += stride * (end - begin - 1)
        else:
            outer.append((stride, begin, end))
    count = math.prod((len(member.bases), *(end - begin for _, begin, end in outer)))
    if count > _MOST_INTERVALS:
        raise ModelNotApplicable(f"{count} separate stretches of addresses in one wave")
    first = np.array(member.bases, np.int64)[:, None] + shift
    for stride, begin, end in outer:
        steps = stride * np.arange(begin, end)
        first = (first[:, :, None] + steps).reshape(len(member.bases), -1)
    return first, length
