"""The reference engine: NumPy over batches of thread blocks, obviously right rather than fast.

Of the basic blocks that lanes of the batch wait for, the one lowest in the topological order of the
loop-nest forest runs first, with a mask: lanes meet again at post-dominators. So that lanes that
spin cannot starve those that would release them, the basic block that waited longest runs once
after `_PATIENCE` runs of others, and after `_SPIN_PATIENCE` runs that only looked at memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.errors import AssertionTriggered
from kernelcast.simcore.engine.recording.recorder import Recorder, TraceRecorder
from kernelcast.simcore.engine.reference.barrier_bypass import BarrierBypassLog
from kernelcast.simcore.engine.reference.barriers import BarrierQueue
from kernelcast.simcore.engine.reference.batch import Batch, GridShape, thread_blocks_at_once
from kernelcast.simcore.engine.reference.bulk_copies import BulkCopies
from kernelcast.simcore.engine.reference.cluster_barrier import ClusterQueue
from kernelcast.simcore.engine.reference.clusters import neighbours
from kernelcast.simcore.engine.reference.host_calls import call_host
from kernelcast.simcore.engine.reference.lanes import Frame, GuardedFrame, LaneView, as_bits
from kernelcast.simcore.engine.reference.memory_access import MemoryAccess, StoreJournal
from kernelcast.simcore.engine.reference.phase_log import PhaseLog
from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel, Step
from kernelcast.simcore.engine.reference.tensor_memory import TensorMemory
from kernelcast.simcore.engine.reference.warp_lanes import execute_across_lanes
from kernelcast.simcore.engine.reference.watchdog import CHECK_EVERY, State, Watchdog
from kernelcast.simcore.engine.rules.host_functions import HostFunctions, PrintedText
from kernelcast.simcore.host.deadline import check_time
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import (
    GRID,
    Atomic,
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    BasicBlock,
    Branch,
    BulkCopy,
    ClusterArrive,
    Compute,
    Exit,
    Fence,
    Guard,
    HostCall,
    Instruction,
    Kernel,
    Load,
    Register,
    Store,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch, AccessSink
from kernelcast.traces.trace import AccessTable, PatternCounts, Trace

__all__ = ["BatchRun", "run"]

Mask = npt.NDArray[np.bool_]
_PATIENCE = 1 << 16
_SPIN_PATIENCE = 32


def run(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    progress: Callable[[float], None] | None,
    sinks: Sequence[AccessSink] = (),
    printed: PrintedText | None = None,
) -> Trace:
    """Executes every thread block, changing buffers in place; `sinks` get all accesses last."""
    started = time.monotonic()
    shape = GridShape(launch, warp_width)
    memory = LaunchMemory(kernel, launch)
    recorder = TraceRecorder(kernel, warp_width, shape.warps)
    prepared = PreparedKernel(kernel)
    host = HostFunctions(kernel, memory, printed or PrintedText(sys.stdout.write))
    step = thread_blocks_at_once(kernel, shape)
    if GRID in kernel.symbols:
        step = launch.thread_blocks
    together = neighbours(launch.grid, launch.cluster_of(kernel))
    step = max(together, step // together * together)
    with np.errstate(all="ignore"):
        for first in range(0, launch.thread_blocks, step):
            check_time("running")
            numbers = np.arange(first, min(first + step, launch.thread_blocks))
            batch = Batch(kernel, shape, memory, prepared.constants, numbers)
            BatchRun(prepared, batch, memory, recorder, Watchdog(kernel, limits), host).run()
            recorder.finish_batch(batch.counts)
            if progress is not None:
                progress((first + len(numbers)) / launch.thread_blocks)
    patterns, warp_time = recorder.patterns(), recorder.warp_time()
    accesses, counts = recorder.accesses(), recorder.pattern_counts()
    everything = AccessBatch(0, launch.thread_blocks, accesses, patterns, warp_time, counts)
    for sink in sinks:
        sink.accept(everything)
    return Trace(
        kernel=kernel.name,
        grid=launch.grid,
        thread_block=launch.thread_block,
        warp_width=warp_width,
        resources=resource_needs(kernel, launch),
        instructions=instruction_rows(kernel),
        classes=recorder.classes(),
        stage_warp_issues=recorder.stage_warp_issues(),
        warp_time=warp_time,
        accesses=AccessTable.empty(),
        pattern_counts=PatternCounts.empty(),
        patterns=PatternTable.empty(warp_width),
        engine="reference",
        code=kernel.code,
        elapsed_s=time.monotonic() - started,
        has_memory=False,
        pairs_agree=recorder.pairs_agree,
    )


class BatchRun:
    """One batch from its first instruction to its last."""

    def __init__(
        self,
        prepared: PreparedKernel,
        batch: Batch,
        memory: LaunchMemory,
        recorder: Recorder,
        watchdog: Watchdog,
        host: HostFunctions,
        journal: StoreJournal | None = None,
        phases: PhaseLog | None = None,
    ) -> None:
        self._prepared = prepared
        self._batch = batch
        self._recorder = recorder
        self._watchdog = watchdog
        self._host = host
        self._access = MemoryAccess(prepared.kernel, memory, recorder, batch, journal, phases)
        self._bypasses = BarrierBypassLog(prepared.barrier_bypasses, batch.lanes)
        self._barriers = BarrierQueue(prepared.kernel, batch, self._bypasses, phases)
        self._clusters = ClusterQueue(prepared.kernel, batch, phases)
        self._bulk = BulkCopies(memory, recorder, batch, journal, self._access.copies, phases)
        self._tensor_memory = TensorMemory(batch)
        self._pending: dict[int, Mask | None] = {0: batch.exists()}
        self._waiting_since: dict[int, int] = {0: 0}
        self._memory_changes = 0
        self._spins = 0
        self._steps = 0

    def run(self) -> None:
        """Runs basic blocks until every lane has exited; raises what the kernel does wrong."""
        while True:
            if not self._pending and not self._open_barriers():
                return
            index, mask = self._schedule_next()
            if mask is not None and mask.all():
                mask = None
            self._run_basic_block(self._prepared.steps[index], mask)
            self._steps += 1
            if self._steps % CHECK_EVERY == 0:
                state = State(self._memory_changes, self._pending, self._batch.file.values)
                times = self._batch.counts.warp_time
                self._watchdog.check(self._prepared.steps[index].block, times, state)

    def _open_barriers(self) -> bool:
        """Releases waiting lanes, clusters first; False when no lane is left that waits."""
        opened = self._clusters.release(list(self._pending.values()), self._barriers)
        if not opened and self._barriers:
            opened = self._barriers.release()
        for target, mask in opened:
            self._arrive(target, mask)
        return bool(opened)

    def _open_ready(self) -> None:
        """Opens complete barriers while lanes spin: the lanes may wait for those at a barrier."""
        masks = list(self._pending.values())
        opened = self._clusters.release(masks, self._barriers)
        if self._barriers:
            opened += self._barriers.release_ready(self._batch.thread_blocks_in(masks))
        for target, mask in opened:
            self._arrive(target, mask)

    def _schedule_next(self) -> tuple[int, Mask | None]:
        """The basic block to run, and its lanes, which wait no longer."""
        if self._spins >= _SPIN_PATIENCE:
            self._open_ready()
        lowest = min(self._pending)
        if len(self._pending) == 1:
            if self._spins >= _SPIN_PATIENCE or not self._barriers:
                self._spins = 0
            return lowest, self._take(lowest)
        by_age = sorted(self._waiting_since, key=lambda index: self._waiting_since[index])
        waited = self._steps - self._waiting_since[by_age[0]]
        if waited > _PATIENCE or self._spins > _SPIN_PATIENCE:
            self._spins = 0
            for index in by_age:
                mask = self._complete_warps(index)
                if mask is None or mask.any():
                    return index, self._take(index, mask)
        return lowest, self._take(lowest)

    def _take(self, index: int, chosen: Mask | None = None) -> Mask | None:
        """The lanes that wait for a basic block, or the `chosen` ones of them."""
        waiting = self._pending[index]
        if chosen is not None:
            rest = ~chosen if waiting is None else waiting & ~chosen
            if rest.any():
                self._pending[index] = rest
                return chosen
        del self._pending[index], self._waiting_since[index]
        return waiting

    def _complete_warps(self, index: int) -> Mask | None:
        """The lanes that may run a basic block out of turn, None for all; others await members."""
        if not self._prepared.steps[index].needs_members:
            return None
        waiting = self._pending[index]
        lanes = np.ones(self._batch.lanes, np.bool_) if waiting is None else waiting
        apart = np.zeros(self._batch.lanes, np.bool_)
        for other, mask in self._pending.items():
            if other != index and other not in self._prepared.ending:
                apart |= True if mask is None else mask
        whole = ~apart.reshape(-1, self._batch.width).any(axis=1)
        return np.asarray(lanes & np.repeat(whole, self._batch.width))

    def _run_basic_block(self, step: Step, mask: Mask | None) -> None:
        lanes = None if mask is None else np.flatnonzero(mask)
        warps = self._count(step, mask)
        frame = Frame(self._batch.file, lanes, step.live_out)
        before = self._memory_changes
        for position, instruction in enumerate(step.block.body, 1):
            self._execute(frame, instruction, position - 1)
            if position % CHECK_EVERY == 0:
                check_time("running")
        if self._memory_changes != before or not (step.looks_at_memory or step.is_in_spin_loop):
            self._spins = 0
        elif step.looks_at_memory:
            self._spins += _SPIN_PATIENCE if step.suspends else 1
        times = self._batch.counts.warp_time
        if warps is None:
            times += step.issues
        else:
            times[warps] += step.issues
        self._finish(step.block, frame, mask)

    def _count(self, step: Step, mask: Mask | None) -> Mask | None:
        """Counts the run; the warps that took part, None for all."""
        batch, index = self._batch, step.block.index
        counts = batch.counts
        warps: Mask | None = None
        if mask is None:
            issued = np.full(batch.count, batch.shape.warps, np.int64)
            counts.lane_executions[:, index] += batch.shape.lanes
        else:
            warps = np.asarray(mask.reshape(-1, batch.width).any(axis=1))
            by_thread_block = warps.reshape(batch.count, -1)
            issued = by_thread_block.sum(axis=1)
            last = batch.shape.warps & ~1  # an odd warp at the end has no neighbour
            halves = by_thread_block[:, :last:2], by_thread_block[:, 1:last:2]
            counts.pairs_agree &= bool(np.array_equal(*halves))
            counts.lane_executions[:, index] += mask.reshape(batch.count, -1).sum(axis=1)
        counts.warp_issues[:, index] += issued
        self._recorder.record_run(index, mask, counts.stage, issued)
        return warps

    def _execute(self, frame: Frame, instruction: Instruction, position: int) -> None:
        view: LaneView = frame
        if instruction.guard is not None:
            chosen = np.flatnonzero(self._condition(frame, instruction.guard))
            self._recorder.record_guard(instruction.pc, frame.lanes, chosen)
            self._batch.count_guarded_off(frame, instruction.pc, chosen)
            if not len(chosen):
                return
            view = GuardedFrame(frame, chosen)
        match instruction:
            case Compute(destinations=()):
                pass  # a value that nobody reads was left out
            case Compute():
                self._compute(view, instruction)
            case Load():
                self._access.load(view, instruction, position)
            case Store():
                self._access.store(view, instruction, position)
                self._memory_changes += 1
            case Atomic():
                self._memory_changes += self._access.atomic(view, instruction, position)
            case Fence():
                self._access.fence(view, instruction)
            case _:
                self._execute_together(view, instruction, position)

    def _execute_together(self, view: LaneView, instruction: Instruction, position: int) -> None:
        """What concerns other lanes, other threads of the thread block or the host."""
        match instruction:
            case WarpOperation():
                execute_across_lanes(self._batch, view, instruction, self._elsewhere())
            case BarrierArrive():
                self._barriers.arrive(view, instruction)
            case BarrierVote():
                self._barriers.votes.contribute(view, instruction)
            case BarrierResult():
                self._barriers.votes.result(view, instruction)
            case BulkCopy():
                self._bulk.copy(view, instruction, position)
                self._memory_changes += 1
            case ClusterArrive():
                self._clusters.arrive(view.lanes, instruction.pc)
            case TensorMemoryOperation():
                self._tensor_memory.execute(view, instruction)
            case HostCall():
                call_host(self._host, self._batch, view, instruction)

    def _elsewhere(self) -> list[Mask | None]:
        """Lanes that wait while a basic block runs, but for those that only have to end."""
        masks = [m for index, m in self._pending.items() if index not in self._prepared.ending]
        return masks + self._barriers.masks() + self._clusters.masks()

    def _compute(self, frame: LaneView, instruction: Compute) -> None:
        opcode = instruction.opcode
        context = Context(instruction.type, instruction.source_type, instruction.modifiers)
        operands = [
            self._batch.operand(frame, source, read_as)
            for source, read_as in zip(
                instruction.sources, opcode.operand_types(context), strict=True
            )
        ]
        result = opcode.compute(context, *operands)
        results = result if isinstance(result, tuple) else (result,)
        sources = tuple(s for s in instruction.sources if isinstance(s, Register))
        types = opcode.result_types(context)
        for register, value, written_as in zip(
            instruction.destinations, results, types, strict=False
        ):
            if register is not None:
                frame.write(register, as_bits(value, written_as, register.bits), sources)

    def _condition(self, frame: LaneView, guard: Guard) -> Mask:
        value = self._batch.operand(frame, guard.register, ScalarType.PRED)
        held = np.broadcast_to(value, (frame.count,))
        return ~held if guard.negated else held

    def _finish(self, block: BasicBlock, frame: Frame, mask: Mask | None) -> None:
        end = block.terminator
        match end:
            case Branch():
                condition = self._condition(frame, end.guard)
                self._branch(block.index, end.target, frame, mask, condition)
                self._branch(block.index, end.otherwise, frame, mask, ~condition)
            case BarrierSync() if end.is_cluster:
                self._clusters.wait(block.index, mask)
            case BarrierSync():
                self._barriers.wait(block.index, mask, frame)
            case Exit():
                if end.trap:
                    lane = 0 if frame.lanes is None else int(frame.lanes[0])
                    name = self._batch.thread_name(lane)
                    raise AssertionTriggered(end.reason, end.span, name, end.origin)
            case _:
                self._bypasses.take(block.index, end.target, mask)
                self._arrive(end.target, mask)

    def _branch(
        self, source: int, target: int, frame: Frame, mask: Mask | None, condition: Mask
    ) -> None:
        """Sends the lanes of the frame where the condition holds to `target`."""
        if not condition.any():
            return
        chosen = mask
        if not condition.all():
            chosen = np.zeros(self._batch.lanes, np.bool_)
            chosen[condition if frame.lanes is None else frame.lanes[condition]] = True
        self._bypasses.take(source, target, chosen)
        self._arrive(target, chosen)

    def _arrive(self, target: int, mask: Mask | None) -> None:
        if target not in self._pending:
            self._pending[target] = mask
            self._waiting_since[target] = self._steps
            return
        known = self._pending[target]
        if known is None or mask is None:
            self._pending[target] = None
            return
        self._batch.counts.count_later_arrivals(self._prepared.by_group.get(target), known, mask)
        self._pending[target] = known | mask
