"""What no GPU can be: values of a device file that contradict each other or physical order.

Each rule yields the dotted key that is to blame and one sentence; docs/devices.md lists the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kernelcast.simcore.device.device import SEGMENT_RULES, CacheFacts, Device, Provenance
from kernelcast.simcore.device.tensor_checks import tensor_contradictions
from kernelcast.simcore.device.timing_checks import timing_contradictions

__all__ = [
    "DEVICE_NAME",
    "QUANTITIES",
    "Contradiction",
    "Observation",
    "contradictions",
    "is_quantity",
]

DEVICE_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names of devices that come with kernelcast, as a full match."""

LATENCIES = (
    "l1_latency_cycles",
    "shader_array_latency_cycles",
    "l2_latency_cycles",
    "far_l2_latency_cycles",
    "last_level_latency_cycles",
    "dram_latency_cycles",
)
"""Latencies from the nearest level to the farthest, which must not decrease."""
READ_BANDWIDTHS = (
    "l1_read_bandwidth_bytes_per_s",
    "l2_read_bandwidth_bytes_per_s",
    "last_level_read_bandwidth_bytes_per_s",
    "dram_read_bandwidth_bytes_per_s",
)
"""Read bandwidths from the nearest level to the farthest, which must not increase."""
DRAM_BANDWIDTHS = (
    "dram_read_bandwidth_bytes_per_s",
    "dram_write_bandwidth_bytes_per_s",
    "dram_scale_bandwidth_bytes_per_s",
    "dram_copy_bandwidth_bytes_per_s",
    "dram_triad_bandwidth_bytes_per_s",
)
QUANTITIES = frozenset(
    (
        *LATENCIES,
        *READ_BANDWIDTHS,
        *DRAM_BANDWIDTHS,
        "shared_latency_cycles",
        "shared_bandwidth_bytes_per_s",
        "l2_write_bandwidth_bytes_per_s",
        "l2_scale_bandwidth_bytes_per_s",
        "l2_triad_bandwidth_bytes_per_s",
        "launch_overhead_s",
    )
)
"""What `[observed]` may hold about the levels of the memory. Each name ends with its unit."""
_LEVELS = ("shared_", "l1_", "shader_array_", "l2_", "far_l2_", "last_level_", "dram_")
_OTHER_QUANTITY = re.compile(
    r"[a-z][a-z0-9]*(_[a-z0-9]+)*_(ops_per_s|bytes_per_s|bytes|cycles|s|hz|count|ratio)"
)
"""Other figures: latency of an operation, cost of a barrier, bandwidth of a transfer."""

_ABOVE_NOMINAL_CLOCK = 1.1
"""Boards may run this much above the clock in their file (GTX 1060: 4610 of 4373 Gflop/s)."""
_PEAK_FACTOR = 2.0
_POWERS_OF_TWO = (
    "architecture.warp_width",
    "shared.bank_bytes",
    "constant.word_bytes",
    "dram.transaction_bytes",
    "l1.line_bytes",
    "l1.sector_bytes",
    "l2.line_bytes",
    "l2.sector_bytes",
    "segments.request_threads",
    "segments.min_segment_bytes",
)
_PLAUSIBLE: dict[str, tuple[float, float, str]] = {
    "architecture.clock_hz": (5e7, 1e10, "Hz"),
    "architecture.sm_count": (1, 4096, "SMs"),
    "sm.shared_bytes": (1 << 10, 1 << 20, "bytes"),
    "l1.capacity_bytes": (1 << 10, 1 << 21, "bytes"),
    "l2.capacity_bytes": (1, 1 << 30, "bytes"),
    "dram.bandwidth_bytes_per_s": (1e8, 1e14, "bytes per second"),
    "dram.capacity_bytes": (1 << 26, 1 << 42, "bytes"),
    "segments.min_segment_bytes": (4, 128, "bytes"),
}
"""Ranges wide enough for every GPU since 2006 and for OpenCL processors: they catch wrong units."""


class Contradiction(NamedTuple):
    """A value, by its dotted key, and what is wrong with it."""

    key: str
    message: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One published figure.

    `quantity` is one of QUANTITIES; the reference names the method and the access pattern, without
    which figures of one quantity cannot be compared.
    """

    quantity: str
    value: float
    provenance: Provenance


def is_quantity(name: str) -> bool:
    """Whether `[observed]` may hold a quantity of that name.

    What begins with a level of the memory is a closed list, because figures of one level must be
    comparable; others only have to end with their unit.
    """
    if name in QUANTITIES:
        return True
    return not name.startswith(_LEVELS) and _OTHER_QUANTITY.fullmatch(name) is not None


def contradictions(
    device: Device, observations: Sequence[Observation] = ()
) -> Iterator[Contradiction]:
    """All that is wrong with a device, in no order of importance; nothing for a possible one."""
    yield from _occupancy_limits(device)
    if device.l1 is not None:
        yield from _cache("l1", device.l1)
    yield from _cache("l2", device.l2)
    yield from _segments(device)
    yield from _ranges(device)
    yield from _capacity_order(device)
    yield from _peaks(device)
    yield from _measured(device)
    yield from _latency_order(observations)
    yield from _bandwidth_order(device, observations)
    figures = {
        quantity: [item.value for item in observations if item.quantity == quantity]
        for quantity in LATENCIES
    }
    yield from (Contradiction(*rule) for rule in timing_contradictions(device, figures))
    highest: dict[str, float] = {}
    for item in observations:
        highest[item.quantity] = max(item.value, highest.get(item.quantity, 0.0))
    yield from (Contradiction(*rule) for rule in tensor_contradictions(device, highest))


def _occupancy_limits(device: Device) -> Iterator[Contradiction]:
    sm, width = device.sm, device.architecture.warp_width
    if sm.max_threads > sm.max_warps * width:
        yield Contradiction("sm.max_warps", f"too few for {sm.max_threads} threads")
    if sm.max_threads < sm.max_warps * width:
        yield Contradiction("sm.max_warps", f"{width} threads each are more than sm.max_threads")
    if sm.max_threads_per_thread_block > sm.max_threads:
        yield Contradiction("sm.max_threads_per_thread_block", "more than sm.max_threads")
    if sm.max_shared_bytes_per_thread_block > sm.shared_bytes:
        yield Contradiction("sm.max_shared_bytes_per_thread_block", "more than sm.shared_bytes")
    if sm.shared_bytes % sm.shared_allocation_bytes:
        yield Contradiction("sm.shared_allocation_bytes", "does not divide sm.shared_bytes")
    if sm.registers % sm.register_allocation_unit:
        yield Contradiction("sm.register_allocation_unit", "does not divide sm.registers")
    if sm.max_registers_per_thread * width > sm.registers:
        yield Contradiction("sm.max_registers_per_thread", "one warp exceeds sm.registers")
    if sm.max_thread_blocks > sm.max_warps:
        yield Contradiction("sm.max_thread_blocks", "more than sm.max_warps")


def _ranges(device: Device) -> Iterator[Contradiction]:
    for key, (low, high, unit) in _PLAUSIBLE.items():
        value = _value(device, key)
        if value is not None and not low <= value <= high:
            yield Contradiction(key, f"{value:g} {unit} is outside of {low:g} to {high:g}")
    for key in _POWERS_OF_TWO:
        value = _value(device, key)
        if value is not None and int(value).bit_count() != 1:
            yield Contradiction(key, f"must be a power of two, got {value}")


def _value(device: Device, key: str) -> int | float | None:
    """None for a section that the device lacks."""
    section, _, name = key.partition(".")
    facts = getattr(device, section)
    return None if facts is None else getattr(facts, name)


def _cache(name: str, facts: CacheFacts) -> Iterator[Contradiction]:
    if facts.line_bytes % facts.sector_bytes:
        yield Contradiction(f"{name}.sector_bytes", f"does not divide {name}.line_bytes")
    if facts.capacity_bytes % (facts.line_bytes * facts.ways):
        yield Contradiction(f"{name}.ways", "lines and ways do not divide the capacity")


def _segments(device: Device) -> Iterator[Contradiction]:
    """Finds facts that only the coalescing of compute capability 1.x has, or that it lacks."""
    makes_segments = device.coalescing in SEGMENT_RULES
    if makes_segments and device.segments is None:
        rule = device.coalescing.value
        yield Contradiction("segments", f"section is missing, for coalescing by {rule}")
    if device.segments is not None and not makes_segments:
        yield Contradiction("coalescing", f"{device.coalescing.value}, but there are [segments]")
    if makes_segments and device.l2.caches_global_loads:
        yield Contradiction("l2.caches_global_loads", "segments go to memory through no cache")


def _capacity_order(device: Device) -> Iterator[Contradiction]:
    if device.l1 is not None and device.l1.capacity_bytes > device.l2.capacity_bytes:
        yield Contradiction("l1.capacity_bytes", "more than l2.capacity_bytes")
    if device.l2.capacity_bytes > device.dram.capacity_bytes:
        yield Contradiction("l2.capacity_bytes", "more than dram.capacity_bytes")


def _flops_of_lanes(device: Device, lanes: int) -> float:
    """A multiply-add for each lane and cycle, at the clock of the file."""
    return 2.0 * lanes * device.architecture.sm_count * device.architecture.clock_hz


def _peaks(device: Device) -> Iterator[Contradiction]:
    for name, lanes, peak in (
        ("fp32", device.sm.fp32_lanes, device.peak.fp32_flops_per_s),
        ("fp64", device.sm.fp64_lanes, device.peak.fp64_flops_per_s),
    ):
        expected = _flops_of_lanes(device, lanes)
        if not expected / _PEAK_FACTOR <= peak <= expected * _PEAK_FACTOR:
            yield Contradiction(
                f"peak.{name}_flops_per_s",
                f"{peak:g}, but {lanes} lanes of each SM at architecture.clock_hz give "
                f"{expected:g}",
            )
    if device.peak.fp64_flops_per_s > device.peak.fp32_flops_per_s:
        yield Contradiction("peak.fp64_flops_per_s", "more than peak.fp32_flops_per_s")


def _measured(device: Device) -> Iterator[Contradiction]:
    """Finds what was measured above the peak: the higher of the nominal one and lanes x clock."""
    measured, peak, sm = device.measured, device.peak, device.sm
    if measured is None:
        return
    single = max(peak.fp32_flops_per_s, _flops_of_lanes(device, sm.fp32_lanes))
    double = max(peak.fp64_flops_per_s, _flops_of_lanes(device, sm.fp64_lanes))
    words = device.shared.banks * device.architecture.sm_count * device.architecture.clock_hz
    for name, value, limit in (
        ("fp32_ops_per_s", measured.fp32_ops_per_s, single),
        ("fp64_ops_per_s", measured.fp64_ops_per_s, double),
        ("int_ops_per_s", measured.int_ops_per_s, single),
        ("add_ops_per_s", measured.add_ops_per_s, single / 2),
        ("load_store_ops_per_s", measured.load_store_ops_per_s, words),
    ):
        if value > _ABOVE_NOMINAL_CLOCK * limit:
            yield Contradiction(f"measured.{name}", f"{value:g} is above the peak of {limit:g}")
    bandwidth = measured.dram_bandwidth_bytes_per_s
    if bandwidth > device.dram.bandwidth_bytes_per_s:
        yield Contradiction(
            "measured.dram_bandwidth_bytes_per_s",
            f"{bandwidth:g} is above the peak of {device.dram.bandwidth_bytes_per_s:g}",
        )


def _latency_order(observations: Sequence[Observation]) -> Iterator[Contradiction]:
    """Compares the lowest figure of each level: methods and clocks differ, the order does not."""
    nearer: Observation | None = None
    for quantity in LATENCIES:
        found = [item for item in observations if item.quantity == quantity]
        if not found:
            continue
        lowest = min(found, key=lambda item: item.value)
        if nearer is not None and lowest.value <= nearer.value:
            yield Contradiction(
                f"observed.{quantity}",
                f"{lowest.value:g} is not above {nearer.quantity}, {nearer.value:g}",
            )
        nearer = lowest


def _bandwidth_order(
    device: Device, observations: Sequence[Observation]
) -> Iterator[Contradiction]:
    nearer: Observation | None = None
    for quantity in READ_BANDWIDTHS:
        found = [item for item in observations if item.quantity == quantity]
        if not found:
            continue
        highest = max(found, key=lambda item: item.value)
        if nearer is not None and highest.value >= nearer.value:
            yield Contradiction(
                f"observed.{quantity}",
                f"{highest.value:g} is not below {nearer.quantity}, {nearer.value:g}",
            )
        nearer = highest
    yield from _above_peak(device, observations)


def _above_peak(device: Device, observations: Sequence[Observation]) -> Iterator[Contradiction]:
    """Bandwidths above what the DRAM's interface or the banks of shared memory can deliver."""
    shared = device.shared
    banks = float(shared.banks * shared.bank_bytes * device.architecture.sm_count)
    limit = _ABOVE_NOMINAL_CLOCK * banks * device.architecture.clock_hz
    for item in observations:
        if item.quantity == "shared_bandwidth_bytes_per_s" and item.value > limit:
            yield Contradiction(
                f"observed.{item.quantity}",
                f"{item.value:g} is above what the banks give, {limit:g}",
            )
    peak = device.dram.bandwidth_bytes_per_s
    for item in observations:
        if item.quantity in DRAM_BANDWIDTHS and item.value > peak:
            yield Contradiction(
                f"observed.{item.quantity}", f"{item.value:g} is above the peak of {peak:g}"
            )
