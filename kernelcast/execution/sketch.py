"""A launch as a few of its thread blocks draw it: for an order of variants, not for a time.

Nothing is compiled and no whole launch simulated: paths of a few thread blocks are recorded by the
reference engine, all others are counted, and memory is that of simcore/sampling/sketch.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.errors import LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.memory_simulation import SimulatedDevice, resident_launch
from kernelcast.execution.path_samples import PathSamples
from kernelcast.execution.run_options import RunOptions
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.engine.path_sample import record_paths
from kernelcast.simcore.isa.analysis.slices import address_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.sampling.census import lattice_census
from kernelcast.simcore.sampling.pilot import accesses_of_classes
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import sampled_thread_blocks
from kernelcast.workload.argument_snapshot import ArgumentSnapshot

__all__ = ["sketched_launch"]

_COUNTED = 16
"""Thread blocks that are counted, about."""
_RECORDED = 4
_EVENTS = 1 << 12
"""Events in the path of each warp."""


def sketched_launch(
    kernel: Kernel,
    launch: Launch,
    devices: Sequence[Device],
    widths: Sequence[int],
    options: RunOptions,
) -> KernelTrace:
    """The trace for warps of each width, with the memories of `devices`.

    LaunchError where paths depend on data, or a few thread blocks do not run without the others.
    """
    traces = {width: _trace(kernel, launch, width, options) for width in widths}
    simulated = [
        _memory(kernel, launch, device, traces[device.architecture.warp_width])
        for device in devices
    ]
    return KernelTrace(tuple(traces.values()), simulated=tuple(simulated))


def _trace(kernel: Kernel, launch: Launch, width: int, options: RunOptions) -> Trace:
    from kernelcast.simcore.engine.reference.control_run import ControlRun

    source = ControlRun(kernel, launch, width, options.ends)
    counts = lattice_census(source, launch.grid, _COUNTED, accesses_of_classes).trace
    warps = counts.warps_per_thread_block
    usual = sampled_thread_blocks(counts.thread_blocks, counts.threads_per_thread_block, warps)
    chosen = usual[:: -(-len(usual) // _RECORDED)]
    sample = record_paths(
        kernel,
        launch,
        width,
        options.ends,
        reads_data=not address_slice(kernel).is_static,
        most_events=_EVENTS * warps * len(chosen),
        thread_blocks=chosen.tolist(),
    )
    (trace,) = PathSamples(kernel, {width: sample}).added_to(KernelTrace((counts,))).traces
    if trace.paths is None:
        raise LaunchError(f"this launch cannot be sketched: {trace.no_paths}")
    return trace


def _memory(kernel: Kernel, launch: Launch, device: Device, trace: Trace) -> SimulatedDevice:
    # the compiled memory simulator is slow to import
    from kernelcast.simcore.sampling.sketch import sketched_memory

    assert trace.paths is not None, "a sketch has them"
    resident = resident_launch(kernel, launch, device)
    size = ArgumentSnapshot.bytes_of(launch)
    return SimulatedDevice(device, sketched_memory(trace, trace.paths, resident, size))
