"""Accesses in batches, as an engine hands them on while a launch is still running."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable, PatternCounts

__all__ = ["ALWAYS", "AccessBatch", "AccessSink", "GridPart"]

ALWAYS = 1 << 62
"""A time that no warp reaches."""


@dataclass(frozen=True)
class AccessBatch:
    """All accesses of `thread_blocks` consecutive thread blocks, from `first_thread_block` on.

    `accesses` numbers warps over the whole grid and patterns within `patterns`, where a pattern may
    occur several times; `warp_time` holds the instructions that each warp of the batch issued,
    shape (warps of the batch,); `pattern_counts` are the accesses to shared and constant memory.
    `left_out`, shape (instructions, 2), or empty for none: by pc how many loads of a `GridPart`
    were left out, and of how many lanes.
    """

    first_thread_block: int
    thread_blocks: int
    accesses: AccessTable
    patterns: PatternTable
    warp_time: npt.NDArray[np.int32]
    pattern_counts: PatternCounts = field(default_factory=PatternCounts.empty)
    left_out: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))


class GridPart(NamedTuple):
    """Thread blocks `first` to `end`, the latter excluded, of which a launch makes the accesses.

    With times only those of basic blocks that a warp begins after it has issued `after`
    instructions, and before it has issued `before`. With a `period`, which is so many instructions,
    loads are told apart whose sectors their thread block has all asked for in the same one: they
    get the number of their instruction and as many more as the kernel has, or are left out with
    `leaves_out`.
    """

    first: int
    end: int
    after: int = 0
    before: int = ALWAYS
    period: int = 0
    leaves_out: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the thread blocks is left out."""
        return self.after == 0 and self.before == ALWAYS

    @property
    def is_silent(self) -> bool:
        """Whether none of its accesses is made."""
        return self.before <= self.after


class AccessSink(Protocol):
    """Takes the batches of one launch in ascending order of thread blocks, without gaps."""

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch."""
