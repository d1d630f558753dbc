"""Large launches in seconds: counts of all or some thread blocks, memory from a sample of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelcast.errors import LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.memory_simulation import (
    SimulatedDevice,
    alike,
    resident_launch,
)
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.isa.analysis.cluster_addresses import needs_clusters
from kernelcast.simcore.isa.analysis.slices import data_slice
from kernelcast.simcore.isa.analysis.spin_loops import spin_loops
from kernelcast.simcore.isa.ir.kernel import GRID, Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.sampling.census import Census, lattice_census, lattice_parts
from kernelcast.simcore.sampling.decision import (
    cannot_be_large,
    has_loops,
    most_work,
    why_not_sampled,
    work_of,
)
from kernelcast.simcore.sampling.pilot import accesses_of_classes
from kernelcast.traces.stream import GridPart
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import sampled_thread_blocks

if TYPE_CHECKING:
    from kernelcast.execution.data_source import DataSource
    from kernelcast.execution.path_samples import PathSamples
    from kernelcast.execution.run_options import RunOptions
    from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch
    from kernelcast.simcore.memory.simulated_memory import MemoryResult

__all__ = ["SampledLaunch", "has_few_warps", "is_small", "may_be_sampled", "sampled_launch"]

_PILOT = 64
"""Thread blocks that tell how much work a launch is."""


@dataclass(frozen=True)
class SampledLaunch:
    """The trace, with the memories of devices; `launch` has what its paths are recorded from."""

    trace: KernelTrace
    launch: Launch


def sampled_launch(
    kernel: Kernel,
    launch: Launch,
    devices: Sequence[Device],
    widths: Sequence[int],
    options: RunOptions,
) -> SampledLaunch | None:
    """The trace for warps of each of the rising `widths`, and the memories of `devices`.

    None where the launch is too small for AUTO, or its thread blocks do not run apart from each
    other. The options let it be sampled (`may_be_sampled`).
    """
    traces: list[Trace] = []
    simulated: list[SimulatedDevice] = []
    at = launch
    for width in widths:
        source = _source(kernel, launch, width, options)
        census = None if source is None else _census(source, launch, options)
        if source is None or census is None:
            return None
        traces.append(census.trace)
        chosen = [item for item in devices if item.architecture.warp_width == width]
        resident = [resident_launch(kernel, launch, item) for item in chosen]
        memories = _memories(source, census, resident, options)
        simulated += map(SimulatedDevice, chosen, memories)
        at = _with_paths(source, launch, census.trace, options)
    return SampledLaunch(KernelTrace(tuple(traces), simulated=tuple(simulated)), at)


def _source(
    kernel: Kernel, launch: Launch, width: int, options: RunOptions
) -> SlicedLaunch | DataSource | None:
    """What makes the accesses of any thread blocks; None where each needs what others write."""
    from kernelcast.execution.data_source import DataSource
    from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch

    if why_not_sampled(kernel) is None:
        return SlicedLaunch(kernel, launch, width, options.ends)
    data = data_slice(kernel)
    if data is None:
        return None
    found = DataSource(kernel, launch, width, options.ends, data)
    is_alone = not found.reads_what_is_written(lattice_parts(launch.grid, _PILOT))
    return found if is_alone else None


def _with_paths(
    source: SlicedLaunch | DataSource, launch: Launch, trace: Trace, options: RunOptions
) -> Launch:
    """The launch, with what the thread blocks whose paths are recorded read to find their way."""
    from kernelcast.execution.data_source import DataSource
    from kernelcast.execution.launch_paths import longest_thread_block

    if not isinstance(source, DataSource) or not options.keeps_paths:
        return launch
    threads = launch.threads_per_thread_block
    warps = -(-threads // trace.warp_width)
    recorded = sampled_thread_blocks(launch.thread_blocks, threads, warps)
    longest = longest_thread_block(trace, recorded)
    numbers = recorded.tolist() if longest is None else sorted([*recorded.tolist(), longest])
    source.fill([GridPart(number, number + 1) for number in numbers])
    return source.launch


def _census(
    source: SlicedLaunch | DataSource, launch: Launch, options: RunOptions
) -> Census | None:
    """What all thread blocks do; None where it is little enough to be executed."""
    found = lattice_census(source, launch.grid, _PILOT, accesses_of_classes)
    work = work_of(found.trace)
    if options.sampling is Sampling.AUTO and not work.is_large:
        return None
    if found.share < 1.0 and work.counting_takes_long:
        most = work.thread_blocks_counted
        return lattice_census(source, launch.grid, most, accesses_of_classes)
    return found if found.share == 1.0 else Census(source.counts(options.progress))


def _memories(
    source: SlicedLaunch | DataSource,
    census: Census,
    launches: Sequence[ResidentLaunch],
    options: RunOptions,
) -> list[MemoryResult]:
    """The memories of launches on several devices, those that do alike in one simulation."""
    from kernelcast.simcore.memory.hierarchy import Latencies
    from kernelcast.simcore.sampling.launch_sample import SampledDevice, sample_memories

    is_warm = options.first_contents is FirstContents.EQUAL_LAUNCH
    groups = [[number] for number in range(len(launches))]
    if not is_warm:
        groups = alike(launches, census.trace.instructions)
    devices = [
        SampledDevice(*launches[group[0]], [Latencies.of(launches[n].device) for n in group])
        for group in groups
    ]
    found: dict[int, MemoryResult] = {}
    made = sample_memories(source, census, devices, is_warm)
    for group, results in zip(groups, made, strict=True):
        found |= zip(group, (_with_error(item, census) for item in results), strict=True)
    return [found[number] for number in range(len(launches))]


def _with_error(found: MemoryResult, census: Census) -> MemoryResult:
    """The result with the error of counts that are not of all thread blocks."""
    if census.share == 1.0:
        return found
    error = 196 * census.relative_error
    note = (
        f"counts, from {census.share:.2%} of the thread blocks: +-{error:.1f} % (sampling error "
        "at 95 % confidence)"
    )
    return replace(found, notes=(*found.notes, note))


def _why_executed(kernel: Kernel, options: RunOptions) -> str | None:
    """Half a sentence why everything must be executed; None when it need not be."""
    if options.sampling is Sampling.NEVER:
        return "it is to be exact"
    if options.contents is not None:
        return "the next launch is to find in L2 what all of its thread blocks leave there"
    if options.engine == "reference":
        return "the reference engine executes everything"
    from kernelcast.simcore.engine.jit.runtime.run import can_run
    from kernelcast.simcore.host.llvm import host_supports_vectors

    if needs_clusters(kernel):
        return "thread blocks of a cluster, or copies in bulk, do not run apart from what they do"
    if GRID in kernel.symbols or spin_loops(kernel):
        return "thread blocks wait for each other"
    if not host_supports_vectors() or not can_run(kernel):
        return "only the reference engine runs it, which executes everything"
    return None


def may_be_sampled(kernel: Kernel, options: RunOptions) -> bool:
    """Whether not everything must be executed; LaunchError where a sample is asked for and must."""
    reason = _why_executed(kernel, options)
    if reason is not None and options.sampling in (Sampling.ALWAYS, Sampling.SKETCH):
        raise LaunchError(f"this launch cannot be sampled: {reason}")
    return reason is None


def is_small(
    kernel: Kernel, launch: Launch, widths: Sequence[int], paths: PathSamples | None
) -> bool:
    """Whether paths, or the lack of loops, tell that it is too little work for samples."""
    works = [] if paths is None else [paths.work(launch, each) for each in widths]
    if paths is not None and paths.are_complete:
        return not any(work is None or work.is_large for work in works)
    if has_loops(kernel):
        return has_few_warps(launch, widths)
    threads = launch.threads_per_thread_block
    return not most_work(kernel, launch.thread_blocks, threads, widths[0]).is_large


def has_few_warps(launch: Launch, widths: Sequence[int]) -> bool:
    """Whether so few warps are executed, unless complete paths show that they are much work."""
    warps = launch.thread_blocks * -(-launch.threads_per_thread_block // widths[0])
    return cannot_be_large(warps)
