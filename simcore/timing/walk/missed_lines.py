"""Which requests of a warp miss L1 and L2, where shares of all lines at a pc are known.

That is a matter of addresses, not of the order in which warps issue: it depends on the number of
the thread block, the pc, and how often the warp was there before, on nothing else. A request misses
where one of its lines does, each by chance; how many of them do then is the same for all. The
requests of a warp at one pc miss in turn. Where in its turn a thread block begins are multiples of
square roots of primes, modulo 1, which are evenly spread over them and over pcs (Richtmyer 1951):
its warps fetch a tile together, which is there for all of them or for none.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.compiled import compiled, inlined
from kernelcast.simcore.timing.kernel.timed_kernel import MemoryLevels

__all__ = ["event_turns", "miss_columns", "missed", "traffic_columns"]

_BLOCK_AT_L1, _BLOCK_AT_L2, _PC_AT_L1, _PC_AT_L2 = map(math.sqrt, (2.0, 3.0, 5.0, 7.0))

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

    The share of them that waits for L2 or DRAM, sectors of one that does, the share of these that
    waits for DRAM, and where in its turn at L1 and at L2 thread block 0 begins.
    """
    lines, line = _lines(levels, device), _line(levels, device)
    missing = _waits(levels)
    waiting = _any_of(missing, lines)
    missed = _share(missing * lines, waiting)
    pc = np.arange(len(line), dtype=np.float64)
    return (
        waiting,
        missed * line,
        _any_of(levels.l2_waits, missed),
        pc * _PC_AT_L1 % 1.0,
        pc * _PC_AT_L2 % 1.0,
    )


def _any_of(share: Floats, lines: Floats) -> Floats:
    """How often one of so many lines at least does what a share of all lines does, by chance.

    Of less than a line there is none as often as that is less.
    """
    whole = np.maximum(1.0, lines)
    found: Floats = np.minimum(1.0, lines) * (1.0 - (1.0 - share) ** whole)
    return found


def _sectors_of_dram(levels: MemoryLevels, device: Device) -> Floats:
    """Sectors that a request waits for at DRAM, where it waits for any."""
    line = _line(levels, device)
    _, missed, waiting, *_ = miss_columns(levels, device)
    return _share(missed / line * levels.l2_waits, waiting) * line


def traffic_columns(
    levels: MemoryLevels, is_store: npt.NDArray[np.bool_], device: Device
) -> tuple[Floats, ...]:
    """What the lines of `miss_columns` move, by pc, in columns.

    Sectors that L2 is asked for when one is waited for, those that DRAM moves when one is waited
    for there, sectors of bandwidth of L2 that one takes, those of a request that lie in one piece
    of DRAM, and those that one which waits for DRAM waits for there.
    """
    asked, waits = 1.0 - levels.l1_hits, _waits(levels)
    return (
        _share(asked, waits),
        _share(asked * (1.0 - levels.l2_hits), waits * levels.l2_waits),
        _weight_at_l2(levels, is_store, device),
        np.maximum(1.0, _each(levels.sectors, levels.pieces)),
        _sectors_of_dram(levels, device),
    )


def _weight_at_l2(levels: MemoryLevels, is_store: npt.NDArray[np.bool_], device: Device) -> Floats:
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


def _lines(levels: MemoryLevels, device: Device) -> Floats:
    """Lines of each request; less than one where some touch nothing."""
    return levels.sectors / _line(levels, device)


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
def _begins(block: int, step: float, first: float) -> float:
    """Where the thread block begins in its turn, between 0 and 1."""
    at = block * step + first
    return at - math.floor(at)


@inlined
def missed(
    block: int, turn: int, of_requests: float, of_missed: float, at_l1: float, at_l2: float
) -> tuple[bool, bool]:
    """Whether a request misses L1, and L2.

    A warp of the thread block with that number in the launch has made `turn` requests at the pc,
    whose columns are the others.
    """
    made = turn * of_requests + _begins(block, _BLOCK_AT_L1, at_l1)
    before, after = math.floor(made), math.floor(made + of_requests)
    if before == after:
        return False, False
    begins = _begins(block, _BLOCK_AT_L2, at_l2)
    past_l2 = math.floor(after * of_missed + begins) - math.floor(before * of_missed + begins)
    return True, past_l2 > 0
