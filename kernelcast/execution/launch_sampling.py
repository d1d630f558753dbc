"""Large launches in seconds: exact counts from a slice, memory from a sample of thread blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernelcast.errors import LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.memory_simulation import (
    ResidentLaunch,
    SimulatedDevice,
    resident_launch,
)
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.cluster_addresses import needs_clusters
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.memory.cache_contents import FirstContents
from kernelcast.simcore.sampling.plan import FEWEST_THREADS, why_not_sampled
from kernelcast.traces.trace import Trace

if TYPE_CHECKING:
    from kernelcast.execution.run_options import RunOptions
    from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch
    from kernelcast.simcore.memory.simulated_memory import MemoryResult

__all__ = ["sampled_launch"]


def sampled_launch(
    kernel: Kernel,
    launch: Launch,
    devices: Sequence[Device],
    widths: Sequence[int],
    options: RunOptions,
) -> KernelTrace | None:
    """The trace for warps of each of the rising `widths`, and the memories of `devices`.

    None where everything must be executed; LaunchError instead when sampling is ALWAYS.
    """
    reason = _why_not(kernel, launch, options)
    if reason is None:
        traces: list[Trace] = []
        simulated: list[SimulatedDevice] = []
        for width in widths:
            from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch

            sliced = SlicedLaunch(kernel, launch, width, options.ends)
            traces.append(sliced.counts(options.progress))
            for device in devices:
                if device.architecture.warp_width == width:
                    resident = resident_launch(kernel, launch, device)
                    memory = _memory(sliced, traces[-1], resident, options)
                    simulated.append(SimulatedDevice(device, memory))
        return KernelTrace(tuple(traces), simulated=tuple(simulated))
    if options.sampling is Sampling.ALWAYS:
        raise LaunchError(f"this launch cannot be sampled: {reason}")
    return None


def _memory(
    sliced: SlicedLaunch, counts: Trace, resident: ResidentLaunch, options: RunOptions
) -> MemoryResult:
    from kernelcast.simcore.sampling.launch_sample import sample_memory

    is_warm = options.first_contents is FirstContents.EQUAL_LAUNCH
    return sample_memory(sliced, counts, *resident, is_warm)


def _why_not(kernel: Kernel, launch: Launch, options: RunOptions) -> str | None:
    """Half a sentence why everything must be executed; None when it need not be."""
    sampling = options.sampling
    if sampling is Sampling.NEVER:
        return "it is to be exact"
    if options.contents is not None:
        return "the next launch is to find in L2 what all of its thread blocks leave there"
    threads = launch.thread_blocks * launch.threads_per_thread_block
    fewest = 0 if sampling is Sampling.ALWAYS else FEWEST_THREADS
    if threads < fewest:
        return f"{threads:,} threads are fewer than {fewest:,}"
    if options.engine == "reference":
        return "the reference engine executes everything"
    from kernelcast.simcore.engine.jit.runtime.run import can_run
    from kernelcast.simcore.host.llvm import host_supports_vectors

    if needs_clusters(kernel):
        return "thread blocks of a cluster, or copies in bulk, do not run apart from what they do"
    if not host_supports_vectors() or not can_run(kernel):
        return "only the reference engine runs it, which executes everything"
    return why_not_sampled(kernel, threads, fewest)
