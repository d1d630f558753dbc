"""The details of an estimate as a record: device, launch, rates, memory, slots, instructions."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

from kernelcast.report.details.instructions import instructions_record
from kernelcast.report.details.levels import memory_record, rates_record
from kernelcast.report.details.slots import slots_record, topdown_parts
from kernelcast.report.devices import device_record
from kernelcast.report.records import occupancy_record
from kernelcast.simcore.profile.instruction_use import instruction_use

if TYPE_CHECKING:
    from kernelcast.models.estimate import Estimate
    from kernelcast.simcore.device.device import Device
    from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["details_record", "versions_record"]

_PACKAGES = ("numpy", "llvmlite")


def details_record(estimate: Estimate, profile: KernelProfile, device: Device) -> dict[str, Any]:
    """What an estimate of a profile on a device stands on; docs/report.md has the fields.

    A part is None where the model or the profile does not tell it.
    """
    use = profile.derived(instruction_use)
    account = estimate.account
    return {
        "device": _device(device),
        "launch": _launch(profile),
        "rates": rates_record(estimate, profile, device),
        "memory": memory_record(profile),
        "slots": None if account is None else slots_record(account),
        "topdown": topdown_parts(profile, device, account),
        "mix": [
            {"opcode": row.opcode, "unit": row.unit, "threads": row.thread, "warps": row.warp}
            for row in sorted(profile.mix, key=lambda row: -row.warp)
        ],
        "instructions": None if use is None else instructions_record(use, account),
        "decisive_facts": [fact.name for fact in estimate.decisive_facts],
        "facts": device_record(device)["values"],
    }


def versions_record() -> dict[str, str]:
    """The versions of what made an estimate, by name."""
    return {
        "kernelcast": metadata.version("kernelcast"),
        "Python": platform.python_version(),
        **{name: metadata.version(name) for name in _PACKAGES},
    }


def _device(device: Device) -> dict[str, Any]:
    l1 = device.l1
    return {
        "name": device.name,
        "title": device.title,
        "architecture": device.architecture.name,
        "compute_capability": device.architecture.compute_capability,
        "sm_count": device.architecture.sm_count,
        "clock_hz": device.running_clock_hz,
        "warp_width": device.architecture.warp_width,
        "shared_bytes_per_sm": device.sm.shared_bytes,
        "l1_bytes_per_sm": None if l1 is None else l1.capacity_bytes,
        "l2_bytes": device.l2.capacity_bytes,
        "dram_bytes_per_s": device.dram.bandwidth_bytes_per_s,
        "fp32_flops_per_s": device.peak.fp32_flops_per_s,
        "fp64_flops_per_s": device.peak.fp64_flops_per_s,
    }


def _launch(profile: KernelProfile) -> dict[str, Any]:
    shape = profile.launch
    return {
        "repeats": profile.repeats,
        "grid": None if shape is None else list(shape.grid),
        "thread_block": None if shape is None else list(shape.thread_block),
        "occupancy": occupancy_record(profile),
        "active_lanes": profile.divergence,
    }
