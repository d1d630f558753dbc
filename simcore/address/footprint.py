"""Distinct sectors of several address sets of one field, and what they share: closed forms.

The sets are unions of boxes (see `boxes`). All ends of boxes cut each axis into pieces; a product
of pieces is in a set or out of it as a whole, so counting multiplies lengths. Sets whose axes would
overlap are counted as intervals of the one linear address space instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.boxes import StridedFamily
from kernelcast.simcore.address.intervals import count_in_intervals, interval_pieces

__all__ = ["Footprints", "address_pieces", "footprints"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_AXIS_OVERLAP = 1.25
"""Rows may reach this far into the next one, as halos do, before tuples stop being addresses."""


@dataclass(frozen=True, slots=True)
class Footprints:
    """Distinct sectors of each set, of what the first set shares with each other one, and of that
    which it shares with a set but with none between; means over the phases of rows."""

    sectors: tuple[float, ...]
    shared_with_first: tuple[float, ...]


def footprints(
    sets: Sequence[Sequence[StridedFamily]],
    granularity: int,
    phase: int = 0,
    phase_step: int = 0,
) -> Footprints:
    """Counts of units of `granularity` bytes.

    Addresses begin `phase` bytes behind a unit; with `phase_step` the mean over all such multiples
    is taken, as for sets that begin anywhere.
    """
    unique = [tuple(dict.fromkeys(members)) for members in sets]
    everything = [member for members in unique for member in members]
    if not everything:
        return Footprints(tuple(0.0 for _ in sets), tuple(0.0 for _ in sets))
    strides = _outer_strides(everything, granularity)
    step = math.gcd(granularity, phase_step, *strides)
    phases = np.arange(phase % step, granularity, step)
    low, high, owner = _as_boxes(unique, strides)
    if _are_tuples_addresses(low, high, strides):
        counts = [_count_boxes(low, high, owner, len(sets), granularity, int(at)) for at in phases]
    else:
        starts = np.arange(
            phase % step, granularity, math.gcd(granularity, phase_step or granularity)
        )
        counts = [count_in_intervals(unique, granularity, int(at)) for at in starts]
    mean = np.mean(counts, axis=0)
    return Footprints(tuple(mean[0].tolist()), tuple(mean[1].tolist()))


def _outer_strides(members: Sequence[StridedFamily], granularity: int) -> tuple[int, ...]:
    """Those that leave out whole units between neighbours, ascending."""
    found = {
        stride
        for member in members
        for stride, first, end in member.spans
        if stride - member.access_bytes >= granularity
    }
    return tuple(sorted(found))


def _as_boxes(
    sets: Sequence[Sequence[StridedFamily]], strides: tuple[int, ...]
) -> tuple[Ints, Ints, Ints]:
    """Lower and upper ends, shape (boxes, 1 + outer strides), bytes first; and the set of each."""
    place = {stride: at + 1 for at, stride in enumerate(strides)}
    members = [(number, member) for number, found in enumerate(sets) for member in found]
    each = [len(member.bases) for _, member in members]
    bases = [base for _, member in members for base in member.bases]
    digits = _digits(bases, strides)
    corners = np.repeat(np.array([_corners(member, place) for _, member in members]), each, axis=0)
    owner = np.repeat([number for number, _ in members], each)
    return digits + corners[:, 0], digits + corners[:, 1], owner


def _corners(member: StridedFamily, place: Mapping[int, int]) -> list[list[int]]:
    """First coordinates and ends of the set whose base is 0, shape (2, axes)."""
    low, high = [0] * (1 + len(place)), [1] * (1 + len(place))
    first, end = 0, member.access_bytes
    for stride, begin, after in member.spans:
        at = place.get(stride)
        if at is None:
            first, end = first + stride * begin, end + stride * (after - 1)
        else:
            low[at], high[at] = begin, after
    low[0], high[0] = first, end
    return [low, high]


def _digits(bases: Sequence[int], strides: tuple[int, ...]) -> Ints:
    """Bases as coordinates, shape (bases, axes): the nearest multiples of the largest stride, then
    of the next; what is left are bytes."""
    found = np.zeros((len(bases), 1 + len(strides)), np.int64)
    rest = np.array(bases, np.int64)
    for at in range(len(strides), 0, -1):
        stride = strides[at - 1]
        found[:, at] = (rest + stride // 2) // stride
        rest = rest - found[:, at] * stride
    found[:, 0] = rest
    return found


def _are_tuples_addresses(low: Ints, high: Ints, strides: tuple[int, ...]) -> bool:
    """Whether each axis ends before the next one repeats it."""
    scale = (1, *strides)
    extent = high.max(axis=0) - low.min(axis=0)
    return all(
        extent[at] * scale[at] <= _AXIS_OVERLAP * scale[at + 1] for at in range(len(strides))
    )


def address_pieces(
    sets: Sequence[Sequence[StridedFamily]], granularity: int, phase: int = 0
) -> tuple[Flags, Floats]:
    """The sets cut into pieces that each of them has wholly or not at all.

    Which pieces are in which set, shape (sets, pieces), and how many units each has, shape
    (pieces,). Addresses begin `phase` bytes behind a unit of `granularity` bytes.
    """
    strides = _outer_strides([member for members in sets for member in members], granularity)
    low, high, owner = _as_boxes(sets, strides)
    if not _are_tuples_addresses(low, high, strides):
        return interval_pieces(sets, granularity, phase)
    inside, lengths = _cut(low, high, owner, len(sets), granularity, phase)
    sizes = np.ones(1)
    for length in lengths:
        sizes = np.outer(sizes, length).ravel()
    return inside.reshape(len(sets), -1), sizes


def _count_boxes(
    low: Ints, high: Ints, owner: Ints, sets: int, granularity: int, phase: int
) -> Floats:
    """Row 0: units of each set; row 1: units that it shares with the first set."""
    inside, lengths = _cut(low, high, owner, sets, granularity, phase)
    shared = inside[1:] & inside[:1]
    return np.array((_volume(inside, lengths), [0.0, *_volume(shared, lengths)]))


def _cut(
    low: Ints, high: Ints, owner: Ints, sets: int, granularity: int, phase: int
) -> tuple[Flags, list[Ints]]:
    """Pieces in each set, shape (sets, pieces along each axis), and how long they are."""
    low, high = low.copy(), high.copy()
    low[:, 0] = (low[:, 0] + phase) // granularity
    high[:, 0] = (high[:, 0] - 1 + phase) // granularity + 1
    starts, ends, lengths = [], [], []
    for axis in range(low.shape[1]):
        cuts = np.unique(np.concatenate((low[:, axis], high[:, axis])))
        starts.append(np.searchsorted(cuts, low[:, axis]).tolist())
        ends.append(np.searchsorted(cuts, high[:, axis]).tolist())
        lengths.append(np.diff(cuts))
    inside = np.zeros((sets, *(len(length) for length in lengths)), np.bool_)
    boxes = zip(owner.tolist(), zip(*starts, strict=True), zip(*ends, strict=True), strict=True)
    for belongs, begin, end in boxes:
        inside[(belongs, *map(slice, begin, end))] = True
    return inside, lengths


def _volume(inside: Flags, lengths: Sequence[Ints]) -> Floats:
    total = inside.astype(np.float64)
    for length in reversed(lengths):
        total = total @ length.astype(np.float64)
    return total
