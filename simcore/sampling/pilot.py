"""What a few whole thread blocks tell of a launch before it is sampled: how much, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.sampling.census import lattice_numbers
from kernelcast.traces.stream import AccessBatch, AccessSink, GridPart
from kernelcast.traces.trace import InstructionRow, Trace

__all__ = [
    "Pilot",
    "RowCounter",
    "SampleSource",
    "access_pcs",
    "accesses_of_classes",
    "pilot_of",
]

_MOST_THREAD_BLOCKS = 64
_MOST_ACCESSES = 1 << 20
_LOOKED_AT = 1 << 8
_SECTOR_BYTES = 32
_KINDS = ("load", "store", "atomic")
_SPACES = ("global", "generic", "local")

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class SampleSource(Protocol):
    """A launch that makes the accesses of any of its thread blocks."""

    def stream(self, parts: Sequence[GridPart], sinks: Sequence[AccessSink]) -> Trace:
        """Executes all parts; the sinks get their accesses, in batches of one part each.

        The trace counts the instructions of the parts, all of them.
        """


class RowCounter:
    """An AccessSink that counts accesses by pc."""

    def __init__(self, instructions: int) -> None:
        self.rows: Ints = np.zeros(instructions, np.int64)

    def accept(self, batch: AccessBatch) -> None:
        """Counts a batch, with what was left out of it."""
        # those that repeat others have rows of their own
        rows = np.bincount(batch.accesses.pc, minlength=2 * len(self.rows))
        self.rows += rows.reshape(2, -1).sum(axis=0)
        if len(batch.left_out):
            self.rows += batch.left_out[:, 0]


class _Times:
    """An AccessSink that keeps pc and time of all accesses, and how long warps last."""

    def __init__(self) -> None:
        self._pc: list[npt.NDArray[np.int32]] = []
        self._time: list[npt.NDArray[np.int32]] = []
        self.duration = 0
        self._sectors: list[float] = []

    def accept(self, batch: AccessBatch) -> None:
        self._pc.append(batch.accesses.pc)
        self._time.append(batch.accesses.time)
        self.duration = max(self.duration, int(batch.warp_time.max(initial=0)))
        if len(batch.accesses):
            # at regular distances they would all be of one instruction of a loop
            random = np.random.default_rng(batch.first_thread_block)
            some = batch.accesses.pattern[random.integers(0, len(batch.accesses), _LOOKED_AT)]
            sectors = np.sort(batch.patterns.offsets[some] // _SECTOR_BYTES, axis=1)
            self._sectors.append(1.0 + float((np.diff(sectors, axis=1) != 0).sum(axis=1).mean()))

    @property
    def quarter_lines(self) -> float:
        return max(1.0, float(np.mean(self._sectors or [1.0])) / 4)

    @property
    def pc(self) -> Ints:
        return np.concatenate([np.empty(0, np.int32), *self._pc]).astype(np.int64)

    @property
    def time(self) -> Ints:
        return np.concatenate([np.empty(0, np.int32), *self._time]).astype(np.int64)


@dataclass(frozen=True)
class Pilot:
    """`requests_per_issue` by pc; `pc` and `time` of the accesses of some thread blocks.

    `quarter_lines`: of how many times four sectors an access has lanes, on average, at least one.
    `counts`: of the whole thread blocks of the pilot. `duration`: the most instructions of a warp.
    """

    counts: Trace
    requests_per_issue: Reals
    pc: Ints
    time: Ints
    duration: int
    quarter_lines: float

    def accesses(self, whole: Trace) -> float:
        """How many accesses to global and local memory the whole launch makes."""
        return float(whole.classes.totals()[0] @ self.requests_per_issue)


def accesses_of_classes(trace: Trace) -> Reals:
    """Issued accesses to global and local memory of a thread block of each class."""
    return np.asarray(
        trace.classes.warp_issues[:, access_pcs(trace.instructions)].sum(axis=1), float
    )


def access_pcs(instructions: Sequence[InstructionRow]) -> list[int]:
    """Instructions that access memory behind caches."""
    return [row.pc for row in instructions if row.kind in _KINDS and row.space in _SPACES]


def pilot_of(source: SampleSource, whole: Trace, sinks: Sequence[AccessSink] = ()) -> Pilot:
    """Executes some thread blocks, all over the grid; `sinks` get their accesses, too."""
    mean = whole.classes.totals()[0][access_pcs(whole.instructions)].sum() / whole.thread_blocks
    most = int(min(_MOST_THREAD_BLOCKS, max(1, _MOST_ACCESSES // max(1, mean))))
    numbers = lattice_numbers(whole.grid, most)
    numbers = numbers[:: max(1, len(numbers) // most)]
    rows, times = RowCounter(len(whole.instructions)), _Times()
    parts = [GridPart(number, number + 1) for number in numbers.tolist()]
    counts = source.stream(parts, [rows, times, *sinks])
    issues = counts.classes.totals()[0]
    per_issue = np.divide(rows.rows, issues, out=np.zeros(len(issues)), where=issues > 0)
    return Pilot(counts, per_issue, times.pc, times.time, times.duration, times.quarter_lines)
