"""Warp paths of a launch for each warp width, recorded before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.simcore.engine.path_sample import PathSample, record_paths
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.slices import address_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.static_schedule import static_schedule
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.sampling.decision import Work
from kernelcast.simcore.sampling.pilot import access_pcs
from kernelcast.traces.trace import Trace

__all__ = ["PathSamples"]


@dataclass(frozen=True)
class PathSamples:
    """`by_width`: the sample in warps of so many threads."""

    kernel: Kernel
    by_width: Mapping[int, PathSample]

    @classmethod
    def record(
        cls,
        kernel: Kernel,
        launch: Launch,
        widths: Sequence[int],
        limits: Limits,
        most_events: int,
    ) -> PathSamples:
        """The launch's buffers stay as they are; paths hold about `most_events` at most."""
        reads_data = not address_slice(kernel).is_static
        return cls(
            kernel,
            {
                width: record_paths(
                    kernel, launch, width, limits, reads_data=reads_data, most_events=most_events
                )
                for width in widths
            },
        )

    def work(self, launch: Launch, width: int) -> Work | None:
        """What the launch does in all, at least where paths are cut off; None where unknown."""
        paths = self.by_width[width].paths
        if paths is None or not len(paths.thread_blocks):
            return None
        rows = instruction_rows(self.kernel)
        is_access = np.zeros(len(rows), np.bool_)
        is_access[access_pcs(rows)] = True
        more = launch.thread_blocks / len(paths.thread_blocks)
        return Work(
            float(launch.thread_blocks * launch.threads_per_thread_block),
            more * len(paths.pc),
            more * int(is_access[paths.pc].sum()),
            launch.thread_blocks,
        )

    @property
    def are_complete(self) -> bool:
        """Whether no path is cut off."""
        found = (item.paths for item in self.by_width.values())
        return all(paths is None or paths.is_complete for paths in found)

    def added_to(self, trace: KernelTrace) -> KernelTrace:
        """The trace of that launch with its paths, or with the reasons why it has none."""
        traces = tuple(self._scheduled(item) for item in trace.traces)
        return replace(trace, traces=traces)

    def _scheduled(self, trace: Trace) -> Trace:
        found = self.by_width[trace.warp_width].of(trace)
        if found.paths is None:
            return found
        return replace(found, schedule=static_schedule(self.kernel, found.paths))
