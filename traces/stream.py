"""Accesses in batches, as an engine hands them on while a launch is still running."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable, PatternCounts

__all__ = ["AccessBatch", "AccessSink"]


@dataclass(frozen=True)
class AccessBatch:
    """All accesses of `thread_blocks` consecutive thread blocks, from `first_thread_block` on.

    `accesses` numbers warps over the whole grid and patterns within `patterns`, where a pattern may
    occur several times; `warp_time` holds the instructions that each warp of the batch issued,
    shape (warps of the batch,); `pattern_counts` are the accesses to shared and constant memory.
    """

    first_thread_block: int
    thread_blocks: int
    accesses: AccessTable
    patterns: PatternTable
    warp_time: npt.NDArray[np.int32]
    pattern_counts: PatternCounts = field(default_factory=PatternCounts.empty)


class AccessSink(Protocol):
    """Takes the batches of one launch in ascending order of thread blocks, without gaps."""

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch."""
