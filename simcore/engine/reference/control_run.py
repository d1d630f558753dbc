"""Counts of thread blocks, of which only what decides their paths is executed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.engine.recording.recorder import TraceRecorder
from kernelcast.simcore.engine.reference.batch import Batch, GridShape
from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel
from kernelcast.simcore.engine.reference.run import BatchRun
from kernelcast.simcore.engine.reference.watchdog import Watchdog
from kernelcast.simcore.engine.rules.host_functions import HostFunctions, PrintedText
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.slices import path_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import GridPart
from kernelcast.traces.trace import AccessTable, PatternCounts, Trace

__all__ = ["ControlRun"]

Ints = npt.NDArray[np.int64]


class ControlRun:
    """A launch of a kernel in warps of a width, whose paths depend on no buffers.

    Nothing is compiled for it, which for a few thread blocks takes longer than they do. LaunchError
    where buffers decide paths; thread blocks are not of clusters.
    """

    def __init__(self, kernel: Kernel, launch: Launch, warp_width: int, limits: Limits) -> None:
        self._kernel = kernel
        self._control = _control(kernel)
        self._launch = launch
        self._width = warp_width
        self._limits = limits

    def counts_of(self, parts: Sequence[GridPart]) -> Trace:
        """Instructions of the thread blocks of all parts, which alone are in the trace.

        Under a guard that decides no path, an instruction counts for all lanes.
        """
        began = time.monotonic()
        shape = GridShape(self._launch, self._width)
        recorder = TraceRecorder(self._kernel, self._width, shape.warps)
        numbers = np.concatenate([np.arange(part.first, part.end) for part in parts])
        self._run(shape, recorder, numbers)
        return Trace(
            kernel=self._kernel.name,
            grid=self._launch.grid,
            thread_block=self._launch.thread_block,
            warp_width=self._width,
            resources=resource_needs(self._kernel, self._launch),
            instructions=instruction_rows(self._kernel),
            classes=recorder.classes(),
            stage_warp_issues=recorder.stage_warp_issues(),
            warp_time=recorder.warp_time(),
            accesses=AccessTable.empty(),
            pattern_counts=PatternCounts.empty(),
            patterns=PatternTable.empty(self._width),
            engine="reference",
            code=self._kernel.code,
            elapsed_s=time.monotonic() - began,
            has_memory=False,
            pairs_agree=recorder.pairs_agree,
        )

    def _run(self, shape: GridShape, recorder: TraceRecorder, numbers: Ints) -> None:
        prepared = PreparedKernel(self._control)
        prepared.steps = tuple(
            replace(step, issues=len(block.body) + bool(block.terminator.mnemonic))
            for step, block in zip(prepared.steps, self._kernel.blocks, strict=True)
        )
        memory = LaunchMemory(self._kernel, self._launch)
        host = HostFunctions(self._kernel, memory, PrintedText(_discard))
        with np.errstate(all="ignore"):
            batch = Batch(self._control, shape, memory, prepared.constants, numbers)
            BatchRun(
                prepared, batch, memory, recorder, Watchdog(self._kernel, self._limits), host
            ).run()
        recorder.finish_batch(batch.counts)


@once_per_kernel
def _control(kernel: Kernel) -> Kernel:
    """What decides the paths, with what registers spill of it."""
    found = path_slice(kernel)
    if found is None or not found.is_static:
        raise LaunchError("this launch cannot be sketched: what it reads decides its paths")
    bodies = [tuple(item for item in block.body if item.pc in found.pcs) for block in kernel.blocks]
    blocks = zip(kernel.blocks, bodies, strict=True)
    return replace(kernel, blocks=tuple(replace(block, body=body) for block, body in blocks))


def _discard(_text: str) -> None:
    """Printing decides no path."""
