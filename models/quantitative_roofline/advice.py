"""Why a quantitative-roofline prediction is what it is, and what would change it, in figures."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.models.quantitative_roofline.equations import Prediction
from kernelcast.simcore.profile.profile import KernelProfile, WorkType
from kernelcast.units import format_seconds, format_si

__all__ = ["Explanation", "explain", "issue_shares"]

_NOTABLE_SHARE = 0.25
_BALANCED = 0.9
_OVERFETCH = 1.25
_SLOW_DOUBLE = 3.0


@dataclass(frozen=True, slots=True)
class Explanation:
    """Sentences for a report; `advice` holds only what the figures give a reason for."""

    causes: tuple[str, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IssueShares:
    """How the compute time divides; the four shares add up to 1."""

    useful: float
    not_fused: float
    load_store: float
    other: float


def issue_shares(prediction: Prediction) -> IssueShares:
    """Useful work and three overheads: the parts of 1/(E_mix E_instr), eqs 4.13 to 4.17."""
    cost = prediction.c_op + prediction.c_ldst + prediction.c_other
    return IssueShares(
        useful=prediction.kernel.e_mix * prediction.e_instr,
        not_fused=(1 - prediction.kernel.e_mix) * prediction.e_instr,
        load_store=prediction.c_ldst / cost,
        other=prediction.c_other / cost,
    )


def explain(prediction: Prediction, profile: KernelProfile, device_name: str) -> Explanation:
    """What bounds the kernel, why, and what would change it."""
    if prediction.is_memory_bound:
        return _explain_memory(prediction, profile, device_name)
    return _explain_compute(prediction, device_name)


def _explain_memory(
    prediction: Prediction, profile: KernelProfile, device_name: str
) -> Explanation:
    kernel = prediction.kernel
    causes = [
        f"DRAM traffic of {format_si(kernel.w_traf_bytes, 'B')} at "
        f"{format_si(prediction.b_mem_bytes_per_s, 'B/s')} takes "
        f"{format_seconds(prediction.memory_s)}; issuing the instructions takes "
        f"{format_seconds(prediction.compute_s)}",
        f"the kernel does {kernel.o_krn:.3g} operations per byte, {device_name} needs "
        f"{prediction.o_dev:.3g} to be busy",
    ]
    advice = [
        "reuse data on chip (tiling, fusing kernels) or store it in fewer bytes: at most "
        f"{prediction.memory_s / prediction.compute_s:.2f} times faster before instructions limit"
    ]
    overfetch = _overfetch(profile)
    if overfetch is not None and overfetch > _OVERFETCH:
        causes.append(f"DRAM moves {overfetch:.2f} times the bytes that the kernel asks for")
        left_s = max(prediction.memory_s / overfetch, prediction.compute_s)
        advice.append(
            "let neighbouring threads access neighbouring addresses, aligned to sectors: what the "
            f"kernel asks for takes {format_seconds(left_s)} instead of "
            f"{format_seconds(prediction.memory_s)}"
        )
    if prediction.compute_s > _BALANCED * prediction.memory_s:
        causes.append("memory and instructions are balanced: mending one alone gains little")
    return Explanation(tuple(causes), tuple(advice))


def _overfetch(profile: KernelProfile) -> float | None:
    """DRAM bytes over requested bytes; None when the profile does not tell."""
    traffic = profile.traffic
    if traffic.requested_load_bytes is None or traffic.requested_store_bytes is None:
        return None
    requested = traffic.requested_load_bytes + traffic.requested_store_bytes
    return traffic.dram_bytes / requested if requested else None


def _explain_compute(prediction: Prediction, device_name: str) -> Explanation:
    kernel, weights, shares = prediction.kernel, prediction.weights, issue_shares(prediction)
    causes = [
        f"issuing the instructions takes {format_seconds(prediction.compute_s)}; DRAM traffic "
        f"takes {format_seconds(prediction.memory_s)}",
        f"{shares.useful:.1%} of the issue time is multiply-adds' worth of "
        f"{kernel.k_type.value} work",
    ]
    advice = []
    for share, explain_overhead in (
        (shares.load_store, _load_store_overhead),
        (shares.other, _other_overhead),
        (shares.not_fused if kernel.k_type is not WorkType.INT else 0.0, _fusion_overhead),
    ):
        if share > _NOTABLE_SHARE:
            cause, remedy = explain_overhead(prediction, share)
            causes.append(cause)
            advice.append(remedy)
    if kernel.k_type is WorkType.FP64 and weights.w_op > _SLOW_DOUBLE:
        causes.append(
            f"{device_name} runs fp64 at 1/{weights.w_op:.1f} of its single-precision rate"
        )
        saved = (1 - 1 / weights.w_op) * (shares.useful + shares.not_fused)
        advice.append(
            "single precision where the algorithm allows it, or a GPU with more fp64: at its "
            "single-precision rate that " + _gain(prediction, saved)
        )
    return Explanation(tuple(causes), tuple(advice))


def _load_store_overhead(prediction: Prediction, share: float) -> tuple[str, str]:
    return (
        f"loads and stores are {prediction.kernel.d_ldst:.1%} of the instructions and, at "
        f"{prediction.weights.w_ldst:.2f} times the cost of a multiply-add, {share:.1%} of the "
        "issue time",
        "wider accesses (64 or 128 bits) or register tiling: halving the loads and stores "
        + _gain(prediction, share / 2),
    )


def _other_overhead(prediction: Prediction, share: float) -> tuple[str, str]:
    return (
        "other instructions (addresses, branches, moves) are "
        f"{prediction.kernel.d_other:.1%} of the instructions and {share:.1%} of the issue time",
        "unroll loops and hoist address arithmetic: halving the other instructions "
        + _gain(prediction, share / 2),
    )


def _fusion_overhead(prediction: Prediction, share: float) -> tuple[str, str]:
    return (
        f"E_mix is {prediction.kernel.e_mix:.1%}: operations that are not multiply-adds waste "
        f"{share:.1%} of the issue time",
        "write sums of products so that they fuse: if all did, that " + _gain(prediction, share),
    )


def _gain(prediction: Prediction, saved_share: float) -> str:
    """What the kernel gains when that share of the issue time goes, DRAM time kept."""
    left_s = max(prediction.compute_s * (1 - saved_share), prediction.memory_s)
    return (
        f"brings the time from {format_seconds(prediction.compute_s)} to {format_seconds(left_s)}"
    )
