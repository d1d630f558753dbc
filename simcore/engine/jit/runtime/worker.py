"""One thread's share of a launch: its workspace, memories, access log, and what went wrong."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError
from kernelcast.simcore.engine.jit.codegen.counted_barriers import BARRIERS
from kernelcast.simcore.engine.jit.codegen.rounds import (
    RESUME_ROUND,
    RESUME_STAGE,
    STATUS_CHECK,
    STATUS_FAULT,
    STATUS_STAGES,
    STATUS_STUCK,
)
from kernelcast.simcore.engine.jit.codegen.workspace import FIELDS
from kernelcast.simcore.engine.jit.runtime.barrier_check import BarrierCheck
from kernelcast.simcore.engine.jit.runtime.cluster_place import ClusterPlace
from kernelcast.simcore.engine.jit.runtime.launch_log import FIRST_STAGES, launch_log
from kernelcast.simcore.engine.jit.runtime.lookout import Lookout
from kernelcast.simcore.engine.jit.runtime.pause import Pause
from kernelcast.simcore.engine.jit.runtime.stack_threads import aligned, first_rows
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.jit.runtime.worker_fault import WorkerFault, as_execution_error
from kernelcast.simcore.engine.reference.batch import Batch, GridShape
from kernelcast.simcore.engine.rules.host_functions import Caller
from kernelcast.simcore.engine.rules.issue_limit import issue_limit
from kernelcast.simcore.isa.ir.kernel import BarrierSync, HostCall
from kernelcast.traces.stream import GridPart

__all__ = ["Worker"]

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_RING_BYTES = 1 << 20
_NO_LIMIT = (1 << 63) - 1
_HostEntry = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p
)
_ClusterEntry = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    *(ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p),
)
_Flush = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Worker:
    """Memory of one thread block at a time. Compiled code sees it through the workspace."""

    def __init__(
        self,
        task: Task,
        record_memory: bool,
        cluster: ClusterPlace | None = None,
        log: Any = None,
    ) -> None:
        """`log`: that of the cluster's first worker."""
        self._cluster = cluster
        self._has_begun = self.waits_for_cluster = False
        self._kernel = kernel = task.kernel
        self._launch, self._facts, self._host = task.launch, task.facts, task.host
        memory, source = self._memory, self._source = task.memory, task.source
        self._is_watched = task.watcher is not None
        self._raised: ExecutionError | None = None
        self._arrived = np.zeros(BARRIERS, np.int64)
        self._barriers = BarrierCheck(kernel, source, self._batch)
        self._host_entry = _HostEntry(self._call_host)
        self._cluster_entry = _ClusterEntry(self._call_for_cluster)
        layout = source.layout
        self._words = np.zeros(len(FIELDS), np.int64)
        of_cluster = None if cluster is None else cluster.shared.of(cluster.rank)
        self._shared = aligned(layout.shared_bytes) if of_cluster is None else of_cluster
        self._local = aligned(layout.local_bytes)
        self._contexts = aligned(layout.context_bytes * layout.warps)
        self._pointers, self._allocations = memory.pointer_rows, memory.globals.rows()
        self._recent_rows = first_rows(self._allocations, layout.row_slots)
        self._stages = np.zeros((FIRST_STAGES, layout.counters), np.int64)
        self.totals = np.zeros((FIRST_STAGES, layout.counters), np.int64)
        self.log: Any = log
        self._flush = _Flush(self._take_ring)
        self._ring = aligned(max(_RING_BYTES, layout.record_bytes) if record_memory else 0)
        if record_memory and log is None:
            self.log = launch_log(task)
        self._limit = _NO_LIMIT if (most := issue_limit(kernel, task.limits)) is None else most
        self._fill(self._limit)
        self._set("warp_order", task.watcher.order_address if task.watcher else 0)

    def _fill(self, limit: int) -> None:
        stride = -(-self._kernel.local_bytes // 16) * 16
        place = self._cluster
        values = {
            "limit": limit,
            "ring_next": self._ring.ctypes.data,
            "ring_end": self._ring.ctypes.data + self._ring.nbytes,
            "ring_flush": ctypes.cast(self._flush, ctypes.c_void_p).value or 0,
            "shared": self._shared.ctypes.data,
            "shared_bytes": self._source.layout.shared_bytes,
            "local": self._local.ctypes.data,
            "local_bytes": self._kernel.local_bytes,
            "local_stride": stride,
            "params": self._memory.parameters.bytes.ctypes.data,
            "param_bytes": self._memory.parameters.size,
            "constants": self._memory.constants.bytes.ctypes.data,
            "constant_bytes": self._memory.constants.size,
            "pointers": self._pointers.ctypes.data,
            "allocations": self._allocations.ctypes.data,
            "allocation_count": len(self._allocations),
            "recent_rows": self._recent_rows.ctypes.data,
            **{f"grid_{axis}": size for axis, size in zip("xyz", self._launch.grid, strict=True)},
            "contexts": self._contexts.ctypes.data,
            "arrived": self._arrived.ctypes.data,
            "cluster_shared": 0 if place is None else place.shared.hosts.ctypes.data,
            "cluster_arrivals": 0 if place is None else place.host_of_arrivals,
            "cluster_call": ctypes.cast(self._cluster_entry, ctypes.c_void_p).value or 0,
            "host_call": ctypes.cast(self._host_entry, ctypes.c_void_p).value or 0,
        }
        for name, value in values.items():
            self._set(name, value)
        self._point_to_stages()

    def _point_to_stages(self) -> None:
        if self._source.layout.has_barriers:
            self._set("stage_counts", self._stages.ctypes.data)
        if self.log is not None:
            self._set("access_counts", self.log.counted.table.ctypes.data)
        self._set("stage_capacity", len(self._stages))

    def _set(self, name: str, value: int) -> None:
        self._words[FIELDS.index(name)] = value

    def _get(self, name: str) -> int:
        return int(self._words[FIELDS.index(name)])

    @property
    def pairs_agree(self) -> bool:
        """Whether every two neighbouring warps so far took the same branches."""
        return not self._get("pairs_differ")

    def stop(self) -> None:
        """Every warp ends at its next loop."""
        self._set("limit", 0)

    def record_at(self, part: GridPart) -> None:
        """Records accesses of a part only, as far as the code knows of times."""
        self._set("record_from", part.after)
        self._set("record_until", part.before)
        if part.period:
            self.log.tell_repeats(part.period, part.leaves_out)

    def begin(self) -> None:
        """Makes the worker ready for another run of its launch."""
        self._set("limit", self._limit)

    def look_again(self) -> None:
        """Takes the allocations that there are by now."""
        self._allocations = self._memory.globals.rows()
        self._recent_rows = first_rows(self._allocations, self._source.layout.row_slots)
        self._set("allocations", self._allocations.ctypes.data)
        self._set("allocation_count", len(self._allocations))
        self._set("recent_rows", self._recent_rows.ctypes.data)

    def new_lookout(self) -> Lookout:
        """Makes warps ask it, and not end, when they come to a loop after `stop`."""
        found = Lookout(self.stop, self.begin, self._limit)
        self._set("limit_call", ctypes.cast(found.entry, ctypes.c_void_p).value or 0)
        return found

    def run(
        self,
        entry: Any,
        first: int,
        end: int,
        counts: Ints,
        times: Ints,
        repeats: Bytes,
        give_back: Callable[[int], None],
    ) -> Generator[Pause, None, WorkerFault | None]:
        """Thread blocks [first, end), into the rows of `counts` and `times`, which begin there.

        `repeats`: 1 for thread blocks whose row of `counts` is known to be as the one before.
        Pauses where one waits for others. It is the last one then: `give_back` is told where those
        begin that are left to others.
        """
        begin = first
        self._has_begun = True
        while first < end:
            if self._cluster is not None:
                self._point_to_stages()  # its tables may have grown with another thread block
            self._set("repeats", repeats[first - begin :].ctypes.data)
            first = int(
                entry(
                    self._words.ctypes.data,
                    first,
                    end,
                    counts[first - begin :].ctypes.data,
                    times[first - begin :].ctypes.data,
                    self.totals.ctypes.data,
                )
            )
            match self._get("status"):
                case status if status == STATUS_FAULT:
                    self._keep_order()
                    return self._fault(first)
                case status if status == STATUS_STAGES:
                    self._more_stages()
                    self._set("resume", RESUME_STAGE)
                case status if status == STATUS_CHECK:
                    yield from self._at_barriers(first)
                    self._set("resume", RESUME_STAGE)
                case status if status == STATUS_STUCK:
                    if first + 1 < end:
                        end = first + 1
                        give_back(end)
                    yield from self._while_others_run()
        if self._cluster is None:
            self.take_records()
        return None

    def run_whole(
        self, entry: Any, first: int, end: int, counts: Ints, times: Ints, repeats: Bytes
    ) -> WorkerFault | None:
        """`run` where no thread block waits for another; the rows of `counts` are used again."""
        try:
            next(self.run(entry, first, end, counts, times, repeats, _nobody_waits))
        except StopIteration as stop:
            fault: WorkerFault | None = stop.value
            return fault
        raise AssertionError("a thread block waits for another")

    def take_records(self) -> None:
        """What has been recorded so far, into the log."""
        if self.log is not None:
            self._take_ring(0)

    def _keep_order(self) -> None:
        """Hands over what was recorded before another thread block has its turn, to a watcher."""
        if self._is_watched:
            self.take_records()

    def _at_barriers(self, thread_block: int) -> Generator[Pause, None, None]:
        """All warps wait: until they may go on. BarrierError when they may not."""
        rows, place = self._warp_contexts(), self._cluster
        if place is None or not place.barrier.waiting(rows).any():
            self._barriers.check(thread_block, rows, self._arrived)
            return
        moved, self.waits_for_cluster = True, True
        self._keep_order()
        while not self._opens_for_cluster():
            yield Pause(moved)
            moved = False
        self.waits_for_cluster = False

    def _while_others_run(self) -> Generator[Pause, None, None]:
        """Threads spin: others have their turn, or some may leave the barrier of the cluster."""
        if self._opens_for_cluster():
            self._set("resume", RESUME_STAGE)
            return
        self._keep_order()
        moved = bool(self._get("moved"))
        self._set("moved", 0)
        yield Pause(moved)
        self._set("resume", RESUME_ROUND)

    def _opens_for_cluster(self) -> bool:
        """Whether some lanes may leave the barrier of the cluster."""
        return self._cluster is not None and self._cluster.opens(self._warp_contexts())

    def rest(self) -> None:
        """Nothing is in flight: the next cluster has not begun."""
        self._has_begun = False

    def contexts_in_flight(self) -> npt.NDArray[np.uint8] | None:
        """The contexts of the warps; None before the thread block has begun."""
        return self._warp_contexts() if self._has_begun else None

    def waiting_for_cluster(self) -> tuple[int, str] | None:
        """A basic block whose end is a barrier of the cluster, and the name of a thread there."""
        if not self.waits_for_cluster:
            return None
        thread_block = self._get("thread_block")
        for block, mask in self._barriers.waiting(thread_block, self._warp_contexts()):
            end = self._kernel.blocks[block].terminator
            if isinstance(end, BarrierSync) and end.is_cluster:
                return block, self._batch(thread_block).thread_name(int(np.argmax(mask)))
        return None

    def waiting(self) -> bytes:
        """All that a thread block in flight depends on but for memory that others see."""
        rows = self._warp_contexts().copy()
        digest = self._source.layout.digest_offset
        if digest is not None:
            rows[:, digest : digest + 8] = 0
        return rows.tobytes() + self._local.tobytes()

    def spinning_block(self) -> int:
        """A basic block where lanes of the thread block in flight wait for others."""
        found = self.find_spinning_block()
        assert found is not None, "no lane has yielded"
        return found

    def find_spinning_block(self) -> int | None:
        """A basic block where lanes of the thread block in flight wait for others; None without."""
        rows = self._warp_contexts()
        yielded = rows[:, :4].copy().view(np.int32)[:, 0] == self._source.layout.yield_state
        for head, offset in self._source.yields:
            if rows[yielded, offset : offset + 8].any():
                return head
        return None

    def _warp_contexts(self) -> npt.NDArray[np.uint8]:
        layout = self._source.layout
        contexts = self._contexts[: layout.warps * layout.context_bytes]
        return contexts.reshape(layout.warps, layout.context_bytes)

    def _take_ring(self, _workspace: int | None) -> None:
        """Called by compiled code when the ring is full."""
        used = (self._get("ring_next") - self._ring.ctypes.data) // 8
        self.log.take(self._ring.view(np.int64)[:used])
        self._set("ring_next", self._ring.ctypes.data)

    def _call_host(self, pc: int, warp: int, mask: int, arguments: int | None) -> int:
        """Called by compiled code: `mask` lanes of a warp; results replace the first arguments."""
        call = self._kernel.instructions[pc]
        assert isinstance(call, HostCall)
        width = self._facts.width
        rows = max(1, len(call.sources))
        kind = ctypes.c_uint64 * (rows * width)
        table = np.ctypeslib.as_array(kind.from_address(arguments or 0)).reshape(rows, width)
        thread_block, stage = self._get("thread_block"), self._get("stage")
        batch = self._batch(thread_block)
        stride = self._get("local_stride")
        for lane in (lane for lane in range(width) if mask >> lane & 1):
            thread = warp * width + lane
            local = self._local[thread * stride : thread * stride + self._kernel.local_bytes]
            caller = Caller(
                thread_block,
                stage,
                warp,
                batch.thread_name(thread),
                self._shared[: self._source.layout.shared_bytes],
                local,
            )
            try:
                table[0, lane] = self._host.call(call, table[:, lane].tolist(), caller)
            except (ExecutionError, MemoryError) as raised:
                self._raised = as_execution_error(raised)
                return 1
        return 0

    def _call_for_cluster(
        self, _workspace: int | None, pc: int, warp: int, mask: int, operands: int | None
    ) -> int:
        """Called by compiled code: `mask` lanes of a warp; their operands by row."""
        place = self._cluster
        assert place is not None
        self.take_records()  # so that they keep their order
        try:
            place.perform(pc, self._get("stage"), warp, mask, operands)
        except (ExecutionError, MemoryError) as raised:
            self._raised = as_execution_error(raised)
            return 1
        self._set("progress", 1)
        return 0

    def _more_stages(self) -> None:
        more = np.zeros_like(self._stages)
        self._stages = np.concatenate((self._stages, more))
        self.totals = np.concatenate((self.totals, more))
        if self.log is not None:
            self.log.counted.grow(max(len(self._stages), len(self.log.counted.table)))
        self._point_to_stages()

    def _batch(self, thread_block: int) -> Batch:
        shape = GridShape(self._launch, self._facts.width)
        return Batch(self._kernel, shape, self._memory, frozenset(), np.array([thread_block]))

    def _fault(self, thread_block: int) -> WorkerFault:
        return WorkerFault(
            self._kernel,
            self._launch,
            self._memory,
            self._batch(thread_block),
            self._get("fault_kind"),
            self._get("fault_pc"),
            self._get("fault_lane"),
            self._get("fault_address"),
            self._get("fault_warp"),
            thread_block,
            self._raised,
        )


def _nobody_waits(first: int) -> None:
    raise AssertionError(f"thread blocks from {first} on are given back")
