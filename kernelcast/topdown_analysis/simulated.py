"""The TopDown analysis of a kernel whose warps are simulated on an SM."""

from __future__ import annotations

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.interval.relief import reliefs
from kernelcast.models.topdown import (
    ApplicationTopDown,
    Invocation,
    IssueSlots,
    KernelTopDown,
    topdown_from_stalls,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps, walk_tables
from kernelcast.simcore.timing.kernel.awaited_loads import awaited_loads
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.launch.hot_lines import hot_lines
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing

__all__ = ["simulated_topdown"]

_ASSUMPTIONS = (
    "one SM, until the first SMs have no thread block left",
    "lost slots are divided as its warps were stalled in each cycle, as profilers sample them",
    "every instruction is issued once: what a replay costs shows as a wait for its pipe",
)
_NO_WARP = (StallReason.IDLE, StallReason.THREAD_BLOCK_LAUNCH)
_NOTABLE = 0.005


def simulated_topdown(profile: KernelProfile, device: Device) -> ApplicationTopDown:
    """One launch, with its hot lines; the profile is of a trace with the paths of its warps.

    ModelNotApplicable without paths, saying why, or without timing facts of the device.
    """
    timed = profile.derived(timed_warps)
    if timed is None:
        why = profile.not_timed or "the paths of its warps were not recorded"
        raise ModelNotApplicable(f"kernel {profile.kernel} cannot be simulated: {why}")
    tables = profile.derived(walk_tables)
    timing = launch_timing(timed, device, tables=tables)
    active = 1.0 if profile.divergence is None else profile.divergence
    stalls = {why: cycles for why, cycles in timing.warp_stalls.items() if why not in _NO_WARP}
    slots = IssueSlots(timing.full_cycles, timing.issued, timing.issued, active, stalls)
    result = topdown_from_stalls(profile.kernel, device, slots)
    kernel = KernelTopDown(profile.kernel, (Invocation(result),))
    lines = hot_lines(timed.instructions, timing.warp_cycles, loads=awaited_loads(timed))
    first = reliefs(timed, device, timing, tables=tables)[0]
    return ApplicationTopDown(
        (kernel,),
        (*_ASSUMPTIONS, *_without_warp(timing)),
        lines,
        f"{first.name}: {first.gain_text}",
    )


def _without_warp(timing: LaunchTiming) -> tuple[str, ...]:
    """The share of the lost slots that no warp caused, which profilers do not tell."""
    slots = int(timing.slots.sum())
    empty = sum(timing.lost(reason) for reason in _NO_WARP)
    if empty <= _NOTABLE * slots:
        return ()
    return (f"{empty / slots:.0%} of the slots had no warp: they are divided like the others",)
