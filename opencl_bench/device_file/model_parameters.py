"""The parameters that each published model needs, from the findings of one session.

What a session did not measure is listed by the finding's name instead of being guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

import numpy as np

from kernelcast.opencl_bench.fits.global_bandwidth import (
    BandwidthPoint,
    GlobalBandwidth,
    fit_global_bandwidth,
)
from kernelcast.opencl_bench.fits.memory_levels import latency_levels
from kernelcast.opencl_bench.fits.parallel_degree import ParallelDegree, fit_parallel_degree
from kernelcast.opencl_bench.fits.saturation import (
    RooflineFit,
    Saturation,
    fit_roofline,
    fit_saturation,
)
from kernelcast.opencl_bench.measurement import Curve, Finding, Measurement, work_item_name
from kernelcast.opencl_bench.memory.parallelism import usual_launch
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES
from kernelcast.opencl_bench.parallel_degree import degree_curve_name, mix_of, share_name
from kernelcast.opencl_bench.target import DeviceFacts

__all__ = [
    "LuoSudaParameters",
    "Parameters",
    "ThesisParameters",
    "ZhangOwensParameters",
    "global_bandwidth_parameters",
    "luo_suda_parameters",
    "mixed_roofline",
    "thesis_parameters",
    "zhang_owens_parameters",
]

Findings = Mapping[str, Finding]
Values = TypeVar("Values", covariant=True)

_THESIS = {
    "fp32_ops_per_s": "fp32_multiply_add_throughput",
    "fp64_ops_per_s": "fp64_multiply_add_throughput",
    "int_ops_per_s": "int32_multiply_add_throughput",
    "add_ops_per_s": "int32_add_throughput",
    "load_store_ops_per_s": "local_load_store_throughput",
}
_THESIS_BANDWIDTHS = (
    "global_read_bandwidth",
    "global_write_bandwidth",
    "global_copy_bandwidth",
)
_INSTRUCTION_CURVE = "fp32_multiply_add_throughput_over_warps"
_SHARED_CURVE = "local_bandwidth_over_warps"
_TYPES = {
    "I": ("fp32_multiply_throughput", 1.0),
    "II": ("fp32_multiply_add_throughput", 2.0),
    "III": ("fp32_native_rsqrt_throughput", 1.0),
    "IV": ("fp64_multiply_add_throughput", 2.0),
}
"""Zhang and Owens, Table 1: a finding of each type, and the operations of one instruction."""

_GLOBAL_CURVES = (
    "read_bandwidth_over_work_groups",
    "read_bandwidth_over_work_group_size",
    "read_bandwidth_over_loads_per_item",
)
_COSTS = {
    "add int": "int32_add_latency",
    "add float": "fp32_add_latency",
    "mul int": "int32_multiply_latency",
    "mul float": "fp32_multiply_latency",
    "div int": "int32_division_latency",
    "div float": "fp32_division_latency",
    "min and max": "int32_compare_latency",
    "and, or, xor, not": "int32_logic_latency",
}
_LOAD = "chase_latency_over_footprint"


@dataclass(frozen=True, slots=True)
class Parameters(Generic[Values]):
    """`values` is None when anything of `missing`, names of findings, is needed for it."""

    values: Values | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThesisParameters:
    """Konstantinidis, Table 4.3: T_SP, T_DP, T_int, T_add, T_ldst per second, B_mem bytes/s."""

    fp32_ops_per_s: float
    fp64_ops_per_s: float
    int_ops_per_s: float
    add_ops_per_s: float
    load_store_ops_per_s: float
    dram_bandwidth_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class ZhangOwensParameters:
    """Figures 2 and 3: warp instructions/s and shared-memory bytes/s over warps of an SM.

    `instructions`: of type II; `type_rates`: saturated warp instructions/s of types I to IV as far
    as measured; `global_sweeps`: bandwidth over thread blocks, threads, transactions.
    """

    instructions: Saturation
    shared: Saturation
    type_rates: Mapping[str, float]
    global_sweeps: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class LuoSudaParameters:
    """Table 1 in clocks, the latency of memory in clocks, and the constants of equations 3 to 5."""

    instruction_clocks: Mapping[str, float]
    memory_clocks: float
    degree: ParallelDegree


def thesis_parameters(findings: Findings) -> Parameters[ThesisParameters]:
    """The parameters of section 4.2.3, of plain work-items where these were measured apart.

    B_mem is the mean of read, write and copy. A device without fp64 has T_DP missing.
    """
    missing = _missing(findings, (*_THESIS.values(), *_THESIS_BANDWIDTHS), Measurement)
    if missing:
        return Parameters(None, missing)
    names = tuple(findings)
    rates = {key: _value(findings, work_item_name(names, name)) for key, name in _THESIS.items()}
    bandwidth = fmean(_value(findings, work_item_name(names, name)) for name in _THESIS_BANDWIDTHS)
    return Parameters(ThesisParameters(**rates, dram_bandwidth_bytes_per_s=bandwidth), ())


def zhang_owens_parameters(findings: Findings, warp_width: int) -> Parameters[ZhangOwensParameters]:
    """Types and sweeps that were not measured are listed, but only the two curves are needed."""
    optional = (
        *_missing(findings, [name for name, _ in _TYPES.values()], Measurement),
        *_missing(findings, _GLOBAL_CURVES, Curve),
    )
    needed = _missing(findings, (_INSTRUCTION_CURVE, _SHARED_CURVE), Curve)
    if needed:
        return Parameters(None, (*needed, *optional))
    instructions = _curve(findings, _INSTRUCTION_CURVE)
    shared = _curve(findings, _SHARED_CURVE)
    rates = {
        kind: _value(findings, name) / (operations * warp_width)
        for kind, (name, operations) in _TYPES.items()
        if name not in optional
    }
    values = ZhangOwensParameters(
        fit_saturation(instructions.x, instructions.y / (2 * warp_width)),
        fit_saturation(shared.x, shared.y),
        rates,
        tuple(_curve(findings, name) for name in _GLOBAL_CURVES if name not in optional),
    )
    return Parameters(values, optional)


def global_bandwidth_parameters(
    findings: Findings, facts: DeviceFacts
) -> Parameters[GlobalBandwidth]:
    """One model of Figure 3 through all three sweeps; ValueError if no bandwidth fits them."""
    missing = _missing(findings, _GLOBAL_CURVES, Curve)
    if missing:
        return Parameters(None, missing)
    usual = usual_launch(facts)
    over_groups, over_sizes, over_loads = (_curve(findings, name) for name in _GLOBAL_CURVES)
    points = [
        *(BandwidthPoint(int(p.x), usual.work_group, usual.loads, p.y) for p in over_groups.points),
        *(BandwidthPoint(usual.groups, int(p.x), usual.loads, p.y) for p in over_sizes.points),
        *(BandwidthPoint(usual.groups, usual.work_group, int(p.x), p.y) for p in over_loads.points),
    ]
    lanes = max(facts.llvm_float_width, 1) if facts.is_cpu else 1
    return Parameters(fit_global_bandwidth(points, WORD_BYTES * lanes, facts.compute_units), ())


def luo_suda_parameters(
    findings: Findings, clock_hz: float, max_warps: int
) -> Parameters[LuoSudaParameters]:
    """Latencies times the clock; a, b, c, d from the measured parallel degrees."""
    mixes = sorted(mix for name in findings if (mix := mix_of(name)) is not None)
    measured = [mix for mix in mixes if isinstance(findings.get(share_name(mix)), Measurement)]
    missing = (
        *_missing(findings, _COSTS.values(), Measurement),
        *_missing(findings, (_LOAD,), Curve),
        *([] if len(measured) > 1 else ["parallel_degree_over_warps_of_mix_* of two mixes"]),
    )
    if missing:
        return Parameters(None, missing)
    clocks = {kind: _value(findings, name) * clock_hz for kind, name in _COSTS.items()}
    memory = _memory_latency(_curve(findings, _LOAD)) * clock_hz
    values = LuoSudaParameters(clocks, memory, _degree(findings, measured, max_warps))
    return Parameters(values, ())


def mixed_roofline(findings: Findings, precision: str) -> Parameters[RooflineFit]:
    """The roofline of the mixed-intensity curve; ValueError if it has no ridge inside."""
    name = f"{precision}_throughput_over_intensity"
    missing = _missing(findings, (name,), Curve)
    if missing:
        return Parameters(None, missing)
    curve = _curve(findings, name)
    positive = curve.x > 0
    return Parameters(fit_roofline(curve.x[positive], curve.y[positive]), ())


def _memory_latency(chase: Curve) -> float:
    """The latency of the level behind all caches, or of the largest footprint."""
    levels = latency_levels(chase)
    if levels and levels[-1].capacity_bytes is None:
        return levels[-1].value
    return float(chase.y[-1])


def _degree(findings: Findings, mixes: list[int], max_warps: int) -> ParallelDegree:
    warps, shares, degrees = [], [], []
    for mix in mixes:
        curve = _curve(findings, degree_curve_name(mix))
        warps.append(curve.x)
        degrees.append(curve.y)
        shares.append(np.full(curve.x.size, _value(findings, share_name(mix))))
    return fit_parallel_degree(
        np.concatenate(warps), np.concatenate(shares), np.concatenate(degrees), max_warps
    )


def _missing(
    findings: Findings, names: Iterable[str], kind: type[Curve] | type[Measurement]
) -> tuple[str, ...]:
    return tuple(name for name in names if not isinstance(findings.get(name), kind))


def _value(findings: Findings, name: str) -> float:
    finding = findings[name]
    assert isinstance(finding, Measurement)
    return finding.value


def _curve(findings: Findings, name: str) -> Curve:
    finding = findings[name]
    assert isinstance(finding, Curve)
    return finding
