"""What L2 loses of the sectors that thread blocks of one wave use again.

A wave runs its accesses one after the other. Where it touches more than L2 holds, a sector is gone
that two accesses far apart use; one that several thread blocks use in the same access is not. The
hit rate is that of stores that complete a sector, for there, too, all of a distance is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.footprint import last_uses
from kernelcast.models.warpspeed.warpspeed_facts import WarpspeedFacts
from kernelcast.simcore.address.access_steps import (
    add_distinct,
    step_sets,
    steps_by_field,
)
from kernelcast.simcore.address.boxes import families
from kernelcast.simcore.address.waves import GridBox
from kernelcast.simcore.device.device import Device

__all__ = ["WaveLosses", "wave_losses"]

Floats = npt.NDArray[np.float64]

_NOTHING = 1e-3
"""Share of misses below which a reuse is taken to hit."""


@dataclass(frozen=True, slots=True)
class WaveLosses:
    """Sectors of one wave that are read once more, and that are written back once more."""

    loads: float = 0.0
    stores: float = 0.0


def wave_losses(
    bound: BoundKernel,
    wave: tuple[GridBox, ...],
    oversubscription: float,
    l1_hit_shares: Floats,
    device: Device,
    facts: WarpspeedFacts,
) -> WaveLosses:
    """Sectors of a wave that L2 loses before they are used again.

    `oversubscription` of L2 by the wave; `l1_hit_shares` of the loads of a thread, in their order:
    what hits there does not ask L2.
    """
    if 1 - facts.store_hit_rate.at(oversubscription) < _NOTHING:
        return WaveLosses()
    steps = bound.steps
    used, between = _uses(bound, wave, device)
    is_store = np.array([step.is_store for step in steps])
    asks = np.ones(len(steps))
    if len(l1_hit_shares):
        asks[~is_store] -= l1_hit_shares
    later, earlier = np.nonzero(used)
    distance = between[later - 1, earlier] * device.l2.line_bytes / facts.l2_effective_bytes
    lost = 1 - facts.store_hit_rate.at_each(distance)
    again = used[later, earlier] * asks[later]
    loads = again * lost * ~is_store[later]
    stores = again * lost * (is_store[later] & is_store[earlier])
    return WaveLosses(float(loads.sum()), float(stores.sum()))


def _uses(bound: BoundKernel, wave: tuple[GridBox, ...], device: Device) -> tuple[Floats, Floats]:
    """[j, i]: sectors of step j that step i used last; distinct lines of the steps i to j."""
    kernel, steps, units = bound.kernel, bound.steps, (device.l2.sector_bytes, device.l2.line_bytes)
    used, between = (np.zeros((len(steps), len(steps))) for _ in range(2))
    for at in steps_by_field(steps):
        members = [steps[number] for number in at]
        sets = step_sets(members, lambda access: families([access], kernel, wave))
        offset = kernel.field(members[0].access.field).base_alignment_bytes
        sectors, lines = (last_uses(sets, unit, offset) for unit in units)
        used[np.ix_(at, at)] = sectors[:, 1:]
        add_distinct(between, lines, at)
    return used, between
