"""What `[timing]` of a device file cannot say: see docs/devices.md, what is refused.

Each rule yields a dotted key and one sentence, as `contradictions` in `device_checks` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from kernelcast.simcore.device.device import ArchitectureFacts, Device
from kernelcast.simcore.device.timing_facts import TimingFacts

__all__ = ["timing_contradictions"]

_LEVELS = (
    "shared_latency_cycles",
    "l1_latency_cycles",
    "l2_latency_cycles",
    "dram_latency_cycles",
)
"""Latencies from the nearest level to the farthest, which must not decrease."""
_OBSERVED_LEVELS = _LEVELS[1:]
"""Figures of shared memory do not compare: some include the arithmetic of the address."""
_OBSERVED_FACTOR = 1.25
"""Sources of `[observed]` ran at other clocks than that of the file."""
_DUAL_ISSUE = {
    "NVIDIA": re.compile(r"2\.1|[356]\.\d"),
    "AMD": re.compile(r"gfx1[12]\w+"),
}
"""Compute capabilities, by vendor, whose schedulers issue two instructions of one warp together."""

Rule = tuple[str, str]


def timing_contradictions(
    device: Device, observed: Mapping[str, Sequence[float]]
) -> Iterator[Rule]:
    """`observed` holds the figures of `[observed]` by quantity. Nothing without `[timing]`."""
    timing = device.timing
    if timing is None:
        return
    yield from _issue(device, timing)
    yield from _lanes(device, timing)
    yield from _level_order(timing)
    yield from _bandwidths(device, timing)
    yield from _observed_latencies(timing, observed)


def _issue(device: Device, timing: TimingFacts) -> Iterator[Rule]:
    key = "timing.issues_per_scheduler"
    architecture = device.architecture
    if timing.issues_per_scheduler > 2:
        yield key, f"at most 2, got {timing.issues_per_scheduler}"
    elif timing.issues_per_scheduler == 2 and not _may_issue_two(architecture):
        yield key, f"{architecture.vendor} {architecture.compute_capability} has no dual issue"
    issued = device.sm.warp_schedulers * timing.issues_per_scheduler * architecture.warp_width
    if device.sm.fp32_lanes * timing.issue_cycles > issued:
        yield (
            "timing.issue_cycles",
            f"{issued / timing.issue_cycles:g} threads a cycle issue, too few for "
            f"{device.sm.fp32_lanes} lanes",
        )


def _may_issue_two(architecture: ArchitectureFacts) -> bool:
    """True for vendors of which nothing is known."""
    known = _DUAL_ISSUE.get(architecture.vendor)
    return known is None or known.fullmatch(architecture.compute_capability) is not None


def _lanes(device: Device, timing: TimingFacts) -> Iterator[Rule]:
    for name, lanes, pipeline in (
        ("fp32", device.sm.fp32_lanes, timing.fp32),
        ("fp64", device.sm.fp64_lanes, timing.fp64),
    ):
        if lanes and pipeline.lanes != lanes:
            yield f"timing.{name}.lanes", f"{pipeline.lanes:g}, but sm.{name}_lanes is {lanes}"


def _level_order(timing: TimingFacts) -> Iterator[Rule]:
    for nearer, farther in pairwise(_LEVELS):
        first, second = getattr(timing, nearer), getattr(timing, farther)
        if second < first:
            yield f"timing.{farther}", f"{second:g} is below timing.{nearer}, {first:g}"


def _bandwidths(device: Device, timing: TimingFacts) -> Iterator[Rule]:
    for name in ("dram_efficiency", "dram_mixed_efficiency"):
        if getattr(timing, name) > 1.0:
            yield f"timing.{name}", f"a share is at most 1, got {getattr(timing, name):g}"
    attainable = timing.dram_efficiency * device.dram.bandwidth_bytes_per_s
    if timing.l2_bandwidth_bytes_per_s < attainable:
        yield (
            "timing.l2_bandwidth_bytes_per_s",
            f"{timing.l2_bandwidth_bytes_per_s:g} is below the {attainable:g} of the memory",
        )


def _observed_latencies(
    timing: TimingFacts, observed: Mapping[str, Sequence[float]]
) -> Iterator[Rule]:
    for name in _OBSERVED_LEVELS:
        found = observed.get(name, ())
        if not found:
            continue
        value, low, high = getattr(timing, name), min(found), max(found)
        if not low / _OBSERVED_FACTOR <= value <= high * _OBSERVED_FACTOR:
            yield f"timing.{name}", f"{value:g} is far from observed.{name}, {low:g} to {high:g}"
