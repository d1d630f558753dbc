"""What sampled warps executed, instruction by instruction: what timing models walk.

A path holds every dynamic instruction of a warp in the order in which the warp issued it. Only some
thread blocks are recorded: those of one SM are enough for its timing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.phase_table import PhaseTable

__all__ = [
    "GOLDEN",
    "MOST_EVENTS",
    "MOST_EVENTS_OF_SAMPLE",
    "NO_PATTERN",
    "WarpPaths",
    "sampled_thread_blocks",
]

NO_PATTERN = -1
MOST_EVENTS = 1 << 21
"""The most events in all paths of a trace together."""
MOST_EVENTS_OF_SAMPLE = 1 << 19
"""The most events of a launch that is sampled: loops repeat, and every event is walked often."""
_SM_THREADS = 2048
"""Threads of the largest SM; a sample has as many again, so that warps are not all equal."""
_SM_WARPS = 64
_FEWEST_THREAD_BLOCKS = 4
GOLDEN = 0.6180339887498949
"""The golden ratio less 1: its multiples modulo 1 spread evenly, out of step with grids."""


@dataclass(frozen=True)
class WarpPaths:
    """`thread_blocks`: linear numbers of the recorded ones, shape (n,).

    Warp w of recorded thread block i has the events `start[i * warps + w]` to
    `start[i * warps + w + 1]`, `start` of shape (n * warps + 1,). Of each event: `pc`; `lanes`,
    how many take part; of an access to memory `pattern`, a row of `patterns`, and `address` of the
    first active lane (virtual, bytes; -1 and 0 otherwise). A barrier is an event like any other.
    `is_complete`: False when the recording stopped early, so that paths end in the middle.
    `phases`: which events wait for which others. `longest`: a thread block that issues much more
    than all of these, as far as it was recorded; None where there is none.
    """

    thread_blocks: npt.NDArray[np.int64]
    warps_per_thread_block: int
    start: npt.NDArray[np.int64]
    pc: npt.NDArray[np.int32]
    lanes: npt.NDArray[np.uint8]
    pattern: npt.NDArray[np.int32]
    address: npt.NDArray[np.int64]
    patterns: PatternTable
    is_complete: bool = True
    phases: PhaseTable = field(default_factory=PhaseTable.empty)
    longest: WarpPaths | None = None

    @cached_property
    def events_by_pc(self) -> npt.NDArray[np.int64]:
        """How many events each pc has, up to the last that has any."""
        return np.bincount(self.pc)

    @property
    def is_own_phase(self) -> npt.NDArray[np.bool_]:
        """Whether the barrier of each row of `phases` is of the event's own thread block."""
        owner = self.phases.thread_block[self.phases.barrier]
        return np.asarray(owner == self.thread_block_of(self.phases.event))

    def thread_block_of(self, event: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The position of each event's thread block among the recorded ones."""
        warp = np.searchsorted(self.start, event, side="right") - 1
        return np.asarray(warp // self.warps_per_thread_block)


def sampled_thread_blocks(thread_blocks: int, threads: int, warps: int) -> npt.NDArray[np.int64]:
    """Numbers, rising, of as many thread blocks of that size as fill the largest SM twice."""
    wanted = min(2 * _SM_THREADS // threads, 2 * _SM_WARPS // warps)
    wanted = min(thread_blocks, max(_FEWEST_THREAD_BLOCKS, wanted))
    if wanted == thread_blocks:
        return np.arange(thread_blocks)
    found: set[int] = set()
    turn = 0
    while len(found) < wanted:
        found.add(int((turn * GOLDEN) % 1.0 * thread_blocks))
        turn += 1
    return np.array(sorted(found), np.int64)
