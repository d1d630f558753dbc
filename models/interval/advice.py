"""Why a launch takes its time and what would make it faster: what it gains without its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from kernelcast.models.estimate import Advice
from kernelcast.models.interval.relief import Relief
from kernelcast.models.interval.shares import Share
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.awaited_loads import awaited_loads
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.hot_lines import HotLine, hot_lines
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["REMEDIES", "Explanation", "explanation"]

_MOST_CAUSES = 4
_MOST_LINES = 2
_MOST_REMEDIES = 3
_WHOLE_LAUNCH: Mapping[Component, str] = {
    Component.IMBALANCE: "some SMs run on while others have no thread block left",
    Component.TAIL: "the last wave of thread blocks does not fill the SMs",
    Component.LAUNCH_OVERHEAD: "the launch itself is a notable part",
    Component.ISSUE: "issue slots are used",
}

REMEDIES: Mapping[Component, str] = {
    Component.ISSUE: "fewer instructions: wider accesses, fused operations, loops unrolled",
    Component.FP32: "fewer or fused single-precision operations",
    Component.FP64: "single precision where the algorithm allows it",
    Component.HALF: "fewer half-precision operations, or two of them in one",
    Component.INTEGER: "address arithmetic hoisted out of loops",
    Component.INTEGER_MULTIPLY: "shifts and running sums instead of integer products",
    Component.CONVERSION: "one type throughout, so that fewer values are converted",
    Component.SPECIAL_FUNCTION: "fewer reciprocals, roots and transcendental functions",
    Component.SHUFFLE: "fewer shuffles, more work between them",
    Component.VECTOR: "fewer vector instructions: packed or fused ones, addresses out of loops",
    Component.SCALAR: "fewer scalar instructions: loops unrolled, conditions out of them",
    Component.TENSOR: "a type that tensor units multiply faster, or structured sparsity",
    Component.ARITHMETIC_LATENCY: "more independent operations in each thread, or more warps",
    Component.SHARED_PIPE: "tiling in registers, wider accesses of shared memory",
    Component.SHARED_LATENCY: "loads of shared memory ahead of their use",
    Component.BANK_CONFLICTS: "padded or swizzled rows of shared memory",
    Component.CONSTANT_SERIALISATION: "one constant address for all threads of a warp",
    Component.CONSTANT_LATENCY: "constants loaded ahead of their use",
    Component.TEXTURE: "fewer or narrower texels, nearest ones instead of filtered ones",
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
    Component.TAIL: "a number of thread blocks that fills whole waves, or smaller ones",
    Component.IMBALANCE: "a number of thread blocks that all SMs share equally",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One cause and one advice for each part that holds the launch up, the bottleneck first."""

    causes: tuple[str, ...]
    advice: tuple[Advice, ...]


def explanation(
    kernel: TimedKernel,
    timing: LaunchTiming,
    shares: Mapping[Share, float],
    found: Sequence[Relief],
    factor: float = 1.0,
) -> Explanation:
    """Explains what was `found` to hold the launch up, what has one reason only once.

    Each advice comes with the time of a simulation without its parts, of all launches that `factor`
    stands for.
    """
    places = _Places(kernel, timing, shares)
    causes, advice, told = list[str](), list[Advice](), set[str]()
    for relief in found:
        cause, where = places.of(relief)
        is_new = bool(cause) and cause not in told
        told.add(cause)
        why = f"{cause}{_lines(where)}; " if is_new else ""
        causes.append(f"{relief.name}: {relief.gain_text}" + (f", {cause}" if is_new else ""))
        advice.append(
            Advice(
                what="; ".join(REMEDIES[part] for part in relief.components[:_MOST_REMEDIES]),
                why=f"{why}without {relief.name} {format_seconds(factor * relief.seconds)} instead "
                f"of {format_seconds(factor * relief.total_s)}, {relief.gain:.2f} times as fast",
                gain=relief.gain,
                where=tuple(line.place for line in where),
            )
        )
    return Explanation(tuple(causes[:_MOST_CAUSES]), tuple(advice))


def _lines(lines: Sequence[HotLine]) -> str:
    """Where warps wait; for whose data, where that is another place."""
    if not lines:
        return ""
    places = ", ".join(
        f"{PurePath(line.place).name} ({line.mnemonic}, {line.percent:.0f} %"
        + (f", for {PurePath(line.load).name}" if line.load else "")
        + ")"
        for line in lines
    )
    return f", in percent of all issue slots before {places}"


class _Places:
    """What is waited for, and before which lines of the source most."""

    def __init__(
        self, kernel: TimedKernel, timing: LaunchTiming, shares: Mapping[Share, float]
    ) -> None:
        self._kernel, self._timing, self._shares = kernel, timing, shares
        self._slots = timing.slots.sum(axis=0)
        self._loads = awaited_loads(kernel) if kernel.instructions else {}

    def of(self, relief: Relief) -> tuple[str, tuple[HotLine, ...]]:
        """The cause, and the lines; nothing for parts that only together cost anything."""
        first, *others = relief.components
        if others:
            return "none of them alone saves a third of that", ()
        whole = _WHOLE_LAUNCH.get(first) or _of_all(first, self._kernel, self._timing.device)
        if whole is not None:
            return whole, ()
        shares = [share for share in self._shares if first in share.components]
        if not shares:
            return "", ()
        share = max(shares, key=self._shares.__getitem__)
        reasons = tuple(reason for item in shares for reason in item.reasons)
        return share.meaning, self._hot_lines(reasons)

    def _hot_lines(self, reasons: tuple[StallReason, ...]) -> tuple[HotLine, ...]:
        lines = hot_lines(self._kernel.instructions, self._slots, reasons, self._loads)
        return lines[:_MOST_LINES]


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
