"""Model `roofline`: Williams, Waterman, Patterson, CACM 52(4), 2009, with a roof for each level.

Attainable flop/s = min over the ceilings: the peak of arithmetic, and for each level of the memory
its bandwidth x the flops per byte that it moves (hierarchical roofline: Ilic, Pratas, Sousa, IEEE
CAL 13(1), 2014; Yang, Kurth, Williams, CCPE 32(20), 2020). Rates are the highest known, a lower
bound of the time; on a processor those of plain work-items, which its compiler may beat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Combine, Estimate, Parameter, Term
from kernelcast.models.model import ModelOptions, dominant_work_type, launch_validity
from kernelcast.models.roofline.ceilings import (
    Ceiling,
    arithmetic_ceilings,
    bandwidth_ceilings,
    gathered_seconds,
    unknown_ceilings,
)
from kernelcast.models.tensor_work import check_tensor_units, tensor_peaks
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.tensor_types import SPARSE, TensorType
from kernelcast.simcore.profile.profile import KernelProfile, WorkType
from kernelcast.units import format_seconds

__all__ = ["NAME", "TENSOR_PEAK", "roofline"]

NAME = "roofline"
TENSOR_PEAK = "peak_tensor "
"""Begins the parameters that have the peaks of tensor units, the type's name follows."""
_BASIS = (
    "at the highest rates the roofline is a lower bound of the time; the upper end adds all "
    "ceilings, as if arithmetic and traffic of the levels never overlapped, still at their rates"
)
_GATHERED = ", and the time of all loads and stores if the compiler gathered every word"


def roofline(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """Estimates by the highest ceiling; ModelNotApplicable for integer work or none at all."""
    if options.work_type is WorkType.INT:
        raise ModelNotApplicable(f"{NAME} has no integer peak to compare with")
    work_type = options.work_type or dominant_work_type(profile)
    if not profile.instructions.flops(work_type) and not profile.traffic.dram_bytes:
        raise ModelNotApplicable(
            f"kernel {profile.kernel} has neither floating-point operations nor DRAM traffic"
        )
    check_tensor_units(profile, device)
    if work_type is WorkType.TENSOR and not profile.instructions.tensor_total:
        raise ModelNotApplicable(f"kernel {profile.kernel} has no tensor operations")
    if not _peak(device, work_type):
        raise ModelNotApplicable(f"{device.name} has no {work_type.value} operations")
    bandwidths = tuple(bandwidth_ceilings(profile, device))
    ceilings = (*bandwidths, *arithmetic_ceilings(profile, device))
    factor = 1.0 if options.utilization is None else options.utilization
    gathered_s = gathered_seconds(profile, device) * profile.repeats * factor
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
        time_low_s=_least_seconds(ceilings) * profile.repeats * factor,
        time_high_s=sum(term.seconds for term in (*memory, *compute)) + gathered_s,
        basis=_BASIS + (_GATHERED if gathered_s else ""),
        repeats=profile.repeats,
        parameters=_parameters(profile, device, work_type, ceilings, terms.seconds),
        causes=(_cause(memory, compute), *_gathers(gathered_s)),
        assumptions=(
            *_assumptions(profile, work_type),
            *unknown_ceilings(ceilings),
            *profile.assumptions,
        ),
        validity=launch_validity(profile, terms.seconds),
    )


def _least_seconds(ceilings: Sequence[Ceiling]) -> float:
    """Seconds of one launch at the highest rates that anything reaches."""
    return max(ceiling.least_seconds or 0.0 for ceiling in ceilings)


def _arithmetic(work_type: WorkType) -> str:
    """The type whose ceiling parameters name: an integer kernel's is single precision."""
    return str((WorkType.FP32 if work_type is WorkType.INT else work_type).value)


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
    return f"at their rates the ceilings take: {', '.join(shares)}"


def _gathers(seconds: float) -> Iterator[str]:
    if seconds:
        yield (
            f"if the compiler gathers every word, loads and stores take {format_seconds(seconds)} "
            "besides: it may where an index goes through an int"
        )


def _assumptions(profile: KernelProfile, work_type: WorkType) -> tuple[str, ...]:
    found = (
        "every flop a multiply-add, address arithmetic and branches cost no time, all ceilings "
        "overlap, each at its theoretical or highest measured rate, a processor's at that of plain "
        "work-items"
    )
    if profile.instructions.flops(work_type):
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
    work = profile.repeats * profile.instructions.flops(work_type)
    traffic_bytes = profile.repeats * profile.traffic.dram_bytes
    by_symbol = {ceiling.symbol: ceiling for ceiling in ceilings}
    compute, dram = by_symbol[_arithmetic(work_type)], by_symbol["DRAM"]
    peak, bandwidth = compute.rate or 0.0, dram.rate or 0.0
    intensity = work / traffic_bytes if traffic_bytes else math.inf
    shown: float | str = intensity if math.isfinite(intensity) else "unbounded"
    attainable = min(peak, work / time_s) if work and time_s else 0.0
    return (
        Parameter("K_type", work_type.value, "", "precision of the operations"),
        Parameter("W", work, "flop", "floating-point operations"),
        Parameter("Q", traffic_bytes, "B", "DRAM traffic"),
        Parameter("I", shown, "flop/B", "operational intensity"),
        Parameter("peak", peak, "flop/s", f"{compute.source}, {compute.name}"),
        Parameter("bandwidth", bandwidth, "B/s", f"{dram.source}, {dram.name}"),
        Parameter("ridge", peak / bandwidth, "flop/B", "intensity at which both roofs meet"),
        *_tensor_parameters(profile, device),
        *_level_parameters(profile.repeats, work, ceilings),
        Parameter("attainable", attainable, "flop/s", "under all roofs"),
        Parameter("time", time_s, "s", "time at the roof, all launches"),
    )


def _tensor_parameters(profile: KernelProfile, device: Device) -> Iterator[Parameter]:
    """Tensor operations of a kernel by type, and the peaks of all types."""
    operations = profile.instructions.tensor_operations or {}
    for name, count in operations.items():
        yield Parameter(f"W_tensor {name}", profile.repeats * count, "flop", f"{name} operations")
    if operations:
        types = (*(type_.value for type_ in TensorType), *filter(_is_sparse, operations))
        for name, peak in tensor_peaks(device, types):
            yield Parameter(f"{TENSOR_PEAK}{name}", peak, "flop/s", f"tensor peak of {name}")


def _is_sparse(type_name: str) -> bool:
    return type_name.endswith(SPARSE)


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
