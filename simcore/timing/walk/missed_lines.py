"""Which requests of a warp miss L1 and L2, where shares of all requests at a pc are known.

That is a matter of addresses, not of the order in which warps issue: it depends on the number of
the warp, the pc, and how often the warp was there before, on nothing else. The requests of a warp
at one pc take their share of lines in turn. Where in its turn a warp begins are multiples of square
roots of primes, modulo 1, which are evenly spread over warps and over pcs (Richtmyer 1951).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.compiled import compiled, inlined
from kernelcast.simcore.timing.kernel.timed_kernel import MemoryLevels

__all__ = ["event_turns", "miss_columns", "missed_lines", "traffic_columns"]

_WARP_AT_L1, _WARP_AT_L2, _PC_AT_L1, _PC_AT_L2 = map(math.sqrt, (2.0, 3.0, 5.0, 7.0))

Floats = npt.NDArray[np.float64]
Column = npt.NDArray[np.int32]


def event_turns(start: npt.NDArray[np.int64], pc: Column) -> Column:
    """How many events of the same pc the warp has had before each, shape (events,).

    The events of a warp are those from one `start` to the next.
    """
    turns = np.empty(len(pc), np.int32)
    had = np.zeros(int(pc.max(initial=0)) + 1, np.int32)
    _count_turns(start, pc, had, turns)
    return turns


@compiled
def _count_turns(start: npt.NDArray[np.int64], pc: Column, had: Column, turns: Column) -> None:
    for warp in range(len(start) - 1):
        had[:] = 0
        for event in range(start[warp], start[warp + 1]):
            turns[event] = had[pc[event]]
            had[pc[event]] += 1


def miss_columns(levels: MemoryLevels, device: Device) -> tuple[Floats, ...]:
    """What requests wait for, by pc, in columns.

    Lines of a request that wait for L2 or DRAM on average, sectors of a line, the share of these
    lines that wait for DRAM, and where in its turn at L1 and at L2 warp 0 begins.
    """
    line = _line(levels, device)
    pc = np.arange(len(line), dtype=np.float64)
    return (
        levels.sectors * _waits(levels) / line,
        line,
        levels.l2_waits,
        pc * _PC_AT_L1 % 1.0,
        pc * _PC_AT_L2 % 1.0,
    )


def traffic_columns(
    levels: MemoryLevels, is_store: npt.NDArray[np.bool_], device: Device
) -> tuple[Floats, ...]:
    """What the lines of `miss_columns` move, by pc, in columns.

    Sectors that L2 is asked for when one is waited for, those that DRAM moves when one is waited
    for there, sectors of bandwidth of L2 that one takes, and those of a request that lie in one
    piece of DRAM.
    """
    asked, waits = 1.0 - levels.l1_hits, _waits(levels)
    return (
        _share(asked, waits),
        _share(asked * (1.0 - levels.l2_hits), waits * levels.l2_waits),
        _weight_at_l2(levels, is_store, device),
        np.maximum(1.0, _each(levels.sectors, levels.pieces)),
    )


def _weight_at_l2(
    levels: MemoryLevels, is_store: npt.NDArray[np.bool_], device: Device
) -> Floats:
    """How many sectors of whole lines L2 reads in the time that it takes for one of these.

    A request for few sectors of a line takes as long as one for more; writing takes longer.
    """
    weight, timing = np.ones(len(is_store)), device.timing
    if timing is None:
        return weight
    sectors_per_s = timing.l2_bandwidth_bytes_per_s / device.l2.sector_bytes
    line = _line(levels, device)
    if timing.l2_requests_per_s:
        weight = np.maximum(weight, sectors_per_s / timing.l2_requests_per_s / line)
    if timing.l2_write_bandwidth_bytes_per_s:
        whole = timing.l2_bandwidth_bytes_per_s / timing.l2_write_bandwidth_bytes_per_s
        weight = np.where(is_store, np.maximum(weight, whole), weight)
    if timing.l2_partial_writes_per_s:
        alone = sectors_per_s / timing.l2_partial_writes_per_s
        weight = np.where(is_store, np.maximum(weight, alone / line), weight)
        weight += levels.partial_writes * np.maximum(0.0, alone - weight)
    return weight


def _line(levels: MemoryLevels, device: Device) -> Floats:
    """Sectors of a line of each request."""
    most = device.l2.line_bytes / device.l2.sector_bytes
    found: Floats = np.clip(_each(levels.sectors, levels.lines), 1.0, most)
    return found


def _each(sectors: Floats, parts: Floats) -> Floats:
    """Sectors of each of the parts; all where there is one at most."""
    return sectors / np.maximum(1.0, parts)


def _waits(levels: MemoryLevels) -> Floats:
    """The share of sectors that wait for more than L1."""
    found: Floats = np.clip(1.0 - levels.l1_hits + levels.l1_pending, 0.0, 1.0)
    return found


def _share(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
    return found


@inlined
def _begins(warp: int, step: float, first: float) -> float:
    """Where the warp begins in its turn, between 0 and 1."""
    at = warp * step + first
    return at - math.floor(at)


@inlined
def missed_lines(
    warp: int, turn: int, lines: float, share: float, at_l1: float, at_l2: float
) -> tuple[int, int]:
    """Lines of a request that L1 misses, and those of them that L2 misses.

    The warp with that number in the launch has made `turn` requests at the pc, whose columns are
    the others.
    """
    made = turn * lines + _begins(warp, _WARP_AT_L1, at_l1)
    before, after = math.floor(made), math.floor(made + lines)
    if before == after:
        return 0, 0
    begins = _begins(warp, _WARP_AT_L2, at_l2)
    past_l2 = math.floor(after * share + begins) - math.floor(before * share + begins)
    return after - before, past_l2
