"""Warp paths of a launch for each warp width, recorded before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.simcore.engine.path_sample import PathSample, record_paths
from kernelcast.simcore.isa.analysis.slices import address_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.static_schedule import static_schedule
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.trace import Trace

__all__ = ["PathSamples"]


@dataclass(frozen=True)
class PathSamples:
    """`by_width`: the sample in warps of so many threads."""

    kernel: Kernel
    by_width: Mapping[int, PathSample]

    @classmethod
    def record(
        cls, kernel: Kernel, launch: Launch, widths: Sequence[int], limits: Limits
    ) -> PathSamples:
        """The launch's buffers stay as they are."""
        reads_data = not address_slice(kernel).is_static
        return cls(
            kernel,
            {
                width: record_paths(kernel, launch, width, limits, reads_data=reads_data)
                for width in widths
            },
        )

    def added_to(self, trace: KernelTrace) -> KernelTrace:
        """The trace of that launch with its paths, or with the reasons why it has none."""
        traces = tuple(self._scheduled(item) for item in trace.traces)
        return replace(trace, traces=traces)

    def _scheduled(self, trace: Trace) -> Trace:
        found = self.by_width[trace.warp_width].of(trace)
        if found.paths is None:
            return found
        return replace(found, schedule=static_schedule(self.kernel, found.paths))
