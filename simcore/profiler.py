"""Trace x Device -> KernelProfile: what a profiler would have reported of the launch there."""

from __future__ import annotations

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device import Device
from kernelcast.simcore.instruction_counts import (
    divergence,
    instruction_counts,
    instruction_mix,
)
from kernelcast.simcore.memory.pattern_wavefronts import pattern_wavefronts
from kernelcast.simcore.memory.stream import simulate_traffic
from kernelcast.simcore.memory_profile import hot_spots, memory_traffic, shared_memory_use
from kernelcast.simcore.occupancy import occupancy
from kernelcast.simcore.profile import KernelProfile, LaunchShape, Occupancy
from kernelcast.traces.trace import Trace

__all__ = ["profile"]


def profile(trace: Trace, device: Device, repeats: int = 1) -> KernelProfile:
    """One launch of the trace's kernel on `device`; `repeats` launches make up the reported time.

    LaunchError when no thread block fits an SM; TraceFormatError when the trace's warp width is not
    the device's. A trace of half the width is taken, under a stated assumption.
    """
    if not trace.has_memory:
        raise TraceFormatError("the trace holds no memory accesses: execute again and record them")
    pairing = _warps_per_device_warp(trace, device)
    launch = LaunchShape(trace.grid, trace.thread_block)
    resident = occupancy(trace.resources, launch, device)
    traffic = simulate_traffic(trace, device, resident.thread_blocks_per_sm)
    wavefronts = pattern_wavefronts(trace, device)
    return KernelProfile(
        kernel=trace.kernel,
        device=device.name,
        origin=f"execution by the {trace.engine} engine, simulated memory",
        instructions=instruction_counts(trace, pairing),
        traffic=memory_traffic(trace, traffic, pairing),
        launch=launch,
        occupancy=resident,
        shared=shared_memory_use(trace, wavefronts, pairing),
        repeats=repeats,
        warp_width=device.architecture.warp_width,
        divergence=divergence(trace, pairing),
        barrier_stages=len(trace.stage_warp_issues),
        mix=instruction_mix(trace, pairing),
        hot_spots=hot_spots(trace, traffic, wavefronts, pairing),
        assumptions=_assumptions(trace, device, resident, pairing),
    )


def _warps_per_device_warp(trace: Trace, device: Device) -> int:
    width = device.architecture.warp_width
    if width not in (trace.warp_width, 2 * trace.warp_width):
        raise TraceFormatError(
            f"the trace has warps of {trace.warp_width} threads but {device.name} has warps of "
            f"{width}: execute the kernel again at that width"
        )
    return width // trace.warp_width


def _assumptions(
    trace: Trace, device: Device, resident: Occupancy, pairing: int
) -> tuple[str, ...]:
    found = []
    if pairing > 1:
        found.append(
            f"a warp of {device.architecture.warp_width} accesses memory as {pairing} warps of "
            f"{trace.warp_width} do"
        )
        if trace.classes.paired_issues is None:
            found.append("pairs of warps take the same path: warp-level counts are halved")
    if resident.registers_assumed:
        found.append(f"registers per thread: {resident.registers_per_thread}, estimated")
    if device.assumed:
        found.append(f"of {device.name}, which nobody published: {', '.join(device.assumed)}")
    return tuple(found)
