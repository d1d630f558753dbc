"""How far the facts of a device file may be off, and the device at both ends of that."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from kernelcast.simcore.device.device import ArchitectureFacts, Device, MeasuredThroughput
from kernelcast.simcore.device.tensor_facts import TensorFacts
from kernelcast.simcore.device.timing_facts import TimingFacts

__all__ = ["SPREAD", "Ends", "ends", "premises"]

_LATENCY, _RATE = 0.25, 0.1
SPREAD = (
    f"latencies of memory and of a launch {_LATENCY:.0%} shorter and longer, clock and bandwidths "
    f"{_RATE:.0%} higher and lower, as published figures of one GPU differ"
)


@dataclass(frozen=True, slots=True)
class Ends:
    """One device with everything as fast as it may be, and as slow."""

    fast: Device
    slow: Device


def ends(device: Device) -> Ends:
    """The fastest and slowest version of a device with timing facts."""
    return Ends(
        fast=_changed(device, 1 - _LATENCY, 1 + _RATE),
        slow=_changed(device, 1 + _LATENCY, 1 - _RATE),
    )


def premises(device: Device) -> tuple[Device, ...]:
    """The versions of a device of which each is as likely as the device itself.

    Both ends, and those where only the clock of the SMs differs.
    """
    both = ends(device)
    return both.fast, both.slow, _at_clock(device, 1 + _RATE), _at_clock(device, 1 - _RATE)


def _at_clock(device: Device, rate: float) -> Device:
    return replace(
        device,
        architecture=_clocked(device.architecture, rate),
        tensor=None if device.tensor is None else _clocked_tensor(device.tensor, rate),
        measured=None if device.measured is None else _faster(device.measured, rate),
    )


def _changed(device: Device, latency: float, rate: float) -> Device:
    assert device.timing is not None
    dram = replace(device.dram, bandwidth_bytes_per_s=rate * device.dram.bandwidth_bytes_per_s)
    return replace(
        _at_clock(device, rate),
        dram=dram,
        timing=_delayed(device.timing, latency, rate),
    )


def _faster(facts: MeasuredThroughput, rate: float) -> MeasuredThroughput:
    return MeasuredThroughput(**{name: rate * value for name, value in asdict(facts).items()})


def _clocked(facts: ArchitectureFacts, rate: float) -> ArchitectureFacts:
    running = facts.running_clock_hz
    return replace(
        facts,
        clock_hz=rate * facts.clock_hz,
        running_clock_hz=None if running is None else rate * running,
    )


def _clocked_tensor(facts: TensorFacts, rate: float) -> TensorFacts:
    peak = facts.peak_clock_hz
    return replace(facts, peak_clock_hz=None if peak is None else rate * peak)


def _delayed(facts: TimingFacts, latency: float, rate: float) -> TimingFacts:
    return replace(
        facts,
        shared_latency_cycles=latency * facts.shared_latency_cycles,
        l1_latency_cycles=latency * facts.l1_latency_cycles,
        l2_latency_cycles=latency * facts.l2_latency_cycles,
        dram_latency_cycles=latency * facts.dram_latency_cycles,
        launch_overhead_s=latency * facts.launch_overhead_s,
        l2_bandwidth_bytes_per_s=rate * facts.l2_bandwidth_bytes_per_s,
    )
