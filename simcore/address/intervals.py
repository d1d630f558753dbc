"""Distinct sectors of address sets in the linear address space, for strides of any kind."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.boxes import StridedFamily

__all__ = ["count_in_intervals", "interval_pieces"]

Ints = npt.NDArray[np.int64]

_MOST_INTERVALS = 1 << 24


def count_in_intervals(
    sets: Sequence[Sequence[StridedFamily]], granularity: int, phase: int
) -> npt.NDArray[np.float64]:
    """Row 0: units of each set; row 1: units that it shares with the first set. Exact."""
    found = [_union(members, granularity, phase) for members in sets]
    sizes = [_size(intervals) for intervals in found]
    shared = [0.0]
    for intervals, size in zip(found[1:], sizes[1:], strict=True):
        both = _merged(*(np.concatenate(ends) for ends in zip(found[0], intervals, strict=True)))
        shared.append(sizes[0] + size - _size(both))
    return np.array((sizes, shared))


def interval_pieces(
    sets: Sequence[Sequence[StridedFamily]], granularity: int, phase: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """As `footprint.address_pieces`: stretches of units between all ends of all sets."""
    found = [_union(members, granularity, phase) for members in sets]
    cuts = np.unique(np.concatenate([end for ends in found for end in ends]))
    depth = np.zeros((len(sets), len(cuts)), np.int64)
    for row, (starts, ends) in zip(depth, found, strict=True):
        np.add.at(row, np.searchsorted(cuts, starts), 1)
        np.add.at(row, np.searchsorted(cuts, ends), -1)
    return depth.cumsum(axis=1)[:, :-1] > 0, np.diff(cuts).astype(np.float64)


def _size(intervals: tuple[Ints, Ints]) -> float:
    return float((intervals[1] - intervals[0]).sum())


def _union(members: Sequence[StridedFamily], granularity: int, phase: int) -> tuple[Ints, Ints]:
    """Disjoint ascending intervals of units, first and end."""
    starts, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for member in members:
        first, length = _bytes_of(member, granularity, phase)
        starts.append(first // granularity)
        ends.append((first + length - 1) // granularity + 1)
    return _merged(np.concatenate(starts), np.concatenate(ends))


def _bytes_of(member: StridedFamily, granularity: int, phase: int) -> tuple[Ints, int]:
    """First bytes of dense stretches, and their one length; gaps shorter than a unit are none."""
    length, shift, outer = member.access_bytes, phase, []
    for stride, begin, end in member.spans:
        if stride - length < granularity:
            shift += stride * begin
            length += stride * (end - begin - 1)
        else:
            outer.append((stride, begin, end))
    count = math.prod((len(member.bases), *(end - begin for _, begin, end in outer)))
    if count > _MOST_INTERVALS:
        raise ModelNotApplicable(f"{count} separate stretches of addresses in one wave")
    first = np.array(member.bases, np.int64) + shift
    for stride, begin, end in outer:
        first = (first[:, None] + stride * np.arange(begin, end)).ravel()
    return first, length


def _merged(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    if not len(starts):
        return starts, ends
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    is_new = np.concatenate(([True], starts[1:] > ends[:-1]))
    last = np.flatnonzero(is_new)[1:] - 1
    return starts[is_new], np.concatenate((ends[last], ends[-1:]))
