"""What the warps of one thread block ask of L1: wavefronts of its banks, lines, sectors.

Lanes are served in groups that the banks have room for: half-warps of doubles on 16 banks of 8
bytes (Ernst et al. 2022, section 4.2, which is 32 banks of 4 bytes seen with doubles). A wavefront
takes one word of each bank; addresses further apart than a device's distance never share one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.thread_blocks import ThreadBlockClass
from kernelcast.models.warpspeed.volumes.warp_patterns import AskingWarps, warp_patterns
from kernelcast.models.warpspeed.warpspeed_facts import WarpspeedFacts
from kernelcast.simcore.address.boxes import BoundAccess
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.device.device import Device

__all__ = ["RequestRules", "Requests", "requests_of"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Triple = tuple[int, int, int]
_WarpKey = tuple[Triple, ThreadBlockClass, Triple, int]
"""What `warp_patterns` is asked about."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one thread block.

    Warp-level accesses, wavefronts of the data banks, passes of L1 (data or tags, whichever needs
    more), cycles of L1, sectors that it is asked for.
    """

    accesses: float = 0.0
    wavefronts: float = 0.0
    passes: float = 0.0
    cycles: float = 0.0
    sectors: float = 0.0

    def __add__(self, other: Requests) -> Requests:
        return Requests(
            self.accesses + other.accesses,
            self.wavefronts + other.wavefronts,
            self.passes + other.passes,
            self.cycles + other.cycles,
            self.sectors + other.sectors,
        )

    def times(self, factor: float) -> Requests:
        """Each count times a factor."""
        return Requests(
            self.accesses * factor,
            self.wavefronts * factor,
            self.passes * factor,
            self.cycles * factor,
            self.sectors * factor,
        )


@dataclass(frozen=True, slots=True)
class RequestRules:
    """Facts of a device that decide how L1 serves a warp; names as in `WarpspeedFacts`.

    `cycle_bytes` move in a cycle, all at once where nobody knows how many.
    """

    warp_width: int
    sector_bytes: int
    line_bytes: int
    data_banks: int
    bank_bytes: int
    tag_banks: int
    far_distance_bytes: int
    cycle_bytes: float

    @classmethod
    def of(cls, device: Device, facts: WarpspeedFacts | None) -> RequestRules:
        """The rules of L1, or of L2 where there is none; without `facts` lines are served whole."""
        cache = device.l1 or device.l2
        return cls(
            warp_width=device.architecture.warp_width,
            sector_bytes=cache.sector_bytes,
            line_bytes=cache.line_bytes,
            data_banks=facts.l1_data_banks if facts else 0,
            bank_bytes=facts.l1_bank_bytes if facts else 0,
            tag_banks=facts.l1_tag_banks if facts else 1,
            far_distance_bytes=facts.far_distance_bytes if facts else 0,
            cycle_bytes=device.timing.l1_wavefront_bytes if device.timing else math.inf,
        )

    def cycles(self, passes: Floats, moved_bytes: Floats) -> Floats:
        """Cycles of L1 for passes that move so many bytes.

        A pass of the banks takes one, and longer where L1 is narrower than what the warp moves;
        without banks each pass moves a line.
        """
        if self.data_banks:
            return np.maximum(passes, moved_bytes / self.cycle_bytes)
        return passes * max(1.0, self.line_bytes / self.cycle_bytes)


def requests_of(
    bound: BoundKernel,
    accesses: tuple[BoundAccess, ...],
    shape: ThreadBlockClass,
    rules: RequestRules,
) -> Requests:
    """Requests of all `accesses`; a value that two cells of a thread share is loaded once."""
    total = Requests()
    for access in accesses:
        factors = dict(access.coefficients)
        x, y, z = (factors.get(f"tid.{axis}", 0) for axis in AXES)
        trips = math.prod(count for _, count in access.loops)
        for fold, constants in _unfolded(access, bound.kernel.folding):
            of_warps = (x, y, z), shape, fold, rules.warp_width
            warps = bound.once(warp_patterns, *of_warps)
            if warps is not None:
                data = bound.once(_data_wavefronts, of_warps, access.access_bytes, rules)
                asking = AskingWarps(warps, access, constants, shape)
                total += _requests(asking, data, rules).times(trips)
    return total


def _unfolded(access: BoundAccess, folding: Triple) -> Iterator[tuple[Triple, Ints]]:
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


def _requests(asking: AskingWarps, data: Floats, rules: RequestRules) -> Requests:
    """`data`: wavefronts of each warp."""
    sectors = asking.units(rules.sector_bytes)
    if rules.tag_banks == 1:
        lines = asking.units(rules.line_bytes)[:, None]
    else:
        lines = asking.tag_passes(rules.line_bytes, rules.tag_banks)
    wavefronts = data if rules.data_banks else lines.mean(axis=1)
    passes = np.maximum(data[:, None], lines)
    cycles = rules.cycles(passes, asking.moved_bytes[:, None]).mean(axis=1)
    passes = passes.mean(axis=1)
    count = len(asking.constants)
    return Requests(
        accesses=float(count * len(sectors)),
        wavefronts=float(count * wavefronts.sum()),
        passes=float(count * passes.sum()),
        cycles=float(count * cycles.sum()),
        sectors=float(count * sectors.sum()),
    )


def _data_wavefronts(
    bound: BoundKernel, of_warps: _WarpKey, access_bytes: int, rules: RequestRules
) -> Floats:
    """Data wavefronts of each warp, shape (warps,); 1 where the data stage has no banks."""
    warps, banks, width = bound.once(warp_patterns, *of_warps), rules.data_banks, rules.bank_bytes
    assert warps is not None
    if not banks:
        return np.ones(len(warps.pattern))
    fitting = 1 << max(0, (banks * width // access_bytes).bit_length() - 1)
    lanes = min(warps.lanes.shape[1], fitting)
    shifts = np.arange(max(1, access_bytes // width))
    rows, taking_part = warps.lanes.reshape(-1, lanes), warps.active.reshape(-1, lanes)
    rows = rows - np.where(taking_part, rows, rows.max()).min(axis=1)[:, None]
    words = (rows[:, :, None] // width + shifts).reshape(len(rows), -1)
    active = np.repeat(taking_part, len(shifts), axis=1)
    groups = _most_of_a_bank(words, active, banks, rules.far_distance_bytes // width)
    total: Floats = groups.reshape(len(warps.lanes), -1).sum(axis=1)
    return np.maximum(total, 1.0)[warps.pattern]


def _most_of_a_bank(words: Ints, active: Flags, banks: int, far: int) -> Floats:
    """Distinct words of the fullest bank of each row.

    With `far`, the sum over windows of so many words, each beginning at the lowest word that no
    window before it has.
    """
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
    found: Floats = load.reshape(len(words), most, banks).max(axis=2).sum(axis=1).astype(np.float64)
    return found
