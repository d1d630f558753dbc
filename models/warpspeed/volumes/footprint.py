"""Distinct sectors of several address sets of one field, and what they share: closed forms.

The sets are unions of boxes (see `address_sets`): counting multiplies the lengths of pieces. Sets
without boxes are counted as intervals of the one linear address space instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.intervals import count_in_intervals, uses_in_intervals

__all__ = ["Footprints", "footprints", "last_uses"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Footprints:
    """Distinct sectors of each set, and of what the first set shares with each other one.

    Both are means over the offsets of rows.
    """

    sectors: tuple[float, ...]
    shared_with_first: tuple[float, ...]


def footprints(
    sets: AddressSets, granularity: int, offset: int = 0, offset_step: int = 0
) -> Footprints:
    """Counts of units of `granularity` bytes.

    Addresses begin `offset` bytes behind a unit; with `offset_step` the mean over all such
    multiples is taken, as for sets that begin anywhere.
    """
    if not sets.members:
        return Footprints((0.0,) * sets.count, (0.0,) * sets.count)
    boxes = sets.boxes(granularity)
    if boxes is not None:
        step = math.gcd(granularity, offset_step, *boxes.strides)
        offsets = range(offset % step, granularity, step)
        counts = boxes.shared(granularity, offsets)
    else:
        step = math.gcd(granularity, offset_step or granularity)
        offsets = range(offset % step, granularity, step)
        counts = count_in_intervals(sets, granularity, offsets)
    mean = counts.sum(axis=0) / len(offsets)
    return Footprints(tuple(mean[0].tolist()), tuple(mean[1].tolist()))


def last_uses(sets: AddressSets, granularity: int, offset: int) -> Floats:
    """Counts units of each set by the last set before it that has them.

    The shape is (sets, 1 + sets): the first column are those that none has. Addresses begin
    `offset` bytes behind a unit of `granularity` bytes.
    """
    if not sets.members:
        return np.zeros((sets.count, 1 + sets.count))
    boxes = sets.boxes(granularity)
    if boxes is None:
        return uses_in_intervals(sets, granularity, offset)
    return boxes.uses(granularity, offset)
