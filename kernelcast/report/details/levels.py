"""How near a launch comes to each rate of its device, and what it moves between memory levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kernelcast.models.roofline.ceilings import (
    Ceiling,
    arithmetic_ceilings,
    bandwidth_ceilings,
)

if TYPE_CHECKING:
    from kernelcast.models.estimate import Estimate
    from kernelcast.simcore.device.device import Device
    from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["ISSUE", "memory_record", "rates_record"]

ISSUE = "issue"
"""The symbol of the rate at which schedulers issue."""


def rates_record(
    estimate: Estimate, profile: KernelProfile, device: Device
) -> list[dict[str, Any]]:
    """What a launch asks of each part, the highest rate of it, and the share of that rate.

    `work` of one launch in `unit`s, `rate` of them per second; `share` of the rate that the launch
    has in the estimated time. Parts that it does not use, or whose rate nobody knows, are left out.
    """
    time_s = estimate.time_s / profile.repeats
    return [
        {
            "symbol": item.symbol,
            "name": item.name,
            "unit": item.unit,
            "work": item.work,
            "rate": max(item.rate or 0.0, item.highest or 0.0),
            "source": item.source,
            "share": item.least_seconds / time_s,
        }
        for item in _ceilings(profile, device)
        if item.least_seconds
    ]


def _ceilings(profile: KernelProfile, device: Device) -> Iterator[Ceiling]:
    yield _issue(profile, device)
    yield from arithmetic_ceilings(profile, device)
    yield from reversed(list(bandwidth_ceilings(profile, device)))


def _issue(profile: KernelProfile, device: Device) -> Ceiling:
    rate, timing = device.sm.warp_schedulers * device.sm_cycles_per_s, device.timing
    if timing is not None:
        rate *= timing.issues_per_scheduler / timing.issue_cycles
    work = profile.instructions.warp_instructions
    return Ceiling(ISSUE, "issue slots", "instruction", work, rate, "theoretical rate")


def memory_record(profile: KernelProfile) -> dict[str, Any]:
    """What one launch moves at each level, in bytes, with the share of reads that hit there.

    `requested` are the bytes that lanes ask for, `l1` what their sectors hold; L2 and DRAM are
    what goes between SMs and L2, and between L2 and DRAM. None where the profile does not tell.
    """
    traffic, shared = profile.traffic, profile.shared
    size = traffic.sector_bytes
    reads, atomics = traffic.l2_read_sectors, traffic.l2_atomic_sectors
    return {
        "requested": {
            "load_bytes": traffic.requested_load_bytes,
            "store_bytes": traffic.requested_store_bytes,
            "load_requests": traffic.global_load_requests,
            "store_requests": traffic.global_store_requests,
        },
        "l1": {
            "load_bytes": _bytes(size, traffic.global_load_sectors),
            "store_bytes": _bytes(size, traffic.global_store_sectors),
            "read_bytes": _bytes(size, traffic.l1_read_sectors),
            "hit_rate": _share(traffic.l1_hit_sectors, traffic.l1_read_sectors),
        },
        "l2": {
            "read_bytes": _bytes(size, reads),
            "write_bytes": _bytes(size, traffic.l2_write_sectors),
            "atomic_bytes": size * atomics,
            "hit_rate": _share(traffic.l2_read_hit_sectors, reads),
        },
        "dram": {
            "read_bytes": size * traffic.dram_read_transactions,
            "write_bytes": size * traffic.dram_write_transactions,
        },
        "shared": None
        if shared is None
        else {
            "load_requests": shared.load_requests,
            "store_requests": shared.store_requests,
            "passes": shared.load_wavefronts + shared.store_wavefronts,
            "ideal_passes": shared.ideal_wavefronts,
        },
    }


def _bytes(size: int, sectors: float | None) -> float | None:
    return None if sectors is None else size * sectors


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
