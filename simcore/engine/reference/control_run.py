"""Counts of thread blocks, of which only what decides their paths is executed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.recording.recorder import TraceRecorder
from kernelcast.simcore.engine.reference.batch import Batch, GridShape
from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel
from kernelcast.simcore.engine.reference.run import BatchRun
from kernelcast.simcore.engine.reference.watchdog import Watchdog
from kernelcast.simcore.engine.rules.host_functions import HostFunctions, PrintedText
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.slices import Slice
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
    """A launch of a kernel in warps of a width, by the `control` slice that decides its paths.

    Nothing is compiled for it, which for a few thread blocks takes longer than they do. The slice
    reads no buffers, and thread blocks are not of clusters.
    """

    def __init__(
        self, kernel: Kernel, control: Slice, launch: Launch, warp_width: int, limits: Limits
    ) -> None:
        self._kernel = kernel
        self._control = control
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
        pcs, blocks = self._control.pcs, self._kernel.blocks
        bodies = [tuple(item for item in block.body if item.pc in pcs) for block in blocks]
        left = tuple(replace(block, body=body) for block, body in zip(blocks, bodies, strict=True))
        slice_ = replace(self._kernel, blocks=left)
        prepared = PreparedKernel(slice_)
        prepared.steps = [
            replace(step, issues=len(block.body) + bool(block.terminator.mnemonic))
            for step, block in zip(prepared.steps, blocks, strict=True)
        ]
        memory = LaunchMemory(self._kernel, self._launch)
        host = HostFunctions(self._kernel, memory, PrintedText(_discard))
        with np.errstate(all="ignore"):
            batch = Batch(slice_, shape, memory, prepared.constants, numbers)
            BatchRun(prepared, batch, memory, recorder, Watchdog(self._limits), host).run()
        recorder.finish_batch(batch.counts)


def _discard(_text: str) -> None:
    """Printing decides no path."""
