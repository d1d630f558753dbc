"""The memory simulator: batches of thread blocks in, the traffic of the whole launch out.

An access is simulated once no later thread block can start before its cycle. What is held is thus
what the thread blocks that reside on the SMs together have still to do, whatever the grid.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.cache import CacheState, copied, dirty_groups
from kernelcast.simcore.memory.contents.cache_contents import Turnover
from kernelcast.simcore.memory.hierarchy import (
    Latencies,
    TrafficResult,
    access_routes,
    caches_of,
    cold_l2,
    traffic_result,
)
from kernelcast.simcore.memory.levels import counters
from kernelcast.simcore.memory.passes.two_passes import Passes
from kernelcast.simcore.memory.pending import PendingAccesses, rows_by_warp
from kernelcast.simcore.memory.repeats import with_repeats
from kernelcast.simcore.memory.schedule import WorkDistributor, cycles_per_instruction
from kernelcast.simcore.memory.segments import makes_segments
from kernelcast.simcore.memory.traversal import PC_BITS
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import InstructionRow, Trace

__all__ = ["TrafficSimulator", "simulate_traffic"]

_ACCESSES_AT_ONCE = 1 << 14
"""Accesses simulated at once: few enough for the host's caches, so that sorting is cheap."""

Ints = npt.NDArray[np.int64]


class TrafficSimulator:
    """Traffic of one launch on `device`, with `thread_blocks_per_sm` resident at once.

    `left` is in L2 at first, None for nothing; it stays as it is. `has_repeats`: loads that repeat
    others have rows of their own, see `repeats`. `versions`: latencies of devices that are the same
    otherwise, by default those of `device` alone.

    Takes every thread block of the grid, in ascending order, in batches of any size: the result
    does not depend on how they are cut. DeviceFileError when cache sizes do not fit each other,
    TraceFormatError for millions of instructions.
    """

    def __init__(
        self,
        instructions: Sequence[InstructionRow],
        warp_width: int,
        warps_per_thread_block: int,
        device: Device,
        thread_blocks_per_sm: int,
        left: CacheState | None = None,
        *,
        has_repeats: bool = False,
        versions: Sequence[Latencies] = (),
    ) -> None:
        self._device = device
        self._paths = access_routes(instructions, device)
        if has_repeats:
            self._paths = with_repeats(self._paths)
        if len(self._paths.kind) > 1 << PC_BITS:
            raise TraceFormatError(f"a kernel of more than {1 << PC_BITS} instructions")
        self._l2 = cold_l2(device) if left is None else copied(left)
        self.left: CacheState = self._l2
        """The contents of L2, at the end what the launch leaves there."""
        self._dirty_before = dirty_groups(self._l2)
        self._dirtier = np.zeros_like(self._dirty_before)
        known = versions or (Latencies.of(device),)
        self._caches = caches_of(device, self._l2, known, len(self._paths.kind))
        self._passes = Passes(self._paths, self._caches, warp_width)
        self._warps = warps_per_thread_block
        self._turn = cycles_per_instruction(
            thread_blocks_per_sm * warps_per_thread_block, device.sm.warp_schedulers
        )
        self._distributor = WorkDistributor(device.architecture.sm_count, thread_blocks_per_sm)
        self._pending = PendingAccesses(warp_width, sorts_lanes=not makes_segments(device))
        self._next_thread_block = 0
        self._held_back = 0
        self._is_finished = False
        self.turnover: Turnover | None = None
        """Finds when L2 has got other contents, where somebody asks for it before the launch."""

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch; TraceFormatError if it does not follow or is inconsistent."""
        self._check(batch)
        self._passes.add_left_out(batch.left_out)
        first_warp = batch.first_thread_block * self._warps
        rows, ends = rows_by_warp(batch.accesses, first_warp, len(batch.warp_time))
        thread_block_ends = ends[:: self._warps]
        lasts = np.zeros(batch.thread_blocks, np.int64)
        _last_cycles(batch.warp_time, self._warps, self._turn, lasts)
        if self._pending.use_patterns(batch.patterns, batch.accesses.pattern):
            self._passes.forget_patterns()
        begin = 0
        while begin < batch.thread_blocks:
            look = self._next_look(thread_block_ends, begin)
            end = min(look, self._piece_end(thread_block_ends, begin))
            self._pending.append(
                batch.accesses,
                rows,
                ends[begin * self._warps : end * self._warps + 1],
                self._warps,
                self._distributor.dispatch(lasts[begin:end]),
                self._turn,
                self._paths.kind,
            )
            if len(self._pending) >= self._held_back + self._at_once():
                self._simulate(self._distributor.next_start)
            if self.turnover is not None:
                self.turnover.pass_by(int(thread_block_ends[end] - thread_block_ends[begin]))
                if end == look:
                    self.turnover.look(batch.first_thread_block + end, self._moved_bytes())
            begin = end
        self._next_thread_block += batch.thread_blocks

    def _next_look(self, ends: Ints, begin: int) -> int:
        return len(ends) if self.turnover is None else self.turnover.next_look(ends, begin)

    def _moved_bytes(self) -> int:
        """What is read from DRAM or has to be written there before a later thread block starts."""
        self._simulate(self._distributor.next_start)
        counts = counters(self._passes.tally(), self._caches)
        transactions = int(counts.dram_reads.sum() + counts.dram_writes.sum())
        return transactions * max(self._device.l2.sector_bytes, self._device.dram.transaction_bytes)

    def skip_to(self, thread_block: int, *, as_first_wave: bool = False) -> None:
        """The next batch begins with `thread_block`, wherever the last one has ended.

        What is pending is simulated first; the caches keep what they hold and the SMs their places,
        so that the next thread blocks overlap like those of any later wave; `as_first_wave` has all
        places free at once.
        TraceFormatError when the launch has ended.
        """
        if self._is_finished:
            raise TraceFormatError(f"cannot skip to thread block {thread_block} after the end")
        self._simulate(None)
        if as_first_wave:
            self._distributor.wait_for_all()
        self._next_thread_block = thread_block

    def finish(self, version: int = 0) -> TrafficResult:
        """The traffic of a version, with what stays dirty in L2. No batch may follow."""
        if not self._is_finished:
            self._is_finished = True
            self._simulate(None)
            self._passes.wait()
            self._dirtier = dirty_groups(self._l2) - self._dirty_before
        return self.traffic_so_far(version)

    def traffic_so_far(self, version: int = 0) -> TrafficResult:
        """The traffic, of a version, of what was simulated to now.

        What L2 still has to write back is not in it, nor are accesses that a later thread block
        might precede.
        """
        if not self._is_finished:
            self._simulate(self._distributor.next_start)
        counts = counters(self._passes.tally(), self._caches, version)
        return traffic_result(counts, self._l2.written, self._dirtier, self._paths, self._device)

    def _at_once(self) -> int:
        """New accesses that are worth a pass over those held back before."""
        return max(_ACCESSES_AT_ONCE, self._held_back)

    def _piece_end(self, ends: Ints, begin: int) -> int:
        """The end of the next pass: as many thread blocks, at least one, as are worth it."""
        found = int(np.searchsorted(ends, ends[begin] + self._at_once(), side="right")) - 1
        return max(begin + 1, found)

    def _simulate(self, until: int | None) -> None:
        order, row_mask = self._pending.order(until)
        self._passes.run(order, row_mask, self._pending.records, self._pending.patterns)
        self._pending.drop(until)
        self._held_back = len(self._pending)

    def _check(self, batch: AccessBatch) -> None:
        if self._is_finished:
            raise TraceFormatError("a batch of accesses after the end of the launch")
        first, count = batch.first_thread_block, batch.thread_blocks
        if first != self._next_thread_block:
            raise TraceFormatError(
                f"accesses of thread block {first} where those of "
                f"{self._next_thread_block} were expected"
            )
        if len(batch.warp_time) != count * self._warps:
            raise TraceFormatError(
                f"{len(batch.warp_time)} warp times for {count} thread blocks of "
                f"{self._warps} warps"
            )
        warp = batch.accesses.warp
        if len(warp):
            low, high = int(warp.min()), int(warp.max())
            if low < first * self._warps or high >= (first + count) * self._warps:
                raise TraceFormatError(
                    f"accesses of warps {low} to {high} in a batch of thread blocks {first} to "
                    f"{first + count - 1}"
                )


@compiled
def _last_cycles(
    warp_time: npt.NDArray[np.int32], warps_per_thread_block: int, turn: int, lasts: Ints
) -> None:
    """How long each thread block lasts: as long as its slowest warp."""
    warp = 0
    for thread_block in range(len(lasts)):
        longest = 0
        for _ in range(warps_per_thread_block):
            longest = max(longest, int(warp_time[warp]))
            warp += 1
        lasts[thread_block] = longest * turn


def simulate_traffic(trace: Trace, device: Device, thread_blocks_per_sm: int) -> TrafficResult:
    """Traffic of one launch with `thread_blocks_per_sm` resident at once.

    DeviceFileError when cache sizes do not fit each other. The GIL is free most of the time.
    """
    simulator = TrafficSimulator(
        trace.instructions,
        trace.warp_width,
        trace.warps_per_thread_block,
        device,
        thread_blocks_per_sm,
    )
    simulator.accept(
        AccessBatch(0, trace.thread_blocks, trace.accesses, trace.patterns, trace.warp_time)
    )
    return simulator.finish()
