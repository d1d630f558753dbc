"""Model `roofline`: Williams, Waterman, Patterson, CACM 52(4), 2009, with a roof for each level.

Attainable flop/s = min over the ceilings: the peak of arithmetic, and for each level of the memory
its bandwidth x the flops per byte that it moves (hierarchical roofline: Ilic, Pratas, Sousa, IEEE
CAL 13(1), 2014; Yang, Kurth, Williams, CCPE 32(20), 2020). Rates are the highest known: a lower
bound of the time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Combine, Estimate, Parameter, Term
from kernelcast.models.model import ModelOptions, dominant_work_type, launch_validity
from kernelcast.models.roofline_ceilings import (
    Ceiling,
    arithmetic_ceilings,
    bandwidth_ceilings,
    flops,
    unknown_ceilings,
)
from kernelcast.simcore.device import Device
from kernelcast.simcore.profile import KernelProfile, WorkType
from kernelcast.units import format_seconds

__all__ = ["NAME", "roofline"]

NAME = "roofline"
_BASIS = (
    "the roofline is a lower bound of the time; the upper end adds all ceilings, as if arithmetic "
    "and traffic of the levels never overlapped, still at their highest rates"
)


def roofline(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """ModelNotApplicable for integer work (no peak to compare with) and for no work at all."""
    if options.work_type is WorkType.INT:
        raise ModelNotApplicable(f"{NAME} has no integer peak to compare with")
    work_type = options.work_type or dominant_work_type(profile)
    if not flops(profile.instructions, work_type) and not profile.traffic.dram_bytes:
        raise ModelNotApplicable(
            f"kernel {profile.kernel} has neither floating-point operations nor DRAM traffic"
        )
    if not _peak(device, work_type):
        raise ModelNotApplicable(f"{device.name} has no {work_type.value} operations")
    bandwidths = tuple(bandwidth_ceilings(profile, device))
    ceilings = (*bandwidths, *arithmetic_ceilings(profile, device))
    factor = 1.0 if options.utilization is None else options.utilization
    memory = _terms(bandwidths, profile.repeats * factor, options.utilization)
    compute = _terms(ceilings[len(bandwidths) :], profile.repeats * factor, options.utilization)
    terms = _kernel(memory, compute)
    limit = terms.bottleneck.name
    return Estimate(
        kernel=profile.kernel,
        device=device.name,
        model=NAME,
        terms=terms,
        bottleneck=f"{'memory' if limit in [t.name for t in memory] else 'compute'}: {limit}",
        time_low_s=terms.seconds,
        time_high_s=sum(term.seconds for term in (*memory, *compute)),
        basis=_BASIS,
        repeats=profile.repeats,
        parameters=_parameters(profile, device, work_type, ceilings, terms.seconds),
        causes=(_cause(memory, compute),),
        assumptions=(
            *_assumptions(profile, work_type),
            *unknown_ceilings(ceilings),
            *profile.assumptions,
        ),
        validity=launch_validity(profile, terms.seconds),
    )


def _peak(device: Device, work_type: WorkType) -> float:
    if work_type is WorkType.FP64:
        return device.peak.fp64_flops_per_s
    return device.peak.fp32_flops_per_s


def _terms(
    ceilings: Sequence[Ceiling], factor: float, utilization: float | None
) -> tuple[Term, ...]:
    """One for each ceiling that the kernel meets; `factor`: launches, and E_util."""
    suffix = "" if utilization is None else f" × E_util {utilization:.4g}"
    return tuple(
        Term(
            ceiling.name,
            f"{_unit_name(ceiling)} / {ceiling.source}{suffix}",
            leaf_seconds=factor * seconds,
        )
        for ceiling in ceilings
        if (seconds := ceiling.seconds) is not None and (seconds or ceiling.symbol == "DRAM")
    )


def _unit_name(ceiling: Ceiling) -> str:
    return {"B": f"{ceiling.symbol} bytes", "flop": "flops", "op": "operations"}[ceiling.unit]


def _kernel(memory: tuple[Term, ...], compute: tuple[Term, ...]) -> Term:
    """Memory stands first because a tie counts as memory bound."""
    parts = [Term("memory", "the slowest level", Combine.MAX, parts=memory)]
    if compute:
        parts.append(Term("compute", "the slowest of all kinds", Combine.MAX, parts=compute))
    return Term("kernel", "max(memory, compute)", Combine.MAX, parts=tuple(parts))


def _cause(memory: tuple[Term, ...], compute: tuple[Term, ...]) -> str:
    shares = (f"{term.name} {format_seconds(term.seconds)}" for term in (*memory, *compute))
    return f"at the highest rates the ceilings take: {', '.join(shares)}"


def _assumptions(profile: KernelProfile, work_type: WorkType) -> tuple[str, ...]:
    found = (
        "every flop a multiply-add, address arithmetic and branches cost no time, all ceilings "
        "overlap, each at its theoretical or highest measured rate"
    )
    if flops(profile.instructions, work_type):
        return (found,)
    return (found, "no floating-point operations: only the bandwidth roofs apply")


def _parameters(
    profile: KernelProfile,
    device: Device,
    work_type: WorkType,
    ceilings: Sequence[Ceiling],
    time_s: float,
) -> tuple[Parameter, ...]:
    """The roofline of DRAM, then intensity and bandwidth of each further level, then the time."""
    work = profile.repeats * flops(profile.instructions, work_type)
    traffic_bytes = profile.repeats * profile.traffic.dram_bytes
    peak, bandwidth = _peak(device, work_type), device.dram.bandwidth_bytes_per_s
    intensity = work / traffic_bytes if traffic_bytes else math.inf
    shown: float | str = intensity if math.isfinite(intensity) else "unbounded"
    attainable = min(peak, work / time_s) if work and time_s else 0.0
    return (
        Parameter("K_type", work_type.value, "", "precision of the operations"),
        Parameter("W", work, "flop", "floating-point operations"),
        Parameter("Q", traffic_bytes, "B", "DRAM traffic"),
        Parameter("I", shown, "flop/B", "operational intensity"),
        Parameter("peak", peak, "flop/s", "theoretical peak"),
        Parameter("bandwidth", bandwidth, "B/s", "theoretical DRAM bandwidth"),
        Parameter("ridge", peak / bandwidth, "flop/B", "intensity at which both roofs meet"),
        *_level_parameters(profile.repeats, work, ceilings),
        Parameter("attainable", attainable, "flop/s", "under all roofs"),
        Parameter("time", time_s, "s", "time at the roof, all launches"),
    )


def _level_parameters(
    repeats: int, flops_of_all: float, ceilings: Sequence[Ceiling]
) -> tuple[Parameter, ...]:
    found = []
    for ceiling in ceilings:
        if ceiling.unit == "B" and ceiling.symbol != "DRAM" and ceiling.seconds:
            assert ceiling.work is not None
            assert ceiling.rate is not None
            name, total = ceiling.symbol, repeats * ceiling.work
            found += [
                Parameter(f"Q_{name}", total, "B", f"traffic of {name}"),
                Parameter(f"I_{name}", flops_of_all / total, "flop/B", f"intensity of {name}"),
                Parameter(f"bandwidth_{name}", ceiling.rate, "B/s", f"{ceiling.source}, {name}"),
            ]
    return tuple(found)
