"""Model `roofline`: Williams, Waterman, Patterson, CACM 52(4), 2009.

Attainable flop/s = min(peak flop/s, peak DRAM bandwidth x operational intensity), with theoretical
peaks: a lower bound of the time.
"""

from __future__ import annotations

import math

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Combine, Estimate, Parameter, Term
from kernelcast.models.model import ModelOptions, dominant_work_type, launch_validity
from kernelcast.simcore.device import Device
from kernelcast.simcore.profile import KernelProfile, WorkType
from kernelcast.units import format_seconds

__all__ = ["NAME", "roofline"]

NAME = "roofline"
_BASIS = (
    "the roofline is a lower bound of the time; the upper end adds both terms, as if arithmetic "
    "and DRAM traffic never overlapped, still at peak rates"
)


def roofline(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """ModelNotApplicable for integer work (no peak to compare with) and for no work at all."""
    if options.work_type is WorkType.INT:
        raise ModelNotApplicable(f"{NAME} has no integer peak to compare with")
    work_type = options.work_type or dominant_work_type(profile)
    flops = profile.repeats * _flops(profile, work_type)
    traffic_bytes = profile.repeats * profile.traffic.dram_bytes
    if not flops and not traffic_bytes:
        raise ModelNotApplicable(
            f"kernel {profile.kernel} has neither floating-point operations nor DRAM traffic"
        )
    is_double = work_type is WorkType.FP64
    peak = device.peak.fp64_flops_per_s if is_double else device.peak.fp32_flops_per_s
    if not peak:
        raise ModelNotApplicable(f"{device.name} has no {work_type.value} operations")
    factor = 1.0 if options.utilization is None else options.utilization
    memory_s = factor * traffic_bytes / device.dram.bandwidth_bytes_per_s
    compute_s = factor * flops / peak
    terms = _terms(memory_s, compute_s, options.utilization)
    return Estimate(
        kernel=profile.kernel,
        device=device.name,
        model=NAME,
        terms=terms,
        bottleneck=(
            "memory: DRAM bandwidth" if memory_s >= compute_s else "compute: floating-point peak"
        ),
        time_low_s=terms.seconds,
        time_high_s=memory_s + compute_s,
        basis=_BASIS,
        repeats=profile.repeats,
        parameters=_parameters(device, work_type, flops, traffic_bytes, peak, terms.seconds),
        causes=(
            f"at theoretical peaks DRAM traffic takes {format_seconds(memory_s)} and arithmetic "
            f"{format_seconds(compute_s)}",
        ),
        assumptions=(*_assumptions(flops), *profile.assumptions),
        validity=launch_validity(profile, terms.seconds),
    )


def _terms(memory_s: float, compute_s: float, utilization: float | None) -> Term:
    suffix = "" if utilization is None else f" × E_util {utilization:.4g}"
    return Term(
        "kernel",
        "max(memory, compute)",
        Combine.MAX,
        parts=(
            Term("memory", "DRAM bytes / peak bandwidth" + suffix, leaf_seconds=memory_s),
            Term("compute", "flops / peak flop rate" + suffix, leaf_seconds=compute_s),
        ),
    )


def _flops(profile: KernelProfile, work_type: WorkType) -> float:
    """Floating-point operations of that precision in one launch; a multiply-add is two."""
    counts = profile.instructions
    match work_type:
        case WorkType.FP64:
            return counts.fp64 + counts.fma64
        case WorkType.FP32:
            return counts.fp32 + counts.fma32
        case WorkType.INT:
            return 0.0


def _assumptions(flops: float) -> tuple[str, ...]:
    found = "every flop a multiply-add, no other instruction costs time, theoretical peaks"
    if flops:
        return (found,)
    return (found, "no floating-point operations: only the bandwidth roof applies")


def _parameters(
    device: Device,
    work_type: WorkType,
    flops: float,
    traffic_bytes: float,
    peak: float,
    time_s: float,
) -> tuple[Parameter, ...]:
    bandwidth = device.dram.bandwidth_bytes_per_s
    intensity = flops / traffic_bytes if traffic_bytes else math.inf
    shown: float | str = intensity if math.isfinite(intensity) else "unbounded"
    return (
        Parameter("K_type", work_type.value, "", "precision of the operations"),
        Parameter("W", flops, "flop", "floating-point operations"),
        Parameter("Q", traffic_bytes, "B", "DRAM traffic"),
        Parameter("I", shown, "flop/B", "operational intensity"),
        Parameter("peak", peak, "flop/s", "theoretical peak"),
        Parameter("bandwidth", bandwidth, "B/s", "theoretical DRAM bandwidth"),
        Parameter("ridge", peak / bandwidth, "flop/B", "intensity at which both roofs meet"),
        Parameter("attainable", min(peak, bandwidth * intensity), "flop/s", "under the roof"),
        Parameter("time", time_s, "s", "time at the roof, all launches"),
    )
