"""Model `quantitative-roofline`: Konstantinidis, PhD thesis, Athens 2017, chapter 4 and eq 5.13.

One pipeline issues all instructions, each at the cost of its class as micro-benchmarks measure it;
DRAM moves at its measured bandwidth; the slower of the two sets the time. Latency, caches and bank
conflicts are not modelled: the time is a lower bound for kernels that they limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Advice, Combine, Estimate, Parameter, Term
from kernelcast.models.model import ModelOptions, launch_validity
from kernelcast.models.quantitative_roofline.advice import explain, issue_shares
from kernelcast.models.quantitative_roofline.equations import Prediction, kernel_parameters, predict
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile, LaunchValidity

__all__ = ["NAME", "ErrorBounds", "error_bounds", "quantitative_roofline"]

NAME = "quantitative-roofline"


def quantitative_roofline(
    profile: KernelProfile, device: Device, options: ModelOptions
) -> Estimate:
    """Estimates by Konstantinidis; ModelNotApplicable without throughputs or useful work."""
    if device.measured is None:
        raise ModelNotApplicable(
            f"{NAME} needs measured throughputs, and {device.name} has none: measure it with "
            "`kernelcast bench`"
        )
    prediction = predict(kernel_parameters(profile, options.work_type), device.measured)
    factor = 1.0 if options.utilization is None else options.utilization
    terms = _terms(prediction, factor)
    bounds = error_bounds(options.utilization is not None)
    explanation = explain(prediction, profile, device.name)
    validity = launch_validity(profile, terms.seconds)
    return Estimate(
        kernel=profile.kernel,
        device=device.name,
        model=NAME,
        terms=terms,
        bottleneck=_bottleneck(prediction, terms),
        time_low_s=terms.seconds * bounds.low,
        time_high_s=terms.seconds * bounds.high,
        basis=bounds.basis,
        repeats=profile.repeats,
        parameters=_parameters(prediction, options.utilization, terms.seconds),
        causes=explanation.causes,
        advice=tuple(map(Advice, explanation.advice)),
        assumptions=(*_assumptions(profile, device, validity), *profile.assumptions),
        validity=validity,
    )


def _terms(prediction: Prediction, factor: float) -> Term:
    """The term max(memory, compute); memory stands first because a tie counts as memory bound."""
    suffix = "" if factor == 1.0 else f" × E_util {factor:.4g}"
    compute_s, shares = prediction.compute_s * factor, issue_shares(prediction)
    compute = Term(
        "compute",
        "W_comp / (E_mix · E_instr · T_op)" + suffix,
        Combine.SUM,
        parts=(
            _leaf("useful operations", "W_comp / T_op", compute_s * shares.useful),
            _leaf(
                "operations that are not multiply-adds",
                "W_comp / T_op · (1 / E_mix - 1)",
                compute_s * shares.not_fused,
            ),
            _leaf(
                "load/store instructions",
                "W_comp / (E_mix · T_op) · C_ldst / C_op",
                compute_s * shares.load_store,
            ),
            _leaf(
                "other instructions",
                "W_comp / (E_mix · T_op) · C_other / C_op",
                compute_s * shares.other,
            ),
        ),
    )
    memory = _memory_term(prediction, prediction.memory_s * factor, suffix)
    return Term("kernel", "max(memory, compute)", Combine.MAX, parts=(memory, compute))


def _memory_term(prediction: Prediction, memory_s: float, suffix: str) -> Term:
    formula = "W_traf / B_mem" + suffix
    read = prediction.kernel.read_fraction
    if read is None:
        return _leaf("memory", formula, memory_s)
    parts = (
        _leaf("DRAM reads", "bytes read / B_mem", memory_s * read),
        _leaf("DRAM writes", "bytes written / B_mem", memory_s * (1 - read)),
    )
    return Term("memory", formula, Combine.SUM, parts=parts)


def _leaf(name: str, formula: str, seconds: float) -> Term:
    return Term(name, formula, leaf_seconds=seconds)


def _bottleneck(prediction: Prediction, terms: Term) -> str:
    if prediction.is_memory_bound:
        return "memory: DRAM bandwidth"
    return f"compute: {terms.bottleneck.name}"


@dataclass(frozen=True, slots=True)
class ErrorBounds:
    """Factors on the predicted time, and where they come from."""

    low: float
    high: float
    basis: str


def error_bounds(with_utilization: bool) -> ErrorBounds:
    """Errors of section 5.2.5; error = predicted/measured - 1, so +25 % means measured = t/1.25."""
    if with_utilization:
        return ErrorBounds(
            1 / 1.25,
            1 / 0.75,
            "errors of -25 to +25 %, within which 92 of 140 Rodinia predictions (66 %) of the "
            "thesis fell after the E_util correction (section 5.2.5)",
        )
    return ErrorBounds(
        1 / 1.25,
        1 / 0.5,
        "errors of -50 to +25 %: of the thesis's 168 Rodinia predictions, 40 were below -50 % and "
        "at most 30 above +25 %, so 58 to 76 % lie within (section 5.2.5)",
    )


def _assumptions(
    profile: KernelProfile, device: Device, validity: LaunchValidity
) -> tuple[str, ...]:
    found = ["one instruction pipeline, latency hidden, caches seen only through the DRAM traffic"]
    if profile.device != device.name:
        found.append(
            f"instructions and DRAM traffic as {profile.device} has them, not {device.name}"
        )
    if validity.reasons:
        found.append(
            "the launch is outside the model's conditions: the time is a lower bound "
            f"({'; '.join(validity.reasons)})"
        )
    if any(key.startswith("measured.") for key in device.assumed):
        found.append(f"some of {device.name}'s throughputs are assumed, not measured")
    return tuple(found)


def _parameters(
    prediction: Prediction, utilization: float | None, time_s: float
) -> tuple[Parameter, ...]:
    kernel, weights = prediction.kernel, prediction.weights
    o_krn = kernel.o_krn if math.isfinite(kernel.o_krn) else "unbounded"
    bound = "memory" if prediction.is_memory_bound else "compute"
    rows: list[tuple[str, float | str, str, str]] = [
        ("K_type", kernel.k_type.value, "", "type of the useful operations"),
        ("W_comp", kernel.w_comp_ops, "op", "useful operations"),
        ("W_traf", kernel.w_traf_bytes, "B", "DRAM traffic"),
        ("E_mix", kernel.e_mix, "fraction", "share of the multiply-add rate"),
        ("D_ops", kernel.d_ops, "fraction", "density of useful instructions"),
        ("D_ldst", kernel.d_ldst, "fraction", "density of loads and stores"),
        ("D_other", kernel.d_other, "fraction", "density of other instructions"),
        ("W_op", weights.w_op, "", "weight of a useful instruction"),
        ("W_ldst", weights.w_ldst, "", "weight of a load or store"),
        ("W_other", weights.w_other, "", "weight of another instruction"),
        ("C_op", prediction.c_op, "", "cost of the useful instructions"),
        ("C_ldst", prediction.c_ldst, "", "cost of loads and stores"),
        ("C_other", prediction.c_other, "", "cost of other instructions"),
        ("E_instr", prediction.e_instr, "fraction", "instruction efficiency"),
        ("T_op", weights.t_op_ops_per_s, "op/s", "measured rate of useful operations"),
        ("T_op_adj", prediction.t_op_adj_ops_per_s, "op/s", "T', E_mix · E_instr · T_op"),
        ("B_mem", prediction.b_mem_bytes_per_s, "B/s", "measured DRAM bandwidth"),
        ("O_krn", o_krn, "op/B", "operational intensity of the kernel"),
        ("O_dev", prediction.o_dev, "op/B", "intensity at which the device is balanced"),
        ("bound", bound, "", "what limits"),
        ("GFLOPS", kernel.w_comp_ops / time_s / 1e9, "Gop/s", "predicted throughput"),
        ("time", time_s, "s", "predicted time of all launches"),
    ]
    if utilization is not None:
        rows.append(("E_util", utilization, "", "measured over predicted time, reference device"))
    return tuple(Parameter(*row) for row in rows)
