"""What of a device decides what a launch does to its memory."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kernelcast.simcore.device.device import Device, PeakThroughput

__all__ = ["MemoryFacts", "memory_facts"]


class MemoryFacts(NamedTuple):
    """Equal for devices whose memories do the same.

    `device` is without what only models read; latencies say how many cycles a miss is on its way.
    Devices that differ in these alone are simulated together.
    """

    device: Device
    l2_latency_cycles: int
    dram_latency_cycles: int


def memory_facts(device: Device) -> MemoryFacts:
    """The facts of a device that the simulation of its memory reads."""
    timing = device.timing
    return MemoryFacts(
        replace(
            device,
            name="",
            title="",
            architecture=replace(device.architecture, clock_hz=1.0, running_clock_hz=None),
            sm=replace(device.sm, fp32_lanes=0, fp64_lanes=0),
            dram=replace(device.dram, bandwidth_bytes_per_s=1.0, capacity_bytes=1),
            constant=replace(device.constant, pass_cycles=1.0),
            peak=PeakThroughput(1.0, 1.0),
            measured=None,
            timing=None,
            tensor=None,
            sections={},
            host_link=None,
            provenance={},
            fitted_on=(),
            curves={},
            ceilings={},
        ),
        0 if timing is None else round(timing.l2_latency_cycles),
        0 if timing is None else round(timing.dram_latency_cycles),
    )
