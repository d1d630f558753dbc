"""The columns of a sweep's data set, and rows by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.studies.plan import Plan, SweptDevice
from kernelcast.studies.values import Interval, Scalar, Space

__all__ = [
    "CHANGE",
    "LAUNCH",
    "Row",
    "columns_of",
    "device_facts_of",
    "failed_row",
    "label_of",
    "point_row",
    "result_row",
    "text_of",
]

Row: TypeAlias = dict[str, Any]

LAUNCH, CHANGE = "launch.", "set."
"""How columns of launch values and of changed facts begin."""

_POINT = {"point": "int64", "kernel": "string", "launch": "string", "device": "string"}
_BEHIND = {"changes": "string", "model": "string"}
_RESULT = {
    "time_s": "double",
    "time_low_s": "double",
    "time_high_s": "double",
    "bottleneck": "string",
    "dram_bytes": "double",
    "occupancy": "double",
    "sm_count": "int64",
    "clock_hz": "double",
    "l2_bytes": "int64",
    "dram_bandwidth_bytes_per_s": "double",
    "error": "string",
}


def columns_of(plan: Plan) -> dict[str, str]:
    """Names and types of the columns, which are the same in all parts."""
    spaces = [kernel.launches for kernel in plan.kernels]
    launches = {
        name: [space for space in spaces if name in space.names]
        for name in dict.fromkeys(name for space in spaces for name in space.names)
    }
    return {
        **_POINT,
        **{f"{LAUNCH}{name}": _type_of(name, spaces) for name, spaces in launches.items()},
        **{f"{CHANGE}{name}": _type_of(name, [plan.changes]) for name in plan.changes.names},
        **_BEHIND,
        **_RESULT,
    }


def _type_of(name: str, spaces: list[Space]) -> str:
    """`double` where all values are numbers, else `string`."""
    for space in spaces:
        sampled = {} if space.sample is None else space.sample.of
        given = space.axes[name] if name in space.axes else sampled[name]
        if isinstance(given, Interval):
            continue
        if not all(isinstance(item, int | float) and not isinstance(item, bool) for item in given):
            return "string"
    return "double"


def label_of(values: Mapping[str, Scalar]) -> str:
    """`block=64x4, n=1024`; empty for a launch, or a device, as it is."""
    return ", ".join(f"{name}={text_of(value)}" for name, value in values.items())


def text_of(value: Scalar) -> str:
    """A value in few characters: `2e+12`."""
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


def point_row(
    number: int,
    kernel: str,
    values: Mapping[str, Scalar],
    swept: SweptDevice,
    model: str,
) -> Row:
    """What a point is."""
    return {
        "point": number,
        "kernel": kernel,
        "launch": label_of(values),
        "device": swept.base.name,
        **{f"{LAUNCH}{name}": value for name, value in values.items()},
        **{f"{CHANGE}{name}": value for name, value in swept.changes.items()},
        "changes": label_of(swept.changes),
        "model": model,
    }


def result_row(found: Estimate, profile: KernelProfile, device: Device, *, has_range: bool) -> Row:
    """What a model said of a point."""
    occupancy = profile.occupancy
    return {
        "time_s": found.time_s,
        "time_low_s": found.time_low_s if has_range else None,
        "time_high_s": found.time_high_s if has_range else None,
        "bottleneck": found.bottleneck,
        "dram_bytes": profile.traffic.dram_bytes,
        "occupancy": None if occupancy is None else occupancy.fraction,
        **device_facts_of(device),
        "error": None,
    }


def failed_row(reason: str, device: Device | None) -> Row:
    """Why there is no time of a point."""
    return {**({} if device is None else device_facts_of(device)), "error": reason}


def device_facts_of(device: Device) -> Row:
    """The facts that fronts are drawn over."""
    return {
        "sm_count": device.architecture.sm_count,
        "clock_hz": float(device.running_clock_hz),
        "l2_bytes": device.l2.capacity_bytes,
        "dram_bandwidth_bytes_per_s": float(device.dram.bandwidth_bytes_per_s),
    }
