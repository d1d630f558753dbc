"""A launch that is ready to run any number of times: its memory, its code and its workers."""

from __future__ import annotations

import time

import numpy as np

from kernelcast.simcore.engine.jit.runtime.bulk_copy_calls import reduces_in_buffers
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.jit.runtime.tensor_memory_calls import uses_tensor_memory
from kernelcast.simcore.engine.jit.runtime.worker import Worker
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.host.deadline import deadline_in
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits

__all__ = ["ReadyLaunch"]

_MOST_COUNTED_BYTES = 1 << 18
"""What the counters of the thread blocks of one piece take."""

_MOST_STACK_BYTES = 1 << 20
"""What compiled code may take of the stack of the calling thread."""


class ReadyLaunch:
    """One launch of a kernel, made once and run often; nothing is recorded.

    Raises LaunchError when the launch does not fit the kernel.
    """

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        warp_width: int,
        limits: Limits,
        printed: PrintedText,
    ) -> None:
        launch.check(kernel)
        self.launch = launch
        compiled = CompiledLaunch(kernel, launch, warp_width)
        self._memory = compiled.memory
        self._limits = limits
        self._task, self._code = compiled.task(limits, printed=printed)
        self._seen = self._memory.globals.changes
        self._workers: list[Worker] = []
        layout = self._task.source.layout
        row_bytes = 8 * (layout.counters + layout.warps)
        rows = max(1, min(launch.thread_blocks, _MOST_COUNTED_BYTES // row_bytes))
        self._counts = np.empty((rows, layout.counters), np.int64)
        self._times = np.empty((rows, layout.warps), np.int64)

    @property
    def is_current(self) -> bool:
        """Whether the allocations are those that it was made for."""
        return self._memory.globals.changes == self._seen

    @property
    def can_repeat(self) -> bool:
        """Whether thread blocks need neither each other nor turns that Python gives them."""
        return _can_repeat(self._task) and self._code.stack_bytes <= _MOST_STACK_BYTES

    def run(self) -> None:
        """Executes all thread blocks; ExecutionError when the kernel fails."""
        deadline = deadline_in(self._limits.seconds)
        self._memory.begin_again()
        if not self._workers:
            self._workers.append(Worker(self._task, record_memory=False))
        worker = self._workers[0]
        worker.begin()
        began = time.monotonic()
        last, first = self.launch.thread_blocks, 0
        while first < last:
            end = min(last, first + len(self._counts))
            fault = worker.run_whole(self._code.entry, first, end, self._counts, self._times)
            if fault is not None:
                self._workers.clear()
                raise fault.error(self._limits, deadline)
            first = end
        self._code.ran(time.monotonic() - began)


def _can_repeat(task: Task) -> bool:
    if task.facts.cluster is not None or task.source.layout.yield_state is not None:
        return False
    return not (reduces_in_buffers(task.kernel) or uses_tensor_memory(task.kernel))
