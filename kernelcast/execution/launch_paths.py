"""Paths of a launch, with those of the thread block that holds it up, which only its counts tell.

Where lanes follow lists of their own, one thread block may issue many times what others do, and the
launch lasts as long as that one. Which one it is shows when all have been executed; its path is
then recorded from the buffers as they were before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.path_samples import PathSamples
from kernelcast.simcore.engine.path_sample import record_paths
from kernelcast.simcore.isa.analysis.slices import address_slice, control_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.sampling.decision import has_loops
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import MOST_EVENTS_OF_SAMPLE
from kernelcast.workload.argument_snapshot import ArgumentSnapshot

__all__ = ["LaunchPaths", "longest_thread_block"]

_MUCH_LONGER = 1.25
"""What a thread block issues over the most of the recorded ones, to be recorded besides."""
_ABOUT_AS_LONG = 0.9
_MOST_BYTES = 1 << 31
"""Size of buffers beyond which no copies are kept to find a longest thread block."""


@dataclass(frozen=True)
class LaunchPaths:
    """Recorded paths of a launch that is about to run, and what its buffers hold before it.

    `before` None: thread blocks that issue different numbers of instructions are not to be
    expected, or the buffers are too large to be kept twice.
    """

    kernel: Kernel
    launch: Launch
    samples: PathSamples
    limits: Limits
    before: ArgumentSnapshot | None

    @classmethod
    def of(
        cls, kernel: Kernel, launch: Launch, samples: PathSamples | None, limits: Limits
    ) -> LaunchPaths | None:
        """The paths of a launch whose buffers nothing has changed yet; None without samples."""
        if samples is None:
            return None
        before = None
        if _differ_by_data(kernel, launch, samples) and _has_room(launch):
            before = ArgumentSnapshot.of(launch, [kernel])
        return cls(kernel, launch, samples, limits, before)

    @classmethod
    def of_sample(
        cls, kernel: Kernel, launch: Launch, samples: PathSamples, limits: Limits
    ) -> LaunchPaths:
        """The paths of a launch that changes no buffer, as only its addresses are computed."""
        return cls(kernel, launch, samples, limits, ArgumentSnapshot([]))

    def added_to(self, trace: KernelTrace) -> KernelTrace:
        """The trace of that launch with its paths; buffers stay as the launch has left them."""
        found = self.samples.added_to(trace)
        if self.before is None:
            return found
        return replace(found, traces=tuple(self._with_longest(item) for item in found.traces))

    def _with_longest(self, trace: Trace) -> Trace:
        if trace.paths is None or self.before is None:
            return trace
        number = longest_thread_block(trace, trace.paths.thread_blocks)
        if number is None:
            return trace
        with self.before.exchanged():
            sample = record_paths(
                self.kernel,
                self.launch,
                trace.warp_width,
                self.limits,
                reads_data=not address_slice(self.kernel).is_static,
                most_events=MOST_EVENTS_OF_SAMPLE,
                thread_blocks=[number],
            )
        longest = sample.of(trace).paths
        if sample.paths is None or longest is None:
            return trace
        return replace(trace, paths=replace(trace.paths, longest=longest))


def longest_thread_block(trace: Trace, recorded: npt.NDArray[np.int64]) -> int | None:
    """The number of a thread block that issues much more than all `recorded` ones.

    Of several that are about as long the last one, which begins last. None where there is none.
    """
    classes = trace.classes
    issues = classes.warp_issues.sum(axis=1)[classes.of_thread_block]
    most = int(issues.max(initial=0))
    if most <= _MUCH_LONGER * int(issues[recorded].max(initial=0)):
        return None
    return int(np.flatnonzero(issues >= _ABOUT_AS_LONG * most)[-1])


def _has_room(launch: Launch) -> bool:
    return ArgumentSnapshot.bytes_of(launch) <= _MOST_BYTES


def _differ_by_data(kernel: Kernel, launch: Launch, samples: PathSamples) -> bool:
    """Whether data decide how long thread blocks are, of which not all are recorded."""
    found = [item.paths for item in samples.by_width.values()]
    if any(paths is None or len(paths.thread_blocks) >= launch.thread_blocks for paths in found):
        return False
    return (
        launch.cluster_of(kernel) == (1, 1, 1)
        and has_loops(kernel)
        and bool(control_slice(kernel).loads)
    )
