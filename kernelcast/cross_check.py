"""Whether an estimate contradicts the lower bound of another model."""

from __future__ import annotations

from dataclasses import replace

from kernelcast.errors import ModelNotApplicable
from kernelcast.models import ModelOptions, get_model
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.units import format_seconds

__all__ = ["LOWER_BOUND", "contradictions"]

LOWER_BOUND = "roofline"
"""The model whose lowest time nothing can undercut: all at the highest rates, all at once."""
_ROUNDING = 0.02
"""How far below an estimate may be: what is recorded of some thread blocks stands for all."""


def contradictions(
    found: Estimate, profile: KernelProfile, device: Device, options: ModelOptions
) -> tuple[str, ...]:
    """A plain line where the estimate is shorter than the roofline's lower bound; else nothing."""
    if found.model == LOWER_BOUND:
        return ()
    own = ModelOptions(options.work_type, options.utilization)
    moved = replace(profile, traffic=profile.traffic.within_launch)
    try:
        bound = get_model(LOWER_BOUND)(moved, device, own)
    except ModelNotApplicable:
        return ()
    if found.time_s >= (1 - _ROUNDING) * bound.time_low_s:
        return ()
    return (
        f"{found.model} estimates {format_seconds(found.time_s)}, but {LOWER_BOUND} takes at least "
        f"{format_seconds(bound.time_low_s)} ({bound.bottleneck}): one of them is wrong",
    )
