"""All memory of one device: caches and DRAM, shared-memory banks and the constant cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.memory.atomic_contention import AtomicContention
from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.contents.cache_contents import FirstContents, Turnover
from kernelcast.simcore.memory.contents.warm_caches import KeptStart, warm_traffic
from kernelcast.simcore.memory.hierarchy import Latencies, SampledTraffic, TrafficResult
from kernelcast.simcore.memory.passes.stage import Stage
from kernelcast.simcore.memory.pattern_wavefronts import PatternWavefronts
from kernelcast.simcore.memory.stateless_counts import StatelessCounts
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import InstructionRow, Trace

__all__ = ["MemoryResult", "SimulatedMemory", "simulate_memory"]

_BATCHES_WAITING = 2
_INCOMPLETE = "warm caches: what was left is looked for in the first 33 million accesses only"


@dataclass(frozen=True)
class MemoryResult:
    """What one launch did to the memory of a device with `thread_blocks_per_sm` resident.

    `sample`: how far off the traffic may be where only a part of the grid was simulated.
    """

    traffic: TrafficResult
    wavefronts: PatternWavefronts
    thread_blocks_per_sm: int
    sample: SampledTraffic | None = None
    atomics: AtomicContention | None = None
    found: FirstContents = FirstContents.NOTHING
    """What L2 held when the launch began."""
    notes: tuple[str, ...] = ()
    """What was assumed."""


class SimulatedMemory:
    """An AccessSink that simulates one launch on a device, which finds something in L2 or nothing.

    `left` is what launches before have left there, if that is what it finds. `versions`: latencies
    of devices that are the same otherwise, which find nothing in L2; by default its own.
    `counts`: what counts for several memories and gets the accesses besides; by default this memory
    counts for itself. DeviceFileError when cache sizes do not fit each other.
    """

    def __init__(
        self,
        instructions: Sequence[InstructionRow],
        warp_width: int,
        warps_per_thread_block: int,
        resident: ResidentLaunch,
        found: FirstContents = FirstContents.NOTHING,
        left: CacheState | None = None,
        versions: Sequence[Latencies] = (),
        counts: StatelessCounts | None = None,
    ) -> None:
        self._simulators = partial(
            TrafficSimulator,
            *(instructions, warp_width, warps_per_thread_block, *resident),
        )
        self._traffic = self._simulators(left, versions=versions)
        self._versions = range(max(1, len(versions)))
        self._found = found
        self._start: KeptStart | None = None
        if found is FirstContents.EQUAL_LAUNCH:
            self._traffic.turnover = Turnover(resident.device)
            self._start = KeptStart(self._traffic.turnover)
        self._counts = counts or StatelessCounts(instructions, resident.device)
        self._thread_blocks_per_sm = resident.thread_blocks_per_sm
        self._counting = Stage(_BATCHES_WAITING) if counts is None else None

    @property
    def left(self) -> CacheState:
        """What the launch leaves in L2; complete when it has finished."""
        return self._traffic.left

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch; TraceFormatError when it does not follow the one before."""
        if self._start is not None:
            self._start.accept(batch)
        if self._counting is not None:
            self._counting.call(self._counts.accept, batch)
        self._traffic.accept(batch)

    def finish(self) -> list[MemoryResult]:
        """The whole launch, by version; no batch may follow."""
        return [self._finished(version) for version in self._versions]

    def _finished(self, version: int) -> MemoryResult:
        traffic = self._traffic.finish(version)
        if self._counting is not None:
            self._counting.wait()
        notes: tuple[str, ...] = ()
        if self._start is not None:
            traffic = warm_traffic(
                traffic, self._traffic.left, self._simulators, self._start.replay
            )
            notes = () if self._start.is_complete else (_INCOMPLETE,)
        return MemoryResult(
            traffic,
            self._counts.wavefronts,
            self._thread_blocks_per_sm,
            atomics=self._counts.atomics,
            found=self._found,
            notes=notes,
        )


def simulate_memory(
    trace: Trace, device: Device, thread_blocks_per_sm: int, is_warm: bool = False
) -> MemoryResult:
    """Simulates the memory for a trace that holds its accesses, mostly without the GIL.

    `is_warm`: the launch finds in L2 what an equal one has left.
    """
    memory = SimulatedMemory(
        trace.instructions,
        trace.warp_width,
        trace.warps_per_thread_block,
        ResidentLaunch(device, thread_blocks_per_sm),
        FirstContents.EQUAL_LAUNCH if is_warm else FirstContents.NOTHING,
    )
    memory.accept(
        AccessBatch(
            0,
            trace.thread_blocks,
            trace.accesses,
            trace.patterns,
            trace.warp_time,
            trace.pattern_counts,
        )
    )
    (found,) = memory.finish()
    return found
