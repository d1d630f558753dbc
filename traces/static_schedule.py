"""The order that an assembler would give the instructions of a source form.

A region is what native code has in one piece: a basic block, basic blocks with only short branches
between them, or iterations of an unrolled loop. Paths name instructions in the order of the source;
timing takes those of a region in the order of its schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from kernelcast.traces.warp_paths import WarpPaths

__all__ = [
    "FACTORS",
    "Names",
    "PlacedRegion",
    "ScheduledRegion",
    "StaticSchedule",
    "placed_regions",
    "region_keys",
    "region_starts",
]

FACTORS = (4, 2)
"""Iterations of an unrolled loop that stand in turn, then those of what is left."""
_MOST_STEPS = 1 << 16

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Names = tuple[tuple[int, int], ...]
"""Registers of the source with other names: (register, name)."""


@dataclass(frozen=True, slots=True)
class ScheduledRegion:
    """`pcs` in the order of the source; `order`: positions in the order of native code.

    Of each step in that order: `is_folded`, whether native code has no instruction for it; `reads`
    and `writes`, the registers that have another name there.
    """

    pcs: tuple[int, ...]
    order: tuple[int, ...]
    is_folded: tuple[bool, ...]
    reads: tuple[Names, ...]
    writes: tuple[Names, ...]


@dataclass(frozen=True, slots=True)
class StaticSchedule:
    """`glued`: edges between basic blocks of one region; `unrolled`: headers of unrolled loops.

    `sequences`: (pc, name) of instructions with a shorter sequence, as part of it is shared.
    """

    glued: tuple[tuple[int, int], ...] = ()
    unrolled: tuple[int, ...] = ()
    regions: tuple[ScheduledRegion, ...] = ()
    sequences: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedRegion:
    """A region with the number of its first instruction and the events that it begins with.

    Numbers of instructions follow those of the source's, `pcs` of them for each region.
    """

    region: ScheduledRegion
    first: int
    starts: Ints


def placed_regions(
    paths: WarpPaths, block_of: npt.NDArray[np.intp], schedule: StaticSchedule | None
) -> tuple[PlacedRegion, ...]:
    """The regions that occur in paths; `block_of`: the basic block of each instruction."""
    if schedule is None or not schedule.regions:
        return ()
    pcs, placed = len(block_of), []
    starts = region_starts(paths, block_of, schedule)
    keys, _ = region_keys(paths.pc, starts, pcs)
    first = pcs
    for region in schedule.regions:
        wanted, _ = region_keys(np.array(region.pcs, np.int32), np.zeros(1, np.int64), pcs)
        chosen = starts[keys == wanted[0]]
        if len(chosen):
            placed.append(PlacedRegion(region, first, chosen))
            first += len(region.pcs)
    return tuple(placed)


def region_starts(
    paths: WarpPaths, block_of: npt.NDArray[np.intp], schedule: StaticSchedule
) -> Ints:
    """The events with which regions begin; `block_of`: the basic block of each pc."""
    if not len(paths.pc):
        return np.empty(0, np.int64)
    begins = _block_starts(paths, block_of)
    block = block_of[paths.pc[begins]].astype(np.int64)
    is_first = np.isin(begins, paths.start)
    count = int(block_of.max(initial=0)) + 1
    glued = np.array([a * count + b for a, b in schedule.glued], np.int64)
    is_glued = np.zeros(len(begins), np.bool_)
    is_glued[1:] = np.isin(block[:-1] * count + block[1:], glued)
    kept = np.flatnonzero(is_first | ~is_glued)
    in_group = _iterations(block[kept], is_first[kept], np.array(schedule.unrolled, np.int64))
    return np.asarray(begins[kept[~in_group]], np.int64)


def _block_starts(paths: WarpPaths, block_of: npt.NDArray[np.intp]) -> Ints:
    """Pcs rise within a basic block."""
    pc, block = paths.pc, block_of[paths.pc]
    is_start = np.ones(len(pc), np.bool_)
    is_start[1:] = (block[1:] != block[:-1]) | (pc[1:] <= pc[:-1])
    is_start[paths.start[paths.start < len(pc)]] = True
    return np.flatnonzero(is_start)


def _iterations(
    head: Ints, is_first: npt.NDArray[np.bool_], unrolled: Ints
) -> npt.NDArray[np.bool_]:
    """Whether each iteration stands in one region with the one before."""
    begins = np.ones(len(head), np.bool_)
    begins[1:] = (head[1:] != head[:-1]) | is_first[1:] | ~np.isin(head[1:], unrolled)
    first = np.flatnonzero(begins)
    run = np.cumsum(begins) - 1
    number = np.arange(len(head)) - first[run]
    length = np.diff(np.append(first, len(head)))[run]
    most, fewer = FACTORS
    whole = length // most * most
    rest = number - whole
    return np.asarray(np.where(rest < 0, number % most != 0, rest % fewer != 0))


@cache
def _factors(pcs: int) -> tuple[Keys, Keys]:
    """Random words by instruction, and odd ones by place in a region."""
    random = np.random.default_rng(1)
    of_pc = random.integers(1, 1 << 63, pcs, np.uint64)
    return of_pc, random.integers(1, 1 << 63, _MOST_STEPS, np.uint64) | np.uint64(1)


def region_keys(pc: npt.NDArray[np.int32], starts: Ints, pcs: int) -> tuple[Keys, Ints]:
    """A number for the instructions of each region, the same for the same ones, and its length."""
    lengths = np.diff(np.append(starts, len(pc)))
    place = np.arange(len(pc)) - np.repeat(starts, lengths)
    if not len(starts):
        return np.empty(0, np.uint64), lengths
    of_pc, of_place = _factors(pcs)
    value = of_pc[pc] * of_place[place % _MOST_STEPS]
    return np.add.reduceat(value, starts), lengths
