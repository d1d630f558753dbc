"""Why a component is the bottleneck: the causes that Zhang and Owens list (section 3).

Each has its evidence and says what to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelcast.models.component_throughput.curves import (
    WORD_BYTES,
    ThroughputOverWarps,
    global_bandwidth,
    instruction_throughput,
    shared_bandwidth,
    wavefront_bytes,
)
from kernelcast.models.component_throughput.stage_profile import InstructionType
from kernelcast.models.component_throughput.times import Component, LaunchWork, StageTime, time_of
from kernelcast.simcore.device.device import Device
from kernelcast.units import format_seconds

__all__ = ["Cause", "causes", "next_bottleneck"]

_DENSE = 0.5
"""Share of computations below which a kernel has a low computational density."""
_NOTEWORTHY = 0.1
_EXPENSIVE = (InstructionType.III, InstructionType.IV)


@dataclass(frozen=True, slots=True)
class Cause:
    """What is wrong, how that is seen, and what would help."""

    name: str
    evidence: str
    advice: str

    def __str__(self) -> str:
        return f"{self.name}: {self.evidence}"


def next_bottleneck(times: Sequence[StageTime], removed: Component) -> tuple[Component, float]:
    """What takes most of the time if a component cost nothing, and how much faster that is."""
    rest = {component: 0.0 for component in Component if component is not removed}
    for stage in times:
        left = {component: stage.components[component] for component in rest}
        slowest = max(left, key=lambda item: left[item])
        rest[slowest] += left[slowest]
    without = time_of(times, removed)
    following = max(rest, key=lambda item: rest[item])
    return following, time_of(times) / without if without else float("inf")


def causes(
    times: Sequence[StageTime], work: LaunchWork, device: Device, component: Component
) -> tuple[Cause, ...]:
    """Why the component is the bottleneck, from the stages that it bounds."""
    bound = [stage for stage in times if stage.bottleneck is component]
    match component:
        case Component.INSTRUCTIONS:
            return tuple(_instruction_causes(bound, device))
        case Component.SHARED:
            return tuple(_shared_causes(bound, work, device))
        case Component.GLOBAL:
            return tuple(_global_causes(bound, work, device))


def _instruction_causes(bound: Sequence[StageTime], device: Device) -> Iterator[Cause]:
    issued = sum(stage.stage.warp_instructions for stage in bound)
    density = sum(stage.stage.computations for stage in bound) / issued
    if density < _DENSE:
        yield Cause(
            "low computational density",
            f"{density:.0%} of the warp instructions are floating-point arithmetic",
            "let each thread compute more results, unroll loops, simplify addresses",
        )
    seconds = sum(sum(stage.types) for stage in bound)
    columns = [list(InstructionType).index(kind) for kind in _EXPENSIVE]
    expensive = sum(stage.types[column] for stage in bound for column in columns) / seconds
    if expensive > _NOTEWORTHY:
        yield Cause(
            "expensive instructions",
            f"types III and IV take {expensive:.0%} of the instructions' time",
            "replace special functions and double precision, or compute them less often",
        )
    warps = sum(stage.warps * sum(stage.types) for stage in bound) / seconds
    yield from _few_warps(warps, instruction_throughput(device, InstructionType.II))


def _shared_causes(bound: Sequence[StageTime], work: LaunchWork, device: Device) -> Iterator[Cause]:
    taken = sum(work.wavefronts(stage.stage) for stage in bound)
    ideal = sum(stage.stage.ideal_shared_wavefronts for stage in bound)
    requests = sum(stage.stage.shared_requests for stage in bound)
    least = max(ideal, requests * _least_wavefronts(device))
    if taken > (1 + _NOTEWORTHY) * least:
        yield Cause(
            "bank conflicts",
            f"{taken:.4g} wavefronts where {least:.4g} could do, {taken / least:.2g} times as many",
            "pad arrays or change strides so that lanes fall into different banks",
        )
    computations = sum(stage.stage.computations for stage in bound)
    if computations < requests / _DENSE:
        yield Cause(
            "shared memory traffic of bookkeeping",
            f"{requests:.4g} warp accesses for {computations:.4g} of arithmetic",
            "keep values in registers, let each access serve more arithmetic",
        )
    seconds = sum(stage.shared_s for stage in bound)
    warps = sum(stage.shared_warps * stage.shared_s for stage in bound) / seconds
    yield from _few_warps(warps, shared_bandwidth(device))


def _few_warps(warps: float, curve: ThroughputOverWarps) -> Iterator[Cause]:
    reached = curve.at(warps) / curve.ceiling
    if reached < 1 - _NOTEWORTHY:
        yield Cause(
            "too few warps",
            f"{warps:.3g} warps of an SM at a time reach {reached:.0%} of the throughput of many",
            "use fewer registers and less shared memory, or keep more warps at work",
        )


def _least_wavefronts(device: Device) -> float:
    """Wavefronts of a request of one word for each lane, without conflicts."""
    return device.architecture.warp_width * WORD_BYTES / wavefront_bytes(device)


def _global_causes(bound: Sequence[StageTime], work: LaunchWork, device: Device) -> Iterator[Cause]:
    moved = sum(stage.stage.global_bytes for stage in bound)
    if not moved:
        yield Cause("L2 traffic", "all data come from L2", "reuse them in registers or L1")
        return
    bandwidth = global_bandwidth(device)
    per_thread = moved / (work.thread_blocks * work.threads)
    rate = bandwidth.bytes_per_s(work.thread_blocks, work.threads, per_thread)
    if rate < (1 - _NOTEWORTHY) * bandwidth.peak_bytes_per_s:
        yield Cause(
            "too little parallelism",
            f"{work.thread_blocks} thread blocks of {work.threads} threads, each moving "
            f"{per_thread:.3g} bytes, reach {rate / bandwidth.peak_bytes_per_s:.0%} of the "
            f"bandwidth; {format_seconds(bandwidth.latency_s)} of latency are to be hidden",
            f"launch more threads, in a multiple of {bandwidth.clusters} thread blocks",
        )
    requested = sum(stage.stage.requested_bytes for stage in bound)
    transactions = max(1.0, sum(stage.stage.global_transactions for stage in bound))
    if moved > (1 + _NOTEWORTHY) * requested:
        yield Cause(
            "uncoalesced accesses",
            f"{moved:.4g} bytes are moved for {requested:.4g} that lanes ask for",
            "let neighbouring lanes access neighbouring words",
        )
        yield Cause(
            "large granularity of transactions",
            f"transactions, of {_smallest_transaction(device)} bytes at least, move "
            f"{moved / transactions:.3g} bytes for {requested / transactions:.3g} "
            "that lanes ask for",
            "use whole transactions, interleave or compress the data",
        )


def _smallest_transaction(device: Device) -> int:
    if device.segments is not None:
        return device.segments.min_segment_bytes
    return device.dram.transaction_bytes
