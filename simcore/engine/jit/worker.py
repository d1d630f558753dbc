"""One thread's share of a launch: its workspace, memories, access log, and what went wrong."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import (
    AssertionTriggered,
    ExecutionError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.simcore.engine.access_faults import access_fault
from kernelcast.simcore.engine.barriers import BarrierQueue
from kernelcast.simcore.engine.batch import Batch, GridShape
from kernelcast.simcore.engine.bypasses import BypassLog
from kernelcast.simcore.engine.host_functions import Caller, HostFunctions
from kernelcast.simcore.engine.jit.exchange_code import FAULT_MEMBERS
from kernelcast.simcore.engine.jit.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.program import SourceProgram
from kernelcast.simcore.engine.jit.runtime_code import FAULT_READ_ONLY, SPACES
from kernelcast.simcore.engine.jit.thread_block_code import (
    STATUS_CHECK,
    STATUS_FAULT,
    STATUS_STAGES,
)
from kernelcast.simcore.engine.jit.warp_function import FAULT_LIMIT, FAULT_TRAP
from kernelcast.simcore.engine.jit.workspace import FIELDS
from kernelcast.simcore.engine.warp_lanes import missing_members
from kernelcast.simcore.isa.address_windows import WINDOW_BYTES, WINDOWS
from kernelcast.simcore.isa.instruction_rows import instruction_rows
from kernelcast.simcore.isa.kernel import (
    Atomic,
    Exit,
    HostCall,
    Instruction,
    Kernel,
    Load,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch import Launch, Limits
from kernelcast.simcore.lazy_buffer import LazyBuffer
from kernelcast.simcore.memory_spaces import FlatMemory, LaunchMemory, OutOfBounds

__all__ = ["Worker", "WorkerFault"]

Ints = npt.NDArray[np.int64]
_RING_BYTES = 1 << 20
_FIRST_STAGES = 16
_NO_LIMIT = (1 << 63) - 1
_HostEntry = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p
)
_Flush = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True)
class WorkerFault:
    """Where and why native code stopped."""

    kernel: Kernel
    launch: Launch
    memory: LaunchMemory
    batch: Batch
    kind: int
    pc: int
    lane: int
    address: int
    warp: int
    thread_block: int
    raised: ExecutionError | None = None
    """What a function of the host had to say."""

    def error(self, limits: Limits, *, timed_out: bool) -> ExecutionError:
        if self.raised is not None:
            return self.raised
        instruction = self.kernel.instructions[self.pc]
        span, origin = instruction.span, instruction.origin
        thread = self.batch.thread_name(self.warp * self.batch.width + self.lane)
        if self.kind == FAULT_LIMIT:
            if timed_out:
                text = (
                    f"still running after {limits.seconds:g} s: an endless loop? (--limit-seconds)"
                )
            else:
                text = (
                    f"a warp issued more than {limits.instructions_per_warp:,} instructions: "
                    "an endless loop? (--limit-instructions)"
                )
            return LimitExceeded(text, span, origin=origin)
        if self.kind == FAULT_MEMBERS:
            assert isinstance(instruction, WarpOperation)
            return missing_members(instruction, thread)
        if self.kind == FAULT_TRAP:
            assert isinstance(instruction, Exit)
            return AssertionTriggered(instruction.reason, span, thread, origin)
        if self.kind == FAULT_READ_ONLY:
            return MemoryAccessError("store to a read-only array", span)
        return self._access_error(instruction, thread)

    def _access_error(self, instruction: Instruction, thread: str) -> MemoryAccessError:
        assert isinstance(instruction, Load | Store | Atomic)
        size = instruction.type.bytes
        if isinstance(instruction, Load):
            size *= len(instruction.destinations)
        elif isinstance(instruction, Store):
            size *= len(instruction.sources)
        address, reason = self._explain(instruction, size)
        return access_fault(instruction, address, reason, thread)

    def _explain(self, instruction: Load | Store | Atomic, size: int) -> tuple[int, str]:
        """The memories of the reference engine know why."""
        space, address = instruction.address.space, self.address
        if space is AddressSpace.GENERIC:
            space = AddressSpace.GLOBAL
            for window, first in WINDOWS.items():
                if first <= address < first + WINDOW_BYTES:
                    space, address = window, address - first
        where = np.array([address], np.int64)
        flat: FlatMemory
        try:
            if space is AddressSpace.GLOBAL:
                self.memory.globals.locate(where, size, 1)
            else:
                flat = {
                    AddressSpace.SHARED: self.batch.shared,
                    AddressSpace.LOCAL: self.batch.local,
                    AddressSpace.CONST: self.memory.constants,
                }.get(space, self.memory.parameters)
                flat.elements(where, 0, size, 1)
        except OutOfBounds as fault:
            return fault.address, fault.reason
        return address, "outside"


class Worker:
    """Memory of one thread block at a time. Native code sees it through the workspace."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        memory: LaunchMemory,
        facts: LaunchFacts,
        source: SourceProgram,
        limits: Limits,
        record_memory: bool,
        host: HostFunctions,
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._memory = memory
        self._facts = facts
        self._source = source
        self._host = host
        self._raised: ExecutionError | None = None
        self._host_entry = _HostEntry(self._call_host)
        shape = source.shape
        self._words = np.zeros(len(FIELDS), np.int64)
        self._shared = _aligned(shape.shared_bytes)
        self._local = _aligned(shape.local_bytes)
        self._contexts = _aligned(shape.context_bytes * shape.warps)
        self._buffers = _buffer_table(kernel, launch, memory)
        self._stages = np.zeros((_FIRST_STAGES, shape.counters), np.int64)
        self.totals = np.zeros((_FIRST_STAGES, shape.counters), np.int64)
        self.log: Any = None
        self._flush = _Flush(self._take_ring)
        self._ring = _aligned(_RING_BYTES if record_memory else 0)
        if record_memory:
            self.log = _access_log(kernel, launch, facts, source)
        most = limits.instructions_per_warp
        self._fill(_NO_LIMIT if most is None else most)

    def _fill(self, limit: int) -> None:
        stride = -(-self._kernel.local_bytes // 16) * 16
        values = {
            "limit": limit,
            "ring_next": self._ring.ctypes.data,
            "ring_end": self._ring.ctypes.data + self._ring.nbytes,
            "ring_flush": ctypes.cast(self._flush, ctypes.c_void_p).value or 0,
            "shared": self._shared.ctypes.data,
            "shared_bytes": self._source.shape.shared_bytes,
            "local": self._local.ctypes.data,
            "local_bytes": self._kernel.local_bytes,
            "local_stride": stride,
            "params": self._memory.parameters.bytes.ctypes.data,
            "param_bytes": self._memory.parameters.size,
            "constants": self._memory.constants.bytes.ctypes.data,
            "constant_bytes": self._memory.constants.size,
            "buffers": self._buffers.ctypes.data,
            "buffer_count": len(self._buffers),
            "contexts": self._contexts.ctypes.data,
            "host_call": ctypes.cast(self._host_entry, ctypes.c_void_p).value or 0,
        }
        for name, value in values.items():
            self._set(name, value)
        self._point_to_stages()

    def _point_to_stages(self) -> None:
        if self._source.shape.has_barriers:
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

    def run(
        self, entry: Any, first: int, end: int, counts: Ints, times: Ints
    ) -> WorkerFault | None:
        """Thread blocks [first, end), into the rows of `counts` and `times`, which begin there."""
        begin = first
        while first < end:
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
                    return self._fault(first)
                case status if status == STATUS_STAGES:
                    self._more_stages()
                    self._set("resume", 1)
                case status if status == STATUS_CHECK:
                    self._check_barriers(first)
                    self._set("resume", 1)
        if self.log is not None:
            self._take_ring(0)
        return None

    def _take_ring(self, _workspace: int | None) -> None:
        """Called by native code when the ring is full."""
        used = (self._get("ring_next") - self._ring.ctypes.data) // 8
        self.log.take(self._ring.view(np.int64)[:used])
        self._set("ring_next", self._ring.ctypes.data)

    def _call_host(self, pc: int, warp: int, mask: int, arguments: int | None) -> int:
        """Called by native code: `mask` lanes of a warp; results replace the first arguments."""
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
                self._shared[: self._source.shape.shared_bytes],
                local,
            )
            try:
                table[0, lane] = self._host.call(call, table[:, lane].tolist(), caller)
            except ExecutionError as raised:
                self._raised = raised
                return 1
        return 0

    def _more_stages(self) -> None:
        more = np.zeros_like(self._stages)
        self._stages = np.concatenate((self._stages, more))
        self.totals = np.concatenate((self.totals, more))
        if self.log is not None:
            self.log.counted.grow(len(self._stages))
        self._point_to_stages()

    def _batch(self, thread_block: int) -> Batch:
        shape = GridShape(self._launch, self._facts.width)
        return Batch(self._kernel, shape, self._memory, frozenset(), thread_block, 1)

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

    def _check_barriers(self, thread_block: int) -> None:
        """Threads wait at several barriers: the reference engine's rules say whether they may."""
        batch = self._batch(thread_block)
        queue = BarrierQueue(self._kernel, batch, BypassLog({}, batch.lanes))
        width, shape = self._facts.width, self._source.shape
        contexts = self._contexts.reshape(shape.warps, shape.context_bytes)
        states = contexts[:, :4].copy().view(np.int32).reshape(-1)
        exists = batch.exists()
        for warp, state in enumerate(states.tolist()):
            if state < 0:
                continue
            if state == shape.mixed_state:
                places = [(b, 16 + 8 * n) for n, (b, _) in enumerate(self._source.mixed_barriers)]
            else:
                places = [(self._source.barriers[state - 1], 8)]
            for barrier, offset in places:
                word = int(contexts[warp, offset : offset + 8].copy().view(np.uint64)[0])
                mask = np.zeros(batch.lanes, np.bool_)
                mask[warp * width : (warp + 1) * width] = [word >> i & 1 for i in range(width)]
                if exists is not None:
                    mask &= exists
                if mask.any():
                    queue.wait(barrier, mask)
        queue.release()


def _aligned(size: int) -> npt.NDArray[np.uint8]:
    """At least 64 bytes, on a cache line."""
    raw = np.zeros(size + 128, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + max(64, -(-size // 64) * 64)]


def _buffer_table(kernel: Kernel, launch: Launch, memory: LaunchMemory) -> Ints:
    """Rows of pointer parameters in their order, then of module variables."""
    rows = []
    by_address = {buffer.first: buffer for buffer in memory.globals.buffers}
    chosen = []
    for value, parameter in zip(launch.arguments, kernel.parameters, strict=True):
        if isinstance(value, (np.ndarray, LazyBuffer)):
            raw = memory.parameters.bytes[parameter.offset : parameter.offset + 8]
            chosen.append(by_address[int(raw.copy().view(np.int64)[0])])
    chosen += [buffer for buffer in memory.globals.buffers if buffer not in chosen]
    for buffer in chosen:
        if buffer.is_materialised:
            writable = buffer.size if buffer.bytes.flags.writeable else 0
            rows.append((buffer.first, buffer.size, writable, buffer.bytes.ctypes.data))
        else:  # slices run without contents
            rows.append((buffer.first, buffer.size, buffer.size, 0))
    return np.array(rows, np.int64).reshape(-1, 4)


def _access_log(kernel: Kernel, launch: Launch, facts: LaunchFacts, source: SourceProgram) -> Any:
    # the compiled decoder is slow to import and runs without records do not need it
    from kernelcast.simcore.engine.jit.access_log import AccessLog
    from kernelcast.simcore.engine.jit.counted_accesses import CountedAccesses
    from kernelcast.simcore.engine.jit.recording import PcFacts

    table = instruction_rows(kernel)
    spaces = {space.value: number for space, number in SPACES.items()}
    space = np.array([spaces.get(row.space, -1) for row in table], np.int64)
    size = np.array([row.access_bytes for row in table], np.int64)
    lanes = facts.warps * facts.width * launch.thread_blocks
    slots = source.shape.access_slots
    counted = CountedAccesses(source.counted, slots, facts.width, _FIRST_STAGES)
    return AccessLog(
        facts.width, facts.warps, PcFacts(space, size, lanes), source.lane_shapes, counted
    )
