"""The way in which a launch is sampled, if it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kernelcast.execution.dependent_sampling import dependent_launch
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.launch_paths import LaunchPaths
from kernelcast.execution.launch_sampling import has_few_warps, is_small, sampled_launch
from kernelcast.execution.path_samples import PathSamples
from kernelcast.execution.sampling import Sampling
from kernelcast.execution.sketch import sketched_launch
from kernelcast.progress import LONG_S, tell
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.data_guards import without_data_guards
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.warp_paths import MOST_EVENTS, MOST_EVENTS_OF_SAMPLE

if TYPE_CHECKING:
    from kernelcast.execution.run_options import RunOptions

__all__ = ["Sampler", "tell_expected"]

_MANY_THREADS = 10**8
"""Buffers of so many threads are not made for a look at some paths."""


def tell_expected(paths: PathSamples, launch: Launch, widths: Sequence[int]) -> None:
    """Tells how long a launch will be executed, where that is long."""
    works = [paths.work(launch, width) for width in widths]
    seconds = sum(work.expected_s for work in works if work is not None)
    if seconds > LONG_S:
        tell(f"{seconds:.0f} s or more to be expected", 0.0)


@dataclass(frozen=True)
class Sampler:
    """A launch that may be sampled, for warps of each of the rising `widths`."""

    kernel: Kernel
    launch: Launch
    widths: Sequence[int]
    options: RunOptions

    def found(self, devices: Sequence[Device], _widths: Sequence[int]) -> KernelTrace | None:
        """The trace, with the memories of `devices` and the paths that are wanted.

        None where everything is to be executed.
        """
        if self.options.sampling is Sampling.SKETCH:
            return sketched_launch(self.kernel, self.launch, devices, self.widths, self.options)
        is_auto = self.options.sampling is Sampling.AUTO
        if is_auto and is_small(self.kernel, self.launch, self.widths, self._paths):
            return None
        kernel = self.kernel if is_auto else without_data_guards(self.kernel)
        sampled = sampled_launch(kernel, self.launch, devices, self.widths, self.options)
        if sampled is not None:
            return self._with_paths(sampled.trace, sampled.launch)
        paths = LaunchPaths.of(self.kernel, self.launch, self._paths, self.options.ends)
        if paths is None:
            return None
        at = self.kernel, self.launch, devices
        trace = dependent_launch(*at, self.options, paths.samples)
        return None if trace is None else paths.added_to(trace)

    @property
    def paths_of_executed(self) -> PathSamples | None:
        """Paths that were recorded and are as long as those of a launch that is executed."""
        found = self._paths
        if found is None or not (found.are_complete or self._most_events == MOST_EVENTS):
            return None
        return found

    @property
    def _most_events(self) -> int:
        """The limit of launches that are executed, where this one most likely is."""
        is_auto = self.options.sampling is Sampling.AUTO
        is_executed = is_auto and has_few_warps(self.launch, self.widths)
        return MOST_EVENTS if is_executed else MOST_EVENTS_OF_SAMPLE

    @cached_property
    def _paths(self) -> PathSamples | None:
        """Short ones; None where they are not wanted, or of a launch that is large without them."""
        launch = self.launch
        if not self.options.keeps_paths:
            return None
        if launch.thread_blocks * launch.threads_per_thread_block >= _MANY_THREADS:
            return None
        return self._recorded(launch)

    def _with_paths(self, trace: KernelTrace, launch: Launch) -> KernelTrace:
        if not self.options.keeps_paths:
            return trace
        samples = self._paths or self._recorded(launch)
        ends = self.options.ends
        return LaunchPaths.of_sample(self.kernel, launch, samples, ends).added_to(trace)

    def _recorded(self, launch: Launch) -> PathSamples:
        ends = self.options.ends
        return PathSamples.record(self.kernel, launch, self.widths, ends, self._most_events)
