"""The TopDown analysis of a kernel whose warps are simulated on an SM."""

from __future__ import annotations

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.topdown import (
    ApplicationTopDown,
    Invocation,
    IssueSlots,
    KernelTopDown,
    topdown_from_stalls,
)
from kernelcast.simcore.device import Device
from kernelcast.simcore.profile import KernelProfile
from kernelcast.simcore.timing.hot_lines import hot_lines
from kernelcast.simcore.timing.launch_timing import launch_timing

__all__ = ["simulated_topdown"]

_ASSUMPTIONS = (
    "the slots of one SM, until the first SMs have no thread block left",
    "every instruction is issued once: what a replay costs shows as a wait for its pipe",
)


def simulated_topdown(profile: KernelProfile, device: Device) -> ApplicationTopDown:
    """One launch, with its hot lines; the profile is of a trace with the paths of its warps.

    ModelNotApplicable without paths, saying why, or without timing facts of the device.
    """
    if profile.timed is None:
        why = profile.not_timed or "the paths of its warps were not recorded"
        raise ModelNotApplicable(f"kernel {profile.kernel} cannot be simulated: {why}")
    timing = launch_timing(profile.timed, device)
    active = 1.0 if profile.divergence is None else profile.divergence
    slots = IssueSlots(timing.full_cycles, timing.issued, timing.issued, active, timing.stalls)
    result = topdown_from_stalls(profile.kernel, device, slots)
    kernel = KernelTopDown(profile.kernel, (Invocation(result),))
    lines = hot_lines(profile.timed.instructions, timing.slots.sum(axis=0))
    return ApplicationTopDown((kernel,), _ASSUMPTIONS, lines)
