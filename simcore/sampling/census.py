"""How often the thread blocks of a grid do what: counted in all of them, or in a part.

A part is a lattice: along each axis of the grid the first and last places, and places between them
drawn one a stratum. A thread block that is left out counts as the one at the nearest counted place
along each axis; those at the ends, where kernels check bounds, stand for themselves alone. Counts
are thus exact where they differ at the ends of axes only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kernelcast.traces.stream import GridPart
from kernelcast.traces.trace import ThreadBlockClasses, Trace
from kernelcast.traces.warp_paths import GOLDEN

__all__ = ["Census", "CountSource", "lattice_census", "lattice_numbers", "lattice_parts"]

_ENDS = 2
"""Places at either end of an axis that stand for themselves."""
_FEWEST_BETWEEN = 4

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class CountSource(Protocol):
    """A launch whose thread blocks can be counted alone."""

    def counts_of(self, parts: Sequence[GridPart]) -> Trace:
        """Instructions of the thread blocks of all parts, which alone are in the trace."""


@dataclass(frozen=True)
class Census:
    """`trace` with the classes of all thread blocks, `share` of which were counted.

    `relative_error`: standard error of the number of accesses as a share of it.
    """

    trace: Trace
    share: float = 1.0
    relative_error: float = 0.0


def lattice_census(
    source: CountSource,
    grid: tuple[int, int, int],
    most: int,
    weight: Callable[[Trace], Reals],
    seed: int = 0,
) -> Census:
    """Counts about `most` thread blocks of a grid at most, and says what all of them do.

    `weight` of a class, shape (classes,): of what the error is told.
    """
    places = _places(grid, most, seed)
    numbers = _numbers(places, grid)
    counted = source.counts_of(_parts(numbers))
    lattice = counted.classes.of_thread_block.reshape([len(axis) for axis in reversed(places)])
    of_all = lattice
    for axis, (chosen, size) in enumerate(zip(places, grid, strict=True)):
        of_all = np.take(of_all, _nearest(chosen, size), axis=2 - axis)
    classes = replace(counted.classes, of_thread_block=np.ascontiguousarray(of_all.reshape(-1)))
    trace = replace(
        counted,
        classes=classes,
        stage_warp_issues=_scaled_stages(counted, classes),
        warp_time=_warp_time(counted, lattice, places, grid),
    )
    error = _relative_error(weight(counted)[lattice], places, grid)
    return Census(trace, len(numbers) / trace.thread_blocks, error)


_MOST_WARPS = 1 << 22
"""Warps whose times are written down one by one; beyond that the counted ones stand for all."""


def _warp_time(
    counted: Trace, lattice: npt.NDArray[np.int32], places: Sequence[Ints], grid: Sequence[int]
) -> npt.NDArray[np.int32]:
    warps = counted.warps_per_thread_block
    if math.prod(grid) * warps > _MOST_WARPS:
        return counted.warp_time
    times = counted.warp_time.reshape(*lattice.shape, warps)
    for axis, (chosen, size) in enumerate(zip(places, grid, strict=True)):
        times = np.take(times, _nearest(chosen, size), axis=2 - axis)
    return np.ascontiguousarray(times.reshape(-1))


def _places(grid: Sequence[int], most: int, seed: int) -> list[Ints]:
    """Counted places along x, y and z, rising."""
    wanted = [1, 1, 1]
    # short axes are counted whole, and what is left goes to the longer ones
    left = float(max(1, most))
    for open_axes, axis in zip((3, 2, 1), sorted(range(3), key=lambda a: grid[a]), strict=True):
        fair = max(2 * _ENDS + _FEWEST_BETWEEN, int(left ** (1 / open_axes)))
        wanted[axis] = min(grid[axis], fair)
        left = max(1.0, left / wanted[axis])
    return [
        _drawn(size, count, seed + axis)
        for axis, (size, count) in enumerate(zip(grid, wanted, strict=True))
    ]


def _drawn(size: int, count: int, seed: int) -> Ints:
    if count >= size:
        return np.arange(size)
    between, number = size - 2 * _ENDS, np.arange(count - 2 * _ENDS)
    offsets = ((number + 1 + seed) * GOLDEN) % 1.0
    drawn = _ENDS + ((number + offsets) * between / len(number)).astype(np.int64)
    ends = np.arange(_ENDS)
    return np.concatenate([ends, drawn, size - _ENDS + ends])


def _numbers(places: Sequence[Ints], grid: Sequence[int]) -> Ints:
    x, y, z = places
    found: Ints = (z[:, None, None] * grid[1] + y[:, None]) * grid[0] + x
    return found.reshape(-1)


def _parts(numbers: Ints) -> list[GridPart]:
    """Runs of consecutive numbers."""
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    firsts, ends = numbers[np.append(0, cuts)], numbers[np.append(cuts - 1, len(numbers) - 1)] + 1
    return [GridPart(first, end) for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)]


def _nearest(chosen: Ints, size: int) -> Ints:
    """The position of the counted place that stands for each place of an axis."""
    if len(chosen) == size:
        return np.arange(size)
    middle = chosen[_ENDS:-_ENDS]
    between = (middle[:-1] + middle[1:]) // 2
    found = _ENDS + np.searchsorted(between, np.arange(size), side="left")
    ends = np.arange(_ENDS)
    found[:_ENDS], found[size - _ENDS :] = ends, len(chosen) - _ENDS + ends
    return found


def _scaled_stages(counted: Trace, classes: ThreadBlockClasses) -> Ints:
    """Issues by barrier stage, as many more as the grid has."""
    some, all_ = counted.classes.totals()[0], classes.totals()[0]
    factor = np.divide(all_, some, out=np.zeros(len(some)), where=some > 0)
    found: Ints = np.rint(counted.stage_warp_issues * factor).astype(np.int64)
    return found


def _relative_error(values: Reals, places: Sequence[Ints], grid: Sequence[int]) -> float:
    """The error of a sum over the grid, from how slices between the ends of each axis scatter.

    `values` of the counted thread blocks, shape (z, y, x).
    """
    sizes = [np.bincount(_nearest(*pair)) for pair in zip(places, grid, strict=True)]
    weights = [np.asarray(size, np.float64) for size in reversed(sizes)]
    total = float(np.einsum("zyx,z,y,x->", values, *weights))
    variance = 0.0
    for axis, (chosen, size) in enumerate(zip(places, grid, strict=True)):
        if len(chosen) == size:
            continue
        others = [weights[a] if a != 2 - axis else np.ones(values.shape[a]) for a in range(3)]
        kept = "zyx"[2 - axis]
        slices = np.einsum(f"zyx,z,y,x->{kept}", values, *others)[_ENDS:-_ENDS]
        # neighbouring strata differ in what the grid's trend adds as well: the error is too large
        steps = np.diff(slices)
        spread = float((steps**2).sum()) / (2 * len(steps))
        count, all_ = len(slices), size - 2 * _ENDS
        variance += all_**2 * spread / count * (1 - count / all_)
    return math.sqrt(variance) / total if total else 0.0


def lattice_parts(grid: tuple[int, int, int], most: int) -> list[GridPart]:
    """The thread blocks that a census of about `most` counts."""
    return _parts(_numbers(_places(grid, most, 0), grid))


def lattice_numbers(grid: tuple[int, int, int], most: int) -> Ints:
    """Numbers of about `most` thread blocks of a grid, rising."""
    return _numbers(_places(grid, most, 0), grid)
