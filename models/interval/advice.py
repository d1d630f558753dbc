"""What would make a launch faster, and by how much: the launch without each costly component."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import TYPE_CHECKING

from kernelcast.models.interval.shares import Share
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.hot_lines import hot_lines
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["REMEDIES", "advice"]

_NOTABLE = 0.02
_MOST_RUNS = 6
"""The most simulations without a part of the machine."""
_MOST_LINES = 2
_WHOLE_LAUNCH: Mapping[Component, str] = {
    Component.IMBALANCE: "some SMs run on while others have no thread block left",
    Component.LAUNCH_OVERHEAD: "the launch itself is a notable part",
}

REMEDIES: Mapping[Component, str] = {
    Component.FP32: "fewer or fused single-precision operations",
    Component.FP64: "single precision where the algorithm allows it",
    Component.HALF: "fewer half-precision operations, or two of them in one",
    Component.INTEGER: "address arithmetic hoisted out of loops",
    Component.INTEGER_MULTIPLY: "shifts and running sums instead of integer products",
    Component.CONVERSION: "one type throughout, so that fewer values are converted",
    Component.SPECIAL_FUNCTION: "fewer reciprocals, roots and transcendental functions",
    Component.SHUFFLE: "fewer shuffles, more work between them",
    Component.TENSOR: "a type that tensor units multiply faster, or structured sparsity",
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
    Component.ATOMICS: "sums of a warp or thread block first, one atomic for each of them",
    Component.BARRIER: "fewer barriers, or smaller thread blocks",
    Component.FENCE: "fewer fences, of the narrowest scope",
    Component.BRANCH: "unrolled loops, selections instead of branches",
    Component.INSTRUCTION_FETCH: "less unrolling: code that fits the instruction cache",
    Component.THREAD_BLOCK_LAUNCH: "fewer thread blocks that do more each",
    Component.LAUNCH_OVERHEAD: "fewer, longer launches",
    Component.UNCOALESCED: "neighbouring threads on neighbouring addresses",
    Component.LOCAL_MEMORY: "no spilt registers, arrays of threads with constant indices only",
    Component.DIVERGENCE: "threads of one warp on one way through the code",
    Component.UNEQUAL_WARPS: "the work between two barriers shared by all warps equally",
    Component.OCCUPANCY: "fewer registers or less shared memory, so that more warps are resident",
    Component.IMBALANCE: "a number of thread blocks that all SMs share equally",
}
_OF_KERNEL = frozenset(
    {
        *(Component.BANK_CONFLICTS, Component.CONSTANT_SERIALISATION, Component.UNCOALESCED),
        *(Component.LOCAL_MEMORY, Component.DIVERGENCE, Component.OCCUPANCY),
        Component.UNEQUAL_WARPS,
    }
)
"""What the kernel does, not what the machine is."""
_MOST_OF_IT = 0.9
"""The factor on what a part of the machine saves, so that hardly smaller remedies come first."""


def advice(
    kernel: TimedKernel, device: Device, timing: LaunchTiming, shares: Mapping[Share, float]
) -> tuple[str, ...]:
    """The remedies that gain most, each with its cause, where warps wait for it.

    Each comes with the time of a simulation without its component; what gains next to nothing is no
    advice.
    """
    from kernelcast.simcore.timing.launch.launch_timing import launch_timing

    costly = _costly(kernel, timing, shares)

    def time_without(component: Component) -> float:
        return launch_timing(kernel, device, frozenset((component,))).seconds

    # The compiled simulator leaves the interpreter to others.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        left = dict(zip(costly, pool.map(time_without, costly), strict=True))
    total_s = timing.seconds
    found = [item for item in costly if left[item] < (1 - _NOTABLE) * total_s]
    return tuple(
        f"{REMEDIES[item]}: {_cause(item, kernel, timing, shares)}; without {item.value} "
        f"{format_seconds(left[item])} instead of {format_seconds(total_s)}, "
        f"{total_s / left[item]:.2f} times as fast"
        for item in sorted(
            found, key=lambda item: _weight(item, total_s - left[item]), reverse=True
        )
    )


def _weight(component: Component, saved_s: float) -> float:
    return saved_s if component in _OF_KERNEL else _MOST_OF_IT * saved_s


def _cause(
    component: Component, kernel: TimedKernel, timing: LaunchTiming, shares: Mapping[Share, float]
) -> str:
    """What is waited for, and before which lines of the source most."""
    whole = _WHOLE_LAUNCH.get(component) or _of_all(component, kernel, timing.device)
    if whole is not None:
        return whole
    share = max((item for item in shares if component in item.components), key=shares.__getitem__)
    slots = timing.slots.sum(axis=0)
    lines = hot_lines(kernel.instructions, slots, _reasons(component, shares))[:_MOST_LINES]
    if not lines:
        return share.meaning
    places = ", ".join(
        f"{PurePath(line.place).name} ({line.mnemonic}, {line.percent:.0f} %)" for line in lines
    )
    return f"{share.meaning}, in percent of all issue slots before {places}"


def _of_all(component: Component, kernel: TimedKernel, device: Device) -> str | None:
    """What is the cause in all of the kernel, None where it has its lines."""
    from kernelcast.simcore.timing.kernel.equal_warps import longest_share
    from kernelcast.simcore.timing.kernel.relieved_kernel import active_lanes, most_resident

    if component is Component.DIVERGENCE:
        lanes = active_lanes(kernel)
        return f"{lanes:.1f} of {kernel.warp_width} threads of a warp take part on average"
    if component is Component.UNEQUAL_WARPS:
        share = longest_share(kernel)
        return f"a mean warp has {share:.0%} of the instructions of the longest of each stage"
    if component is Component.OCCUPANCY:
        warps = kernel.paths.warps_per_thread_block
        most = warps * most_resident(kernel, device)
        return f"{warps * kernel.thread_blocks_per_sm} of {most} warps are resident on an SM"
    return None


def _reasons(component: Component, shares: Mapping[Share, float]) -> tuple[StallReason, ...]:
    return tuple(
        reason for share in shares if component in share.components for reason in share.reasons
    )


def _costly(
    kernel: TimedKernel, timing: LaunchTiming, shares: Mapping[Share, float]
) -> list[Component]:
    """Components of notable shares, the largest first, no more than are worth simulating."""
    from kernelcast.simcore.timing.kernel.relieved_kernel import is_burdened_by

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
    different = list(dict.fromkeys(notable))
    of_machine = [item for item in different if item not in _OF_KERNEL][:_MOST_RUNS]
    of_kernel = [item for item in different if item in _OF_KERNEL]
    return of_machine + [item for item in of_kernel if is_burdened_by(item, kernel, timing.device)]
