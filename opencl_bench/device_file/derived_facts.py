"""What the curves of a session tell about the device: memory levels, granularities and widths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kernelcast.opencl_bench.fits.access_granularity import line_bytes, sector_bytes
from kernelcast.opencl_bench.fits.cache_sharing import units_sharing_caches
from kernelcast.opencl_bench.fits.detection import Detection, absent
from kernelcast.opencl_bench.fits.local_memory_banks import LocalBanks, local_banks
from kernelcast.opencl_bench.fits.memory_levels import (
    FootprintLevel,
    bandwidth_levels,
    latency_levels,
    value_between,
)
from kernelcast.opencl_bench.fits.plateaus import DISTINCT_RATIO
from kernelcast.opencl_bench.fits.staircase import (
    compute_units,
    wavefront_width,
    width_from_divergence,
)
from kernelcast.opencl_bench.measurement import Curve, Finding, Measurement
from kernelcast.opencl_bench.target import DeviceFacts

__all__ = ["DerivedFacts", "MemoryLevel", "derive_facts"]

_CHASE = "chase_latency_over_footprint"
_READ = "read_bandwidth_over_footprint"
_PRIVATE_READ = "private_read_bandwidth_over_footprint"
_GLOBAL_READ = "global_read_bandwidth"
_STRIDE = "read_bandwidth_over_stride"
_MISALIGNMENT = "read_bandwidth_over_misalignment"
_MISALIGNED_RUN_BYTES = 128
_LOCAL_STRIDE = "local_load_bandwidth_over_stride"
_OVER_WORK_ITEMS = "fp32_multiply_add_throughput_over_work_group_size"
_OVER_DIVERGENCE = "fp32_throughput_over_divergence_run"
_OVER_WORK_GROUPS = "fp32_multiply_add_throughput_over_work_groups"

_CACHE_LATENCY_RATIO = 2.0
"""A larger step is another cache, whatever bandwidth says."""

Findings = Mapping[str, Finding]


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """A cache, or with `capacity_bytes` None the memory behind all caches.

    `latency_s` and `bandwidth_bytes_per_s` are None where no curve shows them; `residual` is the
    relative scatter of the plateau, `method` one sentence of how the level was found.
    """

    capacity_bytes: float | None
    latency_s: float | None
    bandwidth_bytes_per_s: float | None
    residual: float
    method: str


@dataclass(frozen=True, slots=True)
class DerivedFacts:
    """What curves tell of a device.

    `levels` from the fastest on. `sharing`: compute units that share each cache seen by both
    bandwidth curves, in the same order.
    """

    levels: tuple[MemoryLevel, ...]
    line_bytes: Detection
    sector_bytes: Detection
    sharing: tuple[Detection, ...]
    local_banks: Detection
    local_bank_bytes: Detection
    wavefront_width: Detection
    compute_units: Detection


def derive_facts(findings: Findings, facts: DeviceFacts) -> DerivedFacts:
    """Every detector on its curve; what a session did not measure is absent and says so."""
    banks = _local_banks(findings, facts)
    return DerivedFacts(
        levels=_levels(findings),
        line_bytes=_detected(findings, _STRIDE, line_bytes),
        sector_bytes=_detected(findings, _MISALIGNMENT, _sector_bytes),
        sharing=_sharing(findings, facts.compute_units),
        local_banks=banks.count,
        local_bank_bytes=banks.width_bytes,
        wavefront_width=_wavefront_width(findings),
        compute_units=_detected(findings, _OVER_WORK_GROUPS, compute_units),
    )


def _curve(findings: Findings, name: str) -> Curve | None:
    finding = findings.get(name)
    return finding if isinstance(finding, Curve) and finding.points else None


def _detected(findings: Findings, name: str, detect: Callable[[Curve], Detection]) -> Detection:
    curve = _curve(findings, name)
    return detect(curve) if curve is not None else absent(f"{name} was not measured")


def _wavefront_width(findings: Findings) -> Detection:
    """The wavefront's width from divergence, which only its lanes pay; else over size."""
    diverging = _detected(findings, _OVER_DIVERGENCE, width_from_divergence)
    if diverging.is_found:
        return diverging
    steps = _detected(findings, _OVER_WORK_ITEMS, wavefront_width)
    return steps if steps.is_found else absent(f"{diverging.reason}; {steps.reason}")


def _sector_bytes(curve: Curve) -> Detection:
    return sector_bytes(curve, _MISALIGNED_RUN_BYTES)


def _local_banks(findings: Findings, facts: DeviceFacts) -> LocalBanks:
    curve = _curve(findings, _LOCAL_STRIDE)
    if curve is None:
        nothing = absent(f"{_LOCAL_STRIDE} was not measured")
        return LocalBanks(nothing, nothing)
    return local_banks(curve, max(facts.preferred_work_group_multiple, 1))


def _sharing(findings: Findings, units: int) -> tuple[Detection, ...]:
    same, own = _curve(findings, _READ), _curve(findings, _PRIVATE_READ)
    if same is None or own is None:
        missing = [name for name, curve in ((_READ, same), (_PRIVATE_READ, own)) if curve is None]
        return (absent(f"{' and '.join(missing)} was not measured"),)
    return units_sharing_caches(same, own, units)


def _levels(findings: Findings) -> tuple[MemoryLevel, ...]:
    """The memory levels, with capacities from the latency curve.

    No prefetcher and no launch cost blurs it; without one they are from the bandwidth curve.
    """
    chase, read = _curve(findings, _CHASE), _curve(findings, _READ)
    if chase is not None:
        found = latency_levels(chase)
        rates = _level_bandwidths(findings, found)
        levels = [
            MemoryLevel(
                level.capacity_bytes, level.value, rate, level.residual, _method(level, chase)
            )
            for level, rate in zip(found, rates, strict=True)
        ]
        return _without_distances(levels)
    if read is not None:
        return tuple(
            MemoryLevel(
                level.capacity_bytes, None, level.value, level.residual, _method(level, read)
            )
            for level in bandwidth_levels(read)
        )
    return ()


def _without_distances(levels: list[MemoryLevel]) -> tuple[MemoryLevel, ...]:
    """Joins levels that differ a little in latency and not in bandwidth.

    They differ by address translation, or are the far half of one cache. A joined cache has the
    latency of its near part; the memory has that of its far one, which the translation of addresses
    belongs to.
    """
    kept: list[MemoryLevel] = []
    for level in levels:
        if kept and _is_same_level(kept[-1], level):
            near = kept.pop()
            step = f"{near.capacity_bytes:.0f} bytes, a step of latency only"
            level = replace(
                near if level.capacity_bytes is not None else level,
                capacity_bytes=level.capacity_bytes,
                method=f"{level.method}; from {step}",
            )
        kept.append(level)
    return tuple(kept)


def _is_same_level(near: MemoryLevel, far: MemoryLevel) -> bool:
    if near.latency_s is None or far.latency_s is None:
        return False
    if near.bandwidth_bytes_per_s is None or far.bandwidth_bytes_per_s is None:
        return False
    return (
        far.latency_s < _CACHE_LATENCY_RATIO * near.latency_s
        and far.bandwidth_bytes_per_s > near.bandwidth_bytes_per_s / DISTINCT_RATIO
    )


def _level_bandwidths(findings: Findings, levels: tuple[FootprintLevel, ...]) -> list[float | None]:
    """Read bandwidth well inside each level; of the memory the figure of the large arrays."""
    read, memory = _curve(findings, _READ), findings.get(_GLOBAL_READ)
    rates: list[float | None] = []
    above = 0.0
    for level in levels:
        end = level.capacity_bytes
        if end is None and isinstance(memory, Measurement):
            rates.append(memory.value)
        else:
            rates.append(value_between(read, above, end or np.inf) if read is not None else None)
        above = end or above
    return rates


def _method(level: FootprintLevel, curve: Curve) -> str:
    step = f"plateau of {curve.name}, scatter {level.residual:.1%}"
    if level.capacity_bytes is None:
        return f"{step}, to the largest footprint measured"
    return f"{step}; {level.fits_bytes:.0f} bytes fit, {level.capacity_bytes:.0f} are half-way"
