"""Traffic of a launch that finds in L2 what an equal launch before it has left there.

A warm launch differs from a cold one only until L2 has taken in so much else that nothing is left
of what was there at first. That stretch, or all of a launch that ends before, is simulated twice
more, from a cold L2 and from the one that was left; the difference is the warm launch's.

What is dirty in L2 stays dirty from one launch to the next, and is written back by the launch that
evicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.contents.cache_contents import Turnover
from kernelcast.simcore.memory.hierarchy import TrafficResult, WriteBacks
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.traces.stream import AccessBatch, AccessSink
from kernelcast.traces.trace import AccessTable

__all__ = ["KeptStart", "warm_traffic"]

Replay = Callable[[Sequence[AccessSink]], None]
Simulators = Callable[[CacheState | None], TrafficSimulator]


class KeptStart:
    """The accesses of a launch until L2 has other contents than at first, as `turnover` finds."""

    def __init__(self, turnover: Turnover) -> None:
        self._batches: list[AccessBatch] = []
        self._turnover = turnover

    @property
    def is_complete(self) -> bool:
        """Whether more would have told nothing."""
        return self._turnover.is_complete

    def accept(self, batch: AccessBatch) -> None:
        """Keeps a batch if its accesses may be needed; they have not been simulated yet."""
        if self._turnover.end is None:
            self._batches.append(batch)

    def replay(self, sinks: Sequence[AccessSink]) -> None:
        """Hands the kept accesses to the sinks."""
        for batch in self._batches:
            kept = _until(batch, self._turnover.end)
            for sink in sinks:
                sink.accept(kept)


def _until(batch: AccessBatch, end: int | None) -> AccessBatch:
    """The thread blocks of a batch before thread block `end`; all of them for None.

    Its accesses to shared and constant memory are left out.
    """
    if end is None or batch.first_thread_block + batch.thread_blocks <= end:
        return batch
    count = end - batch.first_thread_block
    warps = len(batch.warp_time) // batch.thread_blocks
    table = batch.accesses
    chosen = np.flatnonzero(table.warp < end * warps)
    accesses = AccessTable(
        table.pc[chosen],
        table.warp[chosen],
        table.time[chosen],
        table.stage[chosen],
        table.address[chosen],
        table.pattern[chosen],
    )
    times = batch.warp_time[: count * warps]
    return AccessBatch(batch.first_thread_block, count, accesses, batch.patterns, times)


def warm_traffic(
    cold: TrafficResult, left: CacheState, simulators: Simulators, replay: Replay
) -> TrafficResult:
    """The traffic of a launch that finds `left` in L2, where that of a cold one is `cold`.

    `simulators` makes one from the contents of L2, None for nothing; `replay` gives the accesses
    from the start of the launch, as many as matter.
    """
    first, later = simulators(None), simulators(left)
    replay((first, later))
    before, after = first.finish(), later.finish()
    columns = zip(cold.by_instruction, after.by_instruction, before.by_instruction, strict=True)
    counts = Counters(*(np.maximum(all_ + warm - own, 0) for all_, warm, own in columns))
    writes = zip(cold.writes, after.writes, before.writes, strict=True)
    moved = WriteBacks(*(all_ + warm - own for all_, warm, own in writes))
    return replace(
        cold,
        by_instruction=counts,
        writes=moved._replace(
            evicted=max(0, moved.evicted), evicted_fills=max(0, moved.evicted_fills)
        ),
    )
