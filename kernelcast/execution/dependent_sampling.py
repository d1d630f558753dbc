"""Launches that are executed whole, and whose memory is simulated for a sample of thread blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.memory_simulation import SimulatedDevice, resident_launch
from kernelcast.execution.path_samples import PathSamples
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.memory.contents.cache_contents import FirstContents

if TYPE_CHECKING:
    from kernelcast.execution.run_options import RunOptions

__all__ = ["dependent_launch"]


def dependent_launch(
    kernel: Kernel,
    launch: Launch,
    devices: Sequence[Device],
    options: RunOptions,
    paths: PathSamples,
) -> KernelTrace | None:
    """The trace with exact counts, and the memories of `devices`; buffers are computed.

    None where not even that is a sample: the paths do not tell how much the launch does, warps
    are of several widths, or the grid is too small.
    """
    widths = {device.architecture.warp_width for device in devices}
    if len(widths) != 1 or options.first_contents is not FirstContents.NOTHING:
        return None
    (width,) = widths
    work = paths.work(launch, width)
    if work is None:
        return None
    from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
    from kernelcast.simcore.sampling.recorded_sample import (
        LaunchRows,
        RecordedSample,
        grid_parts,
    )

    warps = -(-launch.threads_per_thread_block // width)
    rows = LaunchRows(instruction_rows(kernel), launch.grid, width, warps, work.accesses)
    samples: list[RecordedSample] = []
    for device in devices:
        sample = RecordedSample.planned(rows, *resident_launch(kernel, launch, device))
        if sample is None:
            return None
        samples.append(sample)
    parts = grid_parts(launch.thread_blocks, [sample.plan for sample in samples])
    compiled = CompiledLaunch(kernel, launch.materialised(), width)
    counts = compiled.run_parts(parts, options.ends, samples, options.progress)
    return KernelTrace(
        (counts,),
        simulated=tuple(
            SimulatedDevice(device, sample.finish(counts))
            for device, sample in zip(devices, samples, strict=True)
        ),
    )
