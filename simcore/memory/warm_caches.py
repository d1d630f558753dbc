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

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.hierarchy import TrafficResult, WriteBacks
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.traces.stream import AccessBatch, AccessSink

__all__ = ["KeptStart", "warm_traffic"]

_MOST_KEPT_ACCESSES = 1 << 25
_TURNOVERS = {"lru": 2, "fifo": 2}
_MOST_TURNOVERS = 8
"""Capacities of L2 after whose traffic nothing of its first contents is taken to be left.

Random replacement still has a fifth of them after two, and one in a thousand after eight.
"""

Replay = Callable[[Sequence[AccessSink]], None]
Simulators = Callable[[CacheState | None], TrafficSimulator]


class KeptStart:
    """The accesses of a launch until L2 has other contents than at first."""

    def __init__(self, device: Device) -> None:
        self._batches: list[AccessBatch] = []
        self._accesses = 0
        self._is_open = True
        turnovers = _TURNOVERS.get(device.l2.replacement, _MOST_TURNOVERS)
        self._enough = turnovers * device.l2.capacity_bytes
        self.is_complete = True
        """Whether more would have told nothing."""

    def accept(self, batch: AccessBatch, moved_bytes: int) -> None:
        """Keeps a batch, unless `moved_bytes` of DRAM traffic came before it and are enough."""
        if not self._is_open:
            return
        if moved_bytes >= self._enough:
            self._is_open = False
        elif self._accesses and self._accesses + len(batch.accesses) > _MOST_KEPT_ACCESSES:
            self._is_open = self.is_complete = False
        else:
            self._batches.append(batch)
            self._accesses += len(batch.accesses)

    def replay(self, sinks: Sequence[AccessSink]) -> None:
        """Hands the kept batches to the sinks."""
        for batch in self._batches:
            for sink in sinks:
                sink.accept(batch)


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
