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
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["event_turns", "miss_columns", "missed_lines"]

_WARP_AT_L1, _WARP_AT_L2, _PC_AT_L1, _PC_AT_L2 = map(math.sqrt, (2.0, 3.0, 5.0, 7.0))

Floats = npt.NDArray[np.float64]
Column = npt.NDArray[np.int32]


def event_turns(paths: WarpPaths) -> Column:
    """How many events of the same pc the warp has had before each, shape (events,)."""
    pc = np.ascontiguousarray(paths.pc, np.int32)
    turns = np.empty(len(pc), np.int32)
    had = np.zeros(int(pc.max(initial=0)) + 1, np.int32)
    _count_turns(np.ascontiguousarray(paths.start, np.int64), pc, had, turns)
    return turns


@compiled
def _count_turns(start: npt.NDArray[np.int64], pc: Column, had: Column, turns: Column) -> None:
    for warp in range(len(start) - 1):
        had[:] = 0
        for event in range(start[warp], start[warp + 1]):
            turns[event] = had[pc[event]]
            had[pc[event]] += 1


def miss_columns(levels: MemoryLevels, device: Device) -> tuple[Floats, ...]:
    """Miss rates by pc, in columns.

    Lines of a request that L1 misses on average, sectors of a line, the share of these lines that
    L2 misses, and where in its turn at L1 and at L2 warp 0 begins.
    """
    most = device.l2.line_bytes / device.l2.sector_bytes
    line: Floats = np.clip(levels.sectors, 1.0, most)
    pc = np.arange(len(line), dtype=np.float64)
    return (
        levels.sectors * (1.0 - levels.l1_hits) / line,
        line,
        1.0 - levels.l2_hits,
        pc * _PC_AT_L1 % 1.0,
        pc * _PC_AT_L2 % 1.0,
    )


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
