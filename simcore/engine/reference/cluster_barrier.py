"""The barrier of a cluster in the reference engine: lanes that came by, and lanes that wait."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.reference.barriers import BarrierQueue, barrier_at, barrier_error
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.phase_log import PhaseLog
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["ClusterQueue"]

Mask = npt.NDArray[np.bool_]


class ClusterQueue:
    """Cluster barriers: a lane goes on when its cluster's live lanes arrived as often as it did.
    the lane did.
    """

    def __init__(self, kernel: Kernel, batch: Batch, phases: PhaseLog | None = None) -> None:
        self._phases = phases
        self._kernel = kernel
        self._batch = batch
        self._arrivals = np.zeros((batch.count, batch.shape.lanes), np.int64)
        self._waiting: dict[int, Mask] = {}

    def masks(self) -> list[Mask | None]:
        """The waiting lanes of each basic block; None for all lanes."""
        return list(self._waiting.values())

    def arrive(self, lanes: npt.NDArray[np.intp] | None, pc: int) -> None:
        """Counts one arrival of each lane at the cluster's barrier."""
        if self._phases is not None:
            self._phases.arrive_at_cluster(pc, lanes)
        flat = self._arrivals.reshape(-1)
        flat[slice(None) if lanes is None else lanes] += 1

    def wait(self, basic_block: int, mask: Mask | None) -> None:
        """Makes lanes wait at the end of a basic block."""
        here = np.ones(self._batch.lanes, np.bool_) if mask is None else mask
        if self._phases is not None:
            self._phases.wait_for_cluster(
                barrier_at(self._kernel, basic_block).pc, np.flatnonzero(here)
            )
        known = self._waiting.get(basic_block)
        self._waiting[basic_block] = here if known is None else known | here

    def release(
        self, running: list[Mask | None], barriers: BarrierQueue
    ) -> list[tuple[int, Mask | None]]:
        """(basic block to go on with, lanes). BarrierError when nobody else can make it open."""
        if not self._waiting:
            return []
        opens = self._opens(running + barriers.masks())
        released: list[tuple[int, Mask | None]] = []
        for index, mask in list(self._waiting.items()):
            go, stay = mask & opens, mask & ~opens
            if not go.any():
                continue
            released.append((barrier_at(self._kernel, index).target, go))
            self._batch.counts.stage += self._batch.thread_blocks_in([go])
            del self._waiting[index]
            if stay.any():
                self._waiting[index] = stay
        if not released and not running:
            self._check(barriers)
        return released

    def _opens(self, elsewhere: list[Mask | None]) -> Mask:
        """The lanes whose barrier opens; `elsewhere` do something else and have not exited."""
        assert self._batch.cluster is not None
        alive = np.zeros(self._batch.lanes, np.bool_)
        for mask in (*elsewhere, *self._waiting.values()):
            alive |= True if mask is None else mask
        never = np.iinfo(np.int64).max
        by_lane = np.where(alive.reshape(self._arrivals.shape), self._arrivals, never)
        least = by_lane.min(axis=1)[self._batch.cluster.mates].min(axis=1)
        return np.asarray((self._arrivals <= least[:, None]).reshape(-1))

    def _check(self, barriers: BarrierQueue) -> None:
        """Threads of one thread block must not wait at different barriers."""
        here = self._batch.thread_blocks_in(self.masks())
        there = self._batch.thread_blocks_in(barriers.masks())
        if barriers and not (here & there).any():
            return
        index, mask = next(iter(self._waiting.items()))
        reason = "not all threads of the cluster come to this barrier"
        barrier = barrier_at(self._kernel, index)
        raise barrier_error(reason, barrier, self._batch, int(np.argmax(mask)))
