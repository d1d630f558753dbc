"""How much of a device's peak rates a launch uses: what a roofline plot shows as one point."""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.models.roofline.ceilings import arithmetic_ceilings, bandwidth_ceilings
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["DRAM", "achieved_shares"]

DRAM = "DRAM"
"""The symbol of the ceiling of DRAM; arithmetic is named by its type, `fp32`."""


def achieved_shares(profile: KernelProfile, device: Device, time_s: float) -> dict[str, float]:
    """Shares of the peaks, 0 to 1, of a profile's launches in `time_s` together.

    `DRAM` of the bandwidth, and one type of arithmetic, the busiest, of its floating-point peak: by
    the ceilings of Williams, Waterman and Patterson's roofline (CACM 52(4), 2009). What the profile
    cannot tell, the kernel does not do, or the device has no peak of is left out.
    """
    found = dict(_shares(profile, device, time_s))
    arithmetic = sorted(found.keys() - {DRAM}, key=lambda name: found[name])
    return {name: found[name] for name in (DRAM, *arithmetic[-1:]) if name in found}


def _shares(profile: KernelProfile, device: Device, time_s: float) -> Iterator[tuple[str, float]]:
    memory = (item for item in bandwidth_ceilings(profile, device) if item.symbol == DRAM)
    arithmetic = (item for item in arithmetic_ceilings(profile, device) if item.unit == "flop")
    for ceiling in (*memory, *arithmetic):
        seconds = ceiling.least_seconds
        if seconds:
            yield ceiling.symbol, profile.repeats * seconds / time_s
