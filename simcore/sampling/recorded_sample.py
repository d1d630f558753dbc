"""Memory of a launch that is executed whole, because thread blocks depend on what others write.

Accesses are made only of the thread blocks of the sample: recording and simulating them is what
takes long. Counts are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.atomic_contention import ContentionCounter
from kernelcast.simcore.memory.pattern_wavefronts import WavefrontCounter
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.sampling.choice import SampleSize
from kernelcast.simcore.sampling.extrapolation import IssueCounts
from kernelcast.simcore.sampling.launch_sample import scaled
from kernelcast.simcore.sampling.plan import SamplePlan, plan_sample
from kernelcast.simcore.sampling.run import SampleSimulation
from kernelcast.traces.stream import ALWAYS, AccessBatch, GridPart
from kernelcast.traces.trace import InstructionRow, ThreadBlockClasses, Trace

__all__ = ["LaunchRows", "RecordedSample", "grid_parts"]

_WARM_UP_WAVES = 2
_MOST_SHARE = 0.4


@dataclass(frozen=True)
class LaunchRows:
    """A launch before it is executed: `accesses` are those that it will make, about."""

    instructions: Sequence[InstructionRow]
    grid: tuple[int, int, int]
    warp_width: int
    warps_per_thread_block: int
    accesses: float

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


class RecordedSample:
    """An AccessSink for the thread blocks of a launch on a device; it takes those of its sample."""

    def __init__(
        self, launch: LaunchRows, device: Device, thread_blocks_per_sm: int, plan: SamplePlan
    ) -> None:
        self.plan = plan
        self._thread_blocks_per_sm = thread_blocks_per_sm
        self._simulation = SampleSimulation(
            plan,
            TrafficSimulator(
                *(launch.instructions, launch.warp_width, launch.warps_per_thread_block),
                *(device, thread_blocks_per_sm),
            ),
            is_uneven=True,
        )
        self._wavefronts = WavefrontCounter(launch.instructions, device)
        self._atomics = ContentionCounter(launch.instructions, device)
        self._starts = np.array([item.first for item in plan.intervals])

    @classmethod
    def planned(
        cls,
        launch: LaunchRows,
        device: Device,
        thread_blocks_per_sm: int,
        size: SampleSize | None = None,
    ) -> RecordedSample | None:
        """None where all of the launch is to be simulated."""
        size = size or SampleSize()
        wave = device.architecture.sm_count * thread_blocks_per_sm
        share = size.accesses / max(1.0, launch.accesses)
        if share >= _MOST_SHARE:
            return None
        alike = ThreadBlockClasses(
            np.zeros(launch.thread_blocks, np.int32),
            np.ones((1, len(launch.instructions)), np.int64),
            np.ones((1, len(launch.instructions)), np.int64),
        )
        for most in (share, 0.1, 0.2, _MOST_SHARE):
            plan = plan_sample(
                *(launch.grid, wave, _WARM_UP_WAVES, alike, launch.instructions),
                *(max(share, most), size.seed),
            )
            if plan is not None:
                return cls(launch, device, thread_blocks_per_sm, plan)
        return None

    def accept(self, batch: AccessBatch) -> None:
        """Takes a batch of one part of `grid_parts`."""
        place = int(np.searchsorted(self._starts, batch.first_thread_block, side="right")) - 1
        if place < 0 or batch.first_thread_block >= self.plan.intervals[place].end:
            return
        self._simulation.accept(batch)
        self._wavefronts.accept(batch)
        self._atomics.accept(batch)

    def finish(self, counts: Trace) -> MemoryResult:
        """The whole launch, whose `counts` are exact."""
        classes = counts.classes
        sizes = np.zeros(len(classes.warp_issues), np.int64)
        for item in self.plan.intervals:
            own = classes.of_thread_block[item.first : item.end]
            sizes += np.bincount(own, minlength=len(sizes))
        simulated = sizes @ classes.warp_issues, sizes @ classes.lane_executions
        issues = IssueCounts.of(counts, simulated, 0.0)
        (sample,) = self._simulation.finish(issues)
        return MemoryResult(
            sample.traffic,
            scaled(self._wavefronts.totals, issues.simulated, issues.whole),
            self._thread_blocks_per_sm,
            sample,
            self._atomics.found,
        )


def grid_parts(thread_blocks: int, plans: Sequence[SamplePlan]) -> list[GridPart]:
    """All of a grid, cut where intervals begin and end, and silent where no plan has any."""
    cuts = {0, thread_blocks}
    for plan in plans:
        cuts |= {edge for item in plan.intervals for edge in (item.first, item.end)}
    edges = sorted(cuts)
    found = []
    for first, end in pairwise(edges):
        is_heard = any(i.first <= first < i.end for plan in plans for i in plan.intervals)
        found.append(GridPart(first, end, 0 if is_heard else ALWAYS))
    return found
