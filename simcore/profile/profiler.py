"""Trace x Device -> KernelProfile: what a profiler would have reported of the launch there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.shared_tables import SharedTables
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.memory.simulated_memory import MemoryResult, simulate_memory
from kernelcast.simcore.profile.amd_counts import amd_counts
from kernelcast.simcore.profile.derived import DerivedInputs, ProfileSource
from kernelcast.simcore.profile.instruction_counts import (
    divergence,
    instruction_counts,
    instruction_mix,
)
from kernelcast.simcore.profile.machine_counts import machine_counts
from kernelcast.simcore.profile.memory_profile import hot_spots, memory_traffic, shared_memory_use
from kernelcast.simcore.profile.occupancy import held_share, occupancy
from kernelcast.simcore.profile.profile import KernelProfile, LaunchShape, Occupancy
from kernelcast.simcore.profile.shared_configuration import with_l1_left
from kernelcast.traces.trace import Trace

if TYPE_CHECKING:
    from kernelcast.simcore.memory.hierarchy import SampledCount

__all__ = ["profile"]

_LITTLE = 0.001
_FOUND = {
    FirstContents.EQUAL_LAUNCH: "caches: warm, L2 as an equal launch on the same buffers leaves it",
    FirstContents.LAUNCHES_BEFORE: "caches: kept, L2 as the launches before left it; what the host "
    "copied to since is not there",
}
_TRACERS = {"accel-sim": "Accel-Sim's tracer"}
_OF_COPIES = "host_link."
"""Facts that no launch depends on."""


def profile(
    trace: Trace,
    device: Device,
    repeats: int = 1,
    memory: MemoryResult | None = None,
    tables: SharedTables | None = None,
) -> KernelProfile:
    """One launch of the trace's kernel on `device`; `repeats` launches make up the reported time.

    `tables` are those of the launch, where it is profiled on other devices, too.

    LaunchError when no thread block fits an SM; TraceFormatError when the trace's warp width is not
    the device's.
    """
    if not trace.has_memory and memory is None:
        raise TraceFormatError("the trace holds no memory accesses: execute again and record them")
    _check_width(trace, device)
    launch = LaunchShape(trace.grid, trace.thread_block)
    resident = occupancy(trace.resources, launch, device, held_share(trace))
    if memory is None:
        left = with_l1_left(device, trace.resources, resident)
        memory = simulate_memory(trace, left, resident.thread_blocks_per_sm)
    traffic, wavefronts = memory.traffic, memory.wavefronts
    counts = instruction_counts(trace)
    lacks_units = device.missing_tensor_units(counts.tensor_operations or ())
    return KernelProfile(
        kernel=trace.kernel,
        device=device.name,
        origin=f"{_recording(trace)}, simulated memory",
        instructions=counts,
        traffic=memory_traffic(trace, traffic),
        launch=launch,
        occupancy=resident,
        shared=shared_memory_use(trace, wavefronts),
        repeats=repeats,
        warp_width=device.architecture.warp_width,
        divergence=divergence(trace),
        barrier_stages=len(trace.stage_warp_issues),
        mix=instruction_mix(trace),
        hot_spots=hot_spots(trace, traffic, wavefronts),
        assumptions=_assumptions(device, resident, memory),
        inputs=DerivedInputs(
            partial(ProfileSource, trace, device, memory, tables or SharedTables())
        ),
        not_timed=lacks_units or trace.no_paths,
        code=trace.code,
        machine=machine_counts(trace),
        amd=amd_counts(trace),
        sample_share=None if memory.sample is None else memory.sample.share,
    )


def _check_width(trace: Trace, device: Device) -> None:
    width = device.architecture.warp_width
    if width != trace.warp_width:
        raise TraceFormatError(
            f"the trace has warps of {trace.warp_width} threads but {device.name} has warps of "
            f"{width}: execute the kernel again at that width"
        )


def _recording(trace: Trace) -> str:
    if trace.engine in _TRACERS:
        return f"recorded by {_TRACERS[trace.engine]} on a GPU"
    return f"execution by the {trace.engine} engine"


def _assumptions(device: Device, resident: Occupancy, memory: MemoryResult) -> tuple[str, ...]:
    found = list(memory.notes)
    if memory.found in _FOUND:
        found.append(_FOUND[memory.found])
    sample = memory.sample
    if sample is not None:
        found.append(
            f"memory traffic, from {_percent(sample.share)} of the thread blocks: DRAM reads "
            f"{_reach(sample.dram_reads)}, DRAM writes {_reach(sample.dram_writes)} (sampling "
            "error at 95 % confidence)"
        )
    if resident.registers_assumed:
        found.append(f"registers per thread: {resident.registers_per_thread}, estimated")
    assumed = [fact for fact in device.assumed if not fact.startswith(_OF_COPIES)]
    if assumed:
        found.append(f"of {device.name}, which nobody published: {', '.join(assumed)}")
    return tuple(found)


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= _LITTLE else f"{share:.2%}"


def _reach(count: SampledCount) -> str:
    """Half the confidence interval in percent of the value."""
    if not count.value:
        return "none"
    return f"+-{100 * max(count.high - count.value, count.value - count.low) / count.value:.1f} %"
