"""The warps of a thread block by what their lanes have in common.

Addresses of warps differ by a distance mostly, and repeat a few patterns: each is looked at once
for each place behind a sector or a line where warps with it begin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.thread_blocks import ThreadBlockClass
from kernelcast.simcore.address.boxes import BoundAccess
from kernelcast.simcore.address.expression import AXES

__all__ = ["AskingWarps", "WarpPatterns", "warp_patterns"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Triple = tuple[int, int, int]

_MOST_CONSTANTS = 8
"""The most accesses with equal coefficients whose lines are looked at one by one."""


@dataclass(frozen=True)
class WarpPatterns:
    """The distinct patterns of warps' lanes.

    `lanes`: bytes behind the warp's first lane, and which of them are `active`, shape (patterns,
    lanes); the pattern of each warp, and the bytes at which its first lane begins.
    """

    lanes: Ints
    active: Flags
    pattern: Ints
    begin: Ints

    def distinct(self, pattern: Ints, shift: Ints, unit: int, access_bytes: int) -> Ints:
        """Units that accesses of each pattern touch when they begin `shift` bytes behind one."""
        first = self.lanes[pattern] + shift[:, None]
        both = np.concatenate((first // unit, (first + access_bytes - 1) // unit), axis=1)
        ordered = _ordered(both, np.tile(self.active[pattern], (1, 2)))
        found: Ints = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
        return found

    def lines(self, pattern: Ints, shift: Ints, line_bytes: int) -> tuple[Ints, Flags]:
        """Lines in which accesses of each pattern begin, ascending.

        Returns them and which entries are any; shape (n, most).
        """
        lines = (self.lanes[pattern] + shift[:, None]) // line_bytes
        ordered = _ordered(lines, self.active[pattern])
        is_new = np.ones(ordered.shape, np.bool_)
        is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        count = is_new.sum(axis=1)
        chosen = np.argsort(~is_new, axis=1, kind="stable")[:, : int(count.max())]
        return np.take_along_axis(ordered, chosen, 1), np.arange(count.max()) < count[:, None]


def _ordered(values: Ints, active: Flags) -> Ints:
    """Sorts along the last axis; inactive lanes count as the lowest active one."""
    lowest = np.where(active, values, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    return np.sort(np.where(active, values, lowest), axis=1)


@dataclass(frozen=True)
class AskingWarps:
    """Warps that make `access`, with each of its `constants`."""

    warps: WarpPatterns
    access: BoundAccess
    constants: Ints
    shape: ThreadBlockClass

    @property
    def moved_bytes(self) -> Floats:
        """Bytes that the active lanes of each warp move, shape (warps,)."""
        lanes = self.warps.active.sum(axis=1)[self.warps.pattern]
        return np.asarray(lanes * self.access.access_bytes, np.float64)

    @property
    def _origin(self) -> int:
        """Bytes that the index of the thread block itself adds."""
        factors = dict(self.access.coefficients)
        at = zip(AXES, self.shape.index, strict=True)
        return sum(factors.get(f"ctaid.{axis}", 0) * index for axis, index in at)

    def _step(self, unit: int) -> int:
        """Greatest common divisor of all distances between thread blocks and trips of loops."""
        names = (*(f"ctaid.{axis}" for axis in AXES), *(name for name, _ in self.access.loops))
        factors = dict(self.access.coefficients)
        return math.gcd(unit, *(factors.get(name, 0) for name in names))

    def units(self, unit: int) -> Floats:
        """Distinct units of `unit` bytes that each warp asks for, shape (warps,).

        Means over constants and over where thread blocks begin.
        """
        starts = np.add.outer(self.constants, np.arange(0, unit, self._step(unit))).ravel()
        offsets, weights = np.unique((starts + self._origin) % unit, return_counts=True)
        pattern, shift, place = self._places(offsets, unit)
        count = self.warps.distinct(pattern, shift, unit, self.access.access_bytes)[place]
        found: Floats = (count * weights).sum(axis=1) / weights.sum()
        return found

    def _places(self, starts: Ints, unit: int) -> tuple[Ints, Ints, Ints]:
        """Patterns and shifts that occur, and which of them each warp has with each start.

        The last is of shape (warps, starts).
        """
        shifts = (self.warps.begin[:, None] + starts) % unit
        keys = self.warps.pattern[:, None] * unit + shifts
        found, place = np.unique(keys.ravel(), return_inverse=True)
        return *np.divmod(found, unit), place.reshape(keys.shape)

    def tag_passes(self, line_bytes: int, tag_banks: int) -> Floats:
        """Passes of the tag stage of each warp for some of the constants, shape (warps, constants).

        Every bank looks up one line a pass; the bank of a line is the exclusive or of the pairs of
        bits of its number (te42kyfo/gpu-benches, gpu-strides, on A100, A40 and GH200).
        """
        warps = self.warps
        some = self.constants[:: -(-len(self.constants) // _MOST_CONSTANTS)] + self._origin
        some = some - min(0, int(some.min()) // line_bytes * line_bytes)
        pattern, shift, place = self._places(some, line_bytes)
        local, is_any = warps.lines(pattern, shift, line_bytes)
        first = (warps.begin[:, None] + some) // line_bytes
        lowest = (warps.lanes.min(axis=1)[warps.pattern] + warps.begin).min() + some.min()
        hashed = first[:, :, None] + local[place] - min(0, int(lowest) // line_bytes)
        for bits in (32, 16, 8, 4, 2):
            hashed ^= hashed >> bits
        bank, found = hashed & (tag_banks - 1), np.zeros(first.shape, np.int64)
        for number in range(tag_banks):
            found = np.maximum(found, ((bank == number) & is_any[place]).sum(axis=2))
        return found.astype(np.float64)


def warp_patterns(
    bound: BoundKernel, by_thread: Triple, shape: ThreadBlockClass, fold: Triple, width: int
) -> WarpPatterns | None:
    """Patterns of warps whose addresses are `by_thread` bytes apart along each axis.

    For the cell `fold` of each thread; None where no thread has such a cell in the domain.
    """
    index = bound.once(_thread_indices, width)
    active = bound.once(_active, shape, fold, width)
    rows = active.any(axis=1)
    if not rows.any():
        return None
    x, y, z = (step * axis[rows] for step, axis in zip(by_thread, index, strict=True))
    lanes, active = x + y + z, active[rows]
    begin = lanes[:, 0]
    lanes = lanes - begin[:, None]
    known: dict[bytes, int] = {}
    pattern = np.array(
        [
            known.setdefault(of_warp.tobytes(), len(known))
            for of_warp in np.concatenate((lanes, active), axis=1)
        ]
    )
    _, first = np.unique(pattern, return_index=True)
    return WarpPatterns(lanes[first], active[first], pattern, begin)


def _thread_indices(bound: BoundKernel, width: int) -> tuple[Ints, Ints, Ints]:
    """Thread indices of each lane along each axis, shape (warps, lanes); whole warps."""
    x, y, _ = bound.kernel.block
    warps = -(-bound.kernel.threads_per_thread_block // width)
    number = np.arange(warps * width).reshape(-1, width)
    return number % x, number // x % y, number // (x * y)


def _active(bound: BoundKernel, shape: ThreadBlockClass, fold: Triple, width: int) -> Flags:
    """Lanes that exist and whose cell number `fold` lies in the domain, shape (warps, lanes)."""
    kernel, index = bound.kernel, bound.once(_thread_indices, width)
    found = index[2] < kernel.block[2]
    for axis in range(3):
        low, cells = shape.index[axis] * kernel.tile[axis], kernel.folding[axis]
        if low >= kernel.origin[axis] and low + kernel.tile[axis] <= kernel.domain[axis]:
            continue
        cell = low + index[axis] * cells + fold[axis]
        found = found & (cell >= kernel.origin[axis]) & (cell < kernel.domain[axis])
    return found
