"""What would make a launch faster, and by how much: the launch without each costly component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kernelcast.models.interval_shares import Share
from kernelcast.simcore.device import Device
from kernelcast.simcore.timing.component import Component
from kernelcast.simcore.timing.timed_kernel import TimedKernel
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.simcore.timing.launch_timing import LaunchTiming

__all__ = ["REMEDIES", "advice"]

_NOTABLE = 0.02
_MOST_RUNS = 6

REMEDIES: Mapping[Component, str] = {
    Component.FP32: "fewer or fused single-precision operations",
    Component.FP64: "single precision where the algorithm allows it",
    Component.HALF: "fewer half-precision operations, or two of them in one",
    Component.INTEGER: "address arithmetic hoisted out of loops",
    Component.INTEGER_MULTIPLY: "shifts and running sums instead of integer products",
    Component.CONVERSION: "one type throughout, so that fewer values are converted",
    Component.SPECIAL_FUNCTION: "fewer reciprocals, roots and transcendental functions",
    Component.SHUFFLE: "fewer shuffles, more work between them",
    Component.ARITHMETIC_LATENCY: "more independent operations in each thread, or more warps",
    Component.SHARED_PIPE: "tiling in registers, wider accesses of shared memory",
    Component.SHARED_LATENCY: "loads of shared memory ahead of their use",
    Component.BANK_CONFLICTS: "padded or swizzled rows of shared memory",
    Component.CONSTANT_SERIALISATION: "one constant address for all threads of a warp",
    Component.CONSTANT_LATENCY: "constants loaded ahead of their use",
    Component.L1_BANDWIDTH: "neighbouring threads on neighbouring addresses, wider accesses",
    Component.L2_BANDWIDTH: "more reuse in L1 or shared memory",
    Component.DRAM_BANDWIDTH: "reuse of data on chip, smaller types",
    Component.MEMORY_LATENCY: "loads ahead of their use, or more of them on their way",
    Component.OUTSTANDING_REQUESTS: "fewer sectors for the same data: coalesced accesses",
    Component.BARRIER: "fewer barriers, or smaller thread blocks",
    Component.FENCE: "fewer fences, of the narrowest scope",
    Component.BRANCH: "unrolled loops, selections instead of branches",
    Component.INSTRUCTION_FETCH: "less unrolling: code that fits the instruction cache",
    Component.THREAD_BLOCK_LAUNCH: "fewer thread blocks that do more each",
    Component.LAUNCH_OVERHEAD: "fewer, longer launches",
    Component.IMBALANCE: "a number of thread blocks that all SMs share equally",
}


def advice(
    kernel: TimedKernel, device: Device, timing: LaunchTiming, shares: Mapping[Share, float]
) -> tuple[str, ...]:
    """The remedies that gain most, each with the time of a simulation without its component."""
    from kernelcast.simcore.timing.launch_timing import launch_timing

    total_s = timing.seconds
    found = []
    for component in _costly(timing, shares):
        left_s = launch_timing(kernel, device, frozenset((component,))).seconds
        if left_s < (1 - _NOTABLE) * total_s:
            found.append((left_s, component))
    found.sort(key=lambda item: item[0])
    return tuple(
        f"{REMEDIES[component]}: without {component.value} {format_seconds(left_s)} instead of "
        f"{format_seconds(total_s)}, {total_s / left_s:.2f} times as fast"
        for left_s, component in found
    )


def _costly(timing: LaunchTiming, shares: Mapping[Share, float]) -> list[Component]:
    """Components of notable shares, the largest first, no more than are worth simulating."""
    weights = [
        (seconds, component) for share, seconds in shares.items() for component in share.components
    ]
    imbalance_s = timing.device.seconds(timing.scale * timing.imbalance_cycles)
    weights += [
        (imbalance_s, Component.IMBALANCE),
        (timing.overhead_s, Component.LAUNCH_OVERHEAD),
    ]
    weights.sort(key=lambda item: -item[0])
    notable = [component for seconds, component in weights if seconds > _NOTABLE * timing.seconds]
    return list(dict.fromkeys(notable))[:_MOST_RUNS]
