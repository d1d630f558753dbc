"""The thread blocks of a cluster in compiled code: they take turns, a worker for each rank."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BarrierError
from kernelcast.simcore.engine.jit.runtime.bulk_copy_calls import BulkCopyCalls
from kernelcast.simcore.engine.jit.runtime.cluster_memory import ClusterBarrier, ClusterMemory
from kernelcast.simcore.engine.jit.runtime.cluster_place import ClusterPlace
from kernelcast.simcore.engine.jit.runtime.pause import Pause
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.jit.runtime.tensor_memory_calls import TensorMemoryCalls
from kernelcast.simcore.engine.jit.runtime.worker import Worker
from kernelcast.simcore.engine.jit.runtime.worker_fault import WorkerFault
from kernelcast.simcore.engine.reference.batch import GridShape
from kernelcast.simcore.engine.reference.clusters import with_mates
from kernelcast.simcore.isa.ir.kernel import BarrierSync
from kernelcast.traces.stream import GridPart

__all__ = ["ClusterWorker"]

Ints = npt.NDArray[np.int64]


class ClusterWorker:
    """Runs clusters as a `Worker` runs thread blocks.

    `new_member` makes a worker at a place of the cluster, which shares the access log given, None
    for the first.
    """

    def __init__(
        self,
        task: Task,
        new_member: Callable[[ClusterPlace, Any], Worker],
    ) -> None:
        kernel, launch, memory, facts = task.kernel, task.launch, task.memory, task.facts
        assert facts.cluster is not None
        self._kernel = kernel
        self._grid, self._cluster = launch.grid, facts.cluster
        shape = GridShape(launch, facts.width)
        self._shared = ClusterMemory(facts.shared_bytes, facts.cluster_size)
        self._barrier = ClusterBarrier(task.source, facts.cluster_size, facts.threads)
        self._copies = BulkCopyCalls(
            kernel, memory, shape, self._shared, self._take, tells=task.watcher is not None
        )
        self._tensor_memory = TensorMemoryCalls(kernel, memory, shape, self._shared)
        self.log: Any = None
        self._members: list[Worker] = []
        for rank in range(facts.cluster_size):
            place = ClusterPlace(
                rank, self._shared, self._barrier, self._copies, self._tensor_memory
            )
            self._members.append(new_member(place, self.log))
            self.log = self._members[0].log

    def stop(self) -> None:
        """Stops the workers of all ranks."""
        for member in self._members:
            member.stop()

    def record_at(self, part: GridPart) -> None:
        """Tells the workers of all ranks."""
        for member in self._members:
            member.record_at(part)

    @property
    def pairs_agree(self) -> bool:
        """Whether every two neighbouring warps took the same branches, on all workers."""
        return all(member.pairs_agree for member in self._members)

    @property
    def totals(self) -> Ints:
        """Counters by barrier stage, of all thread blocks of the cluster."""
        tables = [member.totals for member in self._members]
        found = np.zeros((max(map(len, tables)), tables[0].shape[1]), np.int64)
        for table in tables:
            found[: len(table)] += table
        return found

    def waiting(self) -> bytes:
        """What the thread blocks in flight depend on besides memory that others see, as bytes."""
        return b"".join(member.waiting() for member in self._members)

    def spinning_block(self) -> int:
        """The basic block at which lanes of some thread block spin."""
        found = (member.find_spinning_block() for member in self._members)
        return next(block for block in found if block is not None)

    def run(
        self,
        entry: Any,
        first: int,
        end: int,
        counts: Ints,
        times: Ints,
        repeats: npt.NDArray[np.uint8],
        give_back: Callable[[int], None],
    ) -> Generator[Pause, None, WorkerFault | None]:
        """Runs thread blocks [first, end), which are whole clusters; yields where all of them wait.

        BarrierError when threads of a cluster wait for others that do not come.
        """
        for numbers in self._clusters(first, end):
            self._shared.bytes[:] = 0
            self._barrier.begin()
            self._copies.begin(numbers)
            self._tensor_memory.begin(numbers)
            runs = {}
            for rank, number in enumerate(numbers.tolist()):
                member, row = self._members[rank], number - first
                member.rest()
                rows = counts[row:], times[row:], repeats[row:]
                runs[rank] = member.run(entry, number, number + 1, *rows, _nothing)
            fault = yield from self._turns(runs)
            if fault is not None:
                return fault
        for member in self._members:
            member.take_records()
        return None

    def _turns(
        self, runs: dict[int, Generator[Pause, None, WorkerFault | None]]
    ) -> Generator[Pause, None, WorkerFault | None]:
        contexts = [member.contexts_in_flight for member in self._members]
        while runs:
            self._barrier.look(contexts)
            moved = False
            for rank, run in tuple(runs.items()):
                try:
                    moved |= next(run).moved
                except StopIteration as done:
                    if done.value is not None:
                        fault: WorkerFault = done.value
                        return fault
                    del runs[rank]
                    moved = True
            if runs and not moved:
                if all(self._members[rank].waits_for_cluster for rank in runs):
                    raise self._too_few()
                yield Pause(moved)
        return None

    def _clusters(self, first: int, end: int) -> Iterator[Ints]:
        """The numbers of the thread blocks of each cluster, by rank."""
        seen: set[int] = set()
        for number in range(first, end):
            if number not in seen:
                mates = with_mates(np.array([number]), self._grid, self._cluster)
                seen.update(mates.tolist())
                yield mates

    def _take(self, words: Ints) -> None:
        if self.log is not None:
            self.log.take(words)

    def _too_few(self) -> BarrierError:
        for member in self._members:
            found = member.waiting_for_cluster()
            if found is not None:
                block, thread = found
                end = self._kernel.blocks[block].terminator
                assert isinstance(end, BarrierSync)
                return BarrierError(
                    "not all threads of the cluster come to this barrier",
                    end.span,
                    thread,
                    end.origin,
                )
        raise AssertionError("no thread waits for its cluster")


def _nothing(_rest: int) -> None:
    """A member has one thread block: nothing to give back."""
