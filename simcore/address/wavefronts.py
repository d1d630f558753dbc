"""What the warps of one thread block ask of L1: wavefronts of its banks, lines, sectors.

Lanes are served in groups that the banks have room for: half-warps of doubles on 16 banks of 8
bytes (Ernst et al. 2022, section 4.2, which is 32 banks of 4 bytes seen with doubles). A wavefront
takes one word of each bank; addresses further apart than a device's distance never share one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.boxes import BoundAccess
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.address.thread_blocks import ThreadBlockClass
from kernelcast.simcore.device import Device
from kernelcast.simcore.warpspeed_facts import WarpspeedFacts

__all__ = ["Requests", "requests_of"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_MOST_CONSTANTS = 8
"""Of accesses with equal coefficients whose lines are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Of one thread block: warp-level accesses, wavefronts of the data banks, passes of L1 (data or
    tags, whichever needs more), sectors that L1 is asked for."""

    accesses: float = 0.0
    wavefronts: float = 0.0
    passes: float = 0.0
    sectors: float = 0.0

    def __add__(self, other: Requests) -> Requests:
        return Requests(
            self.accesses + other.accesses,
            self.wavefronts + other.wavefronts,
            self.passes + other.passes,
            self.sectors + other.sectors,
        )

    def times(self, factor: float) -> Requests:
        return Requests(
            self.accesses * factor,
            self.wavefronts * factor,
            self.passes * factor,
            self.sectors * factor,
        )


def requests_of(
    accesses: Sequence[BoundAccess],
    kernel: AddressKernel,
    shape: ThreadBlockClass,
    device: Device,
    facts: WarpspeedFacts,
) -> Requests:
    """Of all `accesses` together. A value that two cells of a thread share is loaded once."""
    total, lanes = Requests(), _lanes(kernel, shape, device.architecture.warp_width)
    for access in accesses:
        factors = dict(access.coefficients)
        relative = sum(
            (
                factors.get(f"tid.{axis}", 0) * index
                for axis, index in zip(AXES, lanes.index, strict=True)
            ),
            np.zeros_like(lanes.index[0]),
        )
        trips = math.prod(count for _, count in access.loops)
        for fold, constants in _unfolded(access, kernel.folding):
            taking_part = lanes.active(kernel, shape, fold)
            rows = taking_part.any(axis=1)
            if rows.any():
                warps = _Warps(relative[rows], taking_part[rows], access, shape)
                total += _requests(warps, constants, device, facts).times(trips)
    return total


@dataclass(frozen=True)
class _Lanes:
    """Thread index of each lane along each axis, shape (warps, lanes), and which lanes exist."""

    index: tuple[Ints, Ints, Ints]
    exists: Flags

    def active(
        self, kernel: AddressKernel, shape: ThreadBlockClass, fold: tuple[int, int, int]
    ) -> Flags:
        """Lanes whose cell number `fold` lies in the domain."""
        found = self.exists
        for axis in range(3):
            cells = kernel.folding[axis]
            cell = shape.index[axis] * kernel.tile[axis] + self.index[axis] * cells + fold[axis]
            found = found & (cell >= kernel.origin[axis]) & (cell < kernel.domain[axis])
        return found


def _lanes(kernel: AddressKernel, shape: ThreadBlockClass, width: int) -> _Lanes:
    del shape
    threads = kernel.threads_per_thread_block
    number = np.arange(-(-threads // width) * width).reshape(-1, width)
    x, y, _ = kernel.block
    return _Lanes((number % x, number // x % y, number // (x * y)), number < threads)


def _unfolded(
    access: BoundAccess, folding: tuple[int, int, int]
) -> Iterator[tuple[tuple[int, int, int], Ints]]:
    """The constants that each cell of a thread adds to those of the cells before it."""
    factors, known = dict(access.coefficients), set[int]()
    for z, y, x in itertools.product(*(range(cells) for cells in reversed(folding))):
        shift = sum(
            factors.get(f"fold.{axis}", 0) * at for axis, at in zip(AXES, (x, y, z), strict=True)
        )
        new = sorted({constant + shift for constant in access.constants} - known)
        known.update(new)
        if new:
            yield (x, y, z), np.array(new, np.int64)


@dataclass(frozen=True)
class _Warps:
    """Bytes of each lane relative to its access's constant, shape (warps, lanes)."""

    relative: Ints
    active: Flags
    access: BoundAccess
    shape: ThreadBlockClass

    def steps(self, unit: int) -> int:
        """Greatest common divisor of all distances between thread blocks and trips of loops."""
        names = (*(f"ctaid.{axis}" for axis in AXES), *(name for name, _ in self.access.loops))
        factors = dict(self.access.coefficients)
        return math.gcd(unit, *(factors.get(name, 0) for name in names))


def _requests(warps: _Warps, constants: Ints, device: Device, facts: WarpspeedFacts) -> Requests:
    l1 = device.l1 or device.l2
    sectors = _units(warps, constants, l1.sector_bytes)
    data = _data_wavefronts(warps, facts)
    if facts.l1_tag_banks == 1:
        lines = _units(warps, constants, l1.line_bytes)[:, None]
    else:
        lines = _tag_passes(warps, constants, l1.line_bytes, facts.l1_tag_banks)
    wavefronts = data if facts.l1_data_banks else lines.mean(axis=1)
    passes = np.maximum(data[:, None], lines).mean(axis=1)
    count = len(constants)
    return Requests(
        accesses=float(count * len(warps.relative)),
        wavefronts=float(count * wavefronts.sum()),
        passes=float(count * passes.sum()),
        sectors=float(count * sectors.sum()),
    )


def _units(warps: _Warps, constants: Ints, unit: int) -> npt.NDArray[np.float64]:
    """Distinct units of `unit` bytes that each warp asks for: mean over constants and over where
    thread blocks begin, shape (warps,)."""
    starts = np.add.outer(constants, np.arange(0, unit, warps.steps(unit))).ravel()
    phases, weights = np.unique((starts + _origin(warps)) % unit, return_counts=True)
    first = (warps.relative[None] + phases[:, None, None]) // unit
    last = (warps.relative[None] + phases[:, None, None] + warps.access.access_bytes - 1) // unit
    count = _distinct(np.concatenate((first, last), axis=2), np.tile(warps.active, (1, 2)))
    found: npt.NDArray[np.float64] = (count * weights[:, None]).sum(axis=0) / weights.sum()
    return found


def _origin(warps: _Warps) -> int:
    """Bytes that the index of the thread block itself adds."""
    factors = dict(warps.access.coefficients)
    index = warps.shape.index
    return sum(factors.get(f"ctaid.{axis}", 0) * at for axis, at in zip(AXES, index, strict=True))


def _distinct(values: Ints, active: Flags) -> Ints:
    """Along the last axis, of the active lanes."""
    lowest = np.where(active, values, np.iinfo(np.int64).max).min(axis=-1, keepdims=True)
    ordered = np.sort(np.where(active, values, lowest), axis=-1)
    found: Ints = 1 + (np.diff(ordered, axis=-1) != 0).sum(axis=-1)
    return found


def _data_wavefronts(warps: _Warps, facts: WarpspeedFacts) -> npt.NDArray[np.float64]:
    """Of each warp, shape (warps,); 1 where the data stage has no banks."""
    banks, width = facts.l1_data_banks, facts.l1_bank_bytes
    if not banks:
        return np.ones(len(warps.relative))
    size = warps.access.access_bytes
    lanes = min(warps.relative.shape[1], 1 << max(0, (banks * width // size).bit_length() - 1))
    shifts = np.arange(max(1, size // width))
    rows = warps.relative.reshape(-1, lanes)
    active = np.repeat(warps.active.reshape(-1, lanes), len(shifts), axis=1)
    rows = rows - np.where(warps.active.reshape(-1, lanes), rows, rows.max()).min(axis=1)[:, None]
    words = (rows[:, :, None] // width + shifts).reshape(len(rows), -1)
    groups = _most_of_a_bank(words, active, banks, facts.far_distance_bytes // width)
    total: npt.NDArray[np.float64] = groups.reshape(len(warps.relative), -1).sum(axis=1)
    return np.maximum(total, 1.0)


def _most_of_a_bank(words: Ints, active: Flags, banks: int, far: int) -> npt.NDArray[np.float64]:
    """Distinct words of the fullest bank of each row; with `far`, the sum over windows of so many
    words, each beginning at the lowest word that no window before it has."""
    unused = np.iinfo(np.int64).max
    ordered = np.sort(np.where(active, words, unused), axis=1)
    is_new = ordered != unused
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    window = np.zeros_like(ordered)
    if far:
        start = ordered[:, 0].copy()
        for column in range(1, ordered.shape[1]):
            opens = is_new[:, column] & (ordered[:, column] - start >= far)
            start = np.where(opens, ordered[:, column], start)
            window[:, column] = window[:, column - 1] + opens
    most = int(window.max()) + 1
    row = np.arange(len(words))[:, None]
    key = (row * most + window) * banks + ordered % banks
    load = np.bincount(key[is_new], minlength=len(words) * most * banks)
    found: npt.NDArray[np.float64] = (
        load.reshape(len(words), most, banks).max(axis=2).sum(axis=1).astype(np.float64)
    )
    return found


def _tag_passes(
    warps: _Warps, constants: Ints, line_bytes: int, tag_banks: int
) -> npt.NDArray[np.float64]:
    """Passes of the tag stage of each warp for some of the constants, shape (warps, constants).

    Every bank looks up one line a pass; the bank of a line is the exclusive or of the pairs of bits
    of its number (te42kyfo/gpu-benches, gpu-strides, on A100, A40 and GH200).
    """
    some = constants[:: -(-len(constants) // _MOST_CONSTANTS)] + _origin(warps)
    some = some - min(0, int(some.min()) // line_bytes * line_bytes)
    lines = (warps.relative[:, None, :] + some[None, :, None]) // line_bytes
    lines = lines - min(0, int(lines.min()))
    active = np.broadcast_to(warps.active[:, None, :], lines.shape).reshape(-1, lines.shape[2])
    rows = lines.reshape(-1, lines.shape[2])
    found = np.zeros(len(rows), np.int64)
    hashed = rows.copy()
    for shift in (32, 16, 8, 4, 2):
        hashed ^= hashed >> shift
    for bank in range(tag_banks):
        of_bank = active & (hashed & (tag_banks - 1) == bank)
        found = np.maximum(found, np.where(of_bank.any(axis=1), _distinct(rows, of_bank), 0))
    return found.reshape(lines.shape[:2]).astype(np.float64)
