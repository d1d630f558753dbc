"""Where the issue slots of an SM go: issued, or lost for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelcast.models.interval.shares import SHARES
from kernelcast.models.topdown import IssueSlots, topdown_from_stalls
from kernelcast.report.topdown import part_record
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason

if TYPE_CHECKING:
    from kernelcast.models.slot_account import SlotAccount
    from kernelcast.simcore.device.device import Device
    from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["reason_name", "slots_record", "topdown_parts"]

_MEANINGS = {reason: share.meaning for share in SHARES for reason in share.reasons}
_NO_WARP = (StallReason.IDLE, StallReason.THREAD_BLOCK_LAUNCH)


def reason_name(reason: StallReason) -> str:
    """`long_scoreboard: DRAM queue`, as Nsight Compute calls it, with what we know besides."""
    return f"{reason.ncu}: {reason.detail}" if reason.detail else reason.ncu


def slots_record(account: SlotAccount) -> dict[str, Any]:
    """All slots of one SM in `cycles`: `issued`, and `lost` by reason; cycles of warps likewise.

    The reasons of `lost` come by the slots that they cost, those without any are left out.
    """
    reasons = [
        {
            "reason": reason_name(reason),
            "nvprof": reason.nvprof,
            "meaning": _MEANINGS.get(reason, ""),
            "slots": account.lost(reason),
            "warp_cycles": account.stalled(reason),
        }
        for reason in StallReason
        if account.lost(reason) or account.stalled(reason)
    ]
    return {
        "cycles": account.cycles,
        "slots_per_cycle": account.slots_per_cycle,
        "slots": account.total,
        "issued": account.issued,
        "warp_cycles": int(account.warp_cycles.sum()),
        "lost": sorted(reasons, key=lambda row: -int(row["slots"])),
    }


def topdown_parts(
    profile: KernelProfile, device: Device, account: SlotAccount | None
) -> list[dict[str, Any]] | None:
    """The parts of `kernelcast topdown`: shares of IPC_MAX in percent, three levels."""
    if account is None or not account.cycles:
        return None
    active = 1.0 if profile.divergence is None else profile.divergence
    stalls = {reason: account.stalled(reason) for reason in StallReason if reason not in _NO_WARP}
    slots = IssueSlots(account.cycles, account.issued, account.issued, active, stalls)
    return [part_record(part) for part in topdown_from_stalls(profile.kernel, device, slots).parts]
