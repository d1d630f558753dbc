"""Equations 4.1 to 4.18 of Konstantinidis' PhD thesis (Athens, 2017), under the thesis's symbols.

Three stages, each usable alone: a profile gives the kernel's parameters (4.1 to 4.8), a device's
measured throughputs give the weights of instructions (4.9 to 4.12), both give the prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.models.model import dominant_work_type
from kernelcast.models.tensor_work import refuse_tensor_work
from kernelcast.simcore.device.device import MeasuredThroughput
from kernelcast.simcore.profile.profile import KernelProfile, WorkType

__all__ = [
    "InstructionWeights",
    "KernelParameters",
    "Prediction",
    "instruction_weights",
    "kernel_parameters",
    "predict",
    "utilization_factor",
]


@dataclass(frozen=True, slots=True)
class KernelParameters:
    """Table 4.2. `w_comp_ops` and `w_traf_bytes` cover all launches, the others are ratios.

    `read_fraction` is the share of the traffic that is read; None when only the total is known.
    """

    k_type: WorkType
    w_comp_ops: float
    w_traf_bytes: float
    e_mix: float
    d_ops: float
    d_ldst: float
    d_other: float
    read_fraction: float | None = None

    @property
    def o_krn(self) -> float:
        """Operational intensity, operations per byte; infinite without DRAM traffic."""
        return self.w_comp_ops / self.w_traf_bytes if self.w_traf_bytes else math.inf


@dataclass(frozen=True, slots=True)
class InstructionWeights:
    """Eqs 4.9 to 4.12: cost of one instruction, relative to a single-precision multiply-add."""

    t_op_ops_per_s: float
    w_op: float
    w_ldst: float
    w_other: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """Eqs 4.13 to 4.18; `t_op_adj_ops_per_s` is T'_op, `o_dev` operations per byte."""

    kernel: KernelParameters
    weights: InstructionWeights
    b_mem_bytes_per_s: float
    c_op: float
    c_ldst: float
    c_other: float
    e_instr: float
    t_op_adj_ops_per_s: float

    @property
    def o_dev(self) -> float:
        """The device's operational intensity of balance, for this kernel's mix."""
        return self.t_op_adj_ops_per_s / self.b_mem_bytes_per_s

    @property
    def is_memory_bound(self) -> bool:
        """Eq 4.18; equality counts as memory bound."""
        return self.kernel.o_krn <= self.o_dev

    @property
    def ops_per_s(self) -> float:
        """Eq 4.18, T_predicted."""
        if self.is_memory_bound:
            return self.kernel.o_krn * self.b_mem_bytes_per_s
        return self.t_op_adj_ops_per_s

    @property
    def compute_s(self) -> float:
        """The time of all useful operations at the adjusted throughput."""
        return self.kernel.w_comp_ops / self.t_op_adj_ops_per_s

    @property
    def memory_s(self) -> float:
        """The time of the DRAM traffic at the measured bandwidth."""
        return self.kernel.w_traf_bytes / self.b_mem_bytes_per_s

    @property
    def time_s(self) -> float:
        """W_comp / T_predicted: what Tables 5.9, 5.12, 5.14 and 6.5 are made with."""
        return max(self.compute_s, self.memory_s)


def kernel_parameters(
    profile: KernelProfile, work_type: WorkType | None = None
) -> KernelParameters:
    """Eqs 4.1 to 4.8. ModelNotApplicable when the profile has no operations of the work type.

    Eq 4.5 counts 32 threads a warp; a profile of another warp width uses its own.
    """
    counts, traffic = profile.instructions, profile.traffic
    refuse_tensor_work(profile, "the quantitative roofline")
    k_type = work_type or dominant_work_type(profile)
    useful, fused = {
        WorkType.FP64: (counts.fp64, counts.fma64),
        WorkType.FP32: (counts.fp32, counts.fma32),
        WorkType.INT: (counts.integer, 0.0),
        WorkType.TENSOR: (0.0, 0.0),
    }[k_type]
    issued = profile.warp_width * counts.warp_instructions
    _check_counts(profile, k_type, useful, issued)
    transactions = traffic.dram_read_transactions + traffic.dram_write_transactions
    d_ops, d_ldst = useful / issued, counts.load_store / issued
    return KernelParameters(
        k_type=k_type,
        w_comp_ops=profile.repeats * (useful + fused),
        w_traf_bytes=profile.repeats * traffic.dram_bytes,
        e_mix=(useful + fused) / (2 * useful),
        d_ops=d_ops,
        d_ldst=d_ldst,
        d_other=max(0.0, 1 - d_ops - d_ldst),
        read_fraction=traffic.dram_read_transactions / transactions if transactions else None,
    )


def _check_counts(profile: KernelProfile, k_type: WorkType, useful: float, issued: float) -> None:
    where = f"kernel {profile.kernel}"
    if not useful > 0:
        raise ModelNotApplicable(f"{where} executes no {k_type.value} operations")
    if useful + profile.instructions.load_store > issued * (1 + 1e-9):
        raise ModelNotApplicable(
            f"{where} counts more {k_type.value} operations and loads/stores than its "
            f"{profile.instructions.warp_instructions:g} warp instructions have threads"
        )


def instruction_weights(measured: MeasuredThroughput, k_type: WorkType) -> InstructionWeights:
    """Eqs 4.9 to 4.12. Multiply-adds count twice, loads, stores and additions once."""
    t_op = {
        WorkType.FP64: measured.fp64_ops_per_s,
        WorkType.FP32: measured.fp32_ops_per_s,
        WorkType.INT: measured.int_ops_per_s,
        WorkType.TENSOR: 0.0,
    }[k_type]
    if not t_op:
        raise ModelNotApplicable(f"the device has no {k_type.value} operations")
    return InstructionWeights(
        t_op_ops_per_s=t_op,
        w_op=measured.fp32_ops_per_s / t_op,
        w_ldst=0.5 * measured.fp32_ops_per_s / measured.load_store_ops_per_s,
        w_other=0.5 * measured.fp32_ops_per_s / measured.add_ops_per_s,
    )


def predict(kernel: KernelParameters, measured: MeasuredThroughput) -> Prediction:
    """Eqs 4.13 to 4.18."""
    weights = instruction_weights(measured, kernel.k_type)
    c_op = kernel.d_ops * weights.w_op
    c_ldst = kernel.d_ldst * weights.w_ldst
    c_other = kernel.d_other * weights.w_other
    e_instr = c_op / (c_op + c_ldst + c_other)
    return Prediction(
        kernel=kernel,
        weights=weights,
        b_mem_bytes_per_s=measured.dram_bandwidth_bytes_per_s,
        c_op=c_op,
        c_ldst=c_ldst,
        c_other=c_other,
        e_instr=e_instr,
        t_op_adj_ops_per_s=kernel.e_mix * e_instr * weights.t_op_ops_per_s,
    )


def utilization_factor(predicted_s: float, measured_s: float) -> float:
    """Eq 5.13, E_util: measured over predicted time on the device where both are known."""
    for name, seconds in (("predicted", predicted_s), ("measured", measured_s)):
        if not (math.isfinite(seconds) and seconds > 0):
            raise KernelcastError(f"the {name} reference time must be positive, got {seconds} s")
    return measured_s / predicted_s
