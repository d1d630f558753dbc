"""How fast the tensor units of an SM are: section [tensor] of a device file."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.isa.tensor_types import SPARSE, TensorType

__all__ = ["TensorFacts"]

_PLAIN_SUMS = {
    TensorType.FP16: TensorType.FP16_FP16,
    TensorType.BF16: TensorType.FP16_FP16,
    TensorType.TF32: TensorType.FP16_FP16,
    TensorType.FP8: TensorType.FP8_FP16,
}
"""Types whose sums some GPUs add up at half the rate, and the one at the whole rate."""


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """Dense multiply-adds of an SM a cycle by TensorType; a type without a rate has no unit.

    `latency_cycles`: from the issue of a product to that of one that needs its result, beyond the
    cycles that the unit takes for it. `sparse_factor`: by how much sparse products count faster.
    `warp_efficiency`: of the rates, what products of one warp (`mma`, `wmma`) reach; those of a
    warpgroup (`wgmma`) or a thread block (`tcgen05`) reach all. `peak_flops_per_s`: the vendor's
    figure for dense products of fp16, at `peak_clock_hz`.
    """

    latency_cycles: float
    fp64: float | None = None
    fp32: float | None = None
    tf32: float | None = None
    bf16: float | None = None
    fp16: float | None = None
    fp16_fp16: float | None = None
    fp8: float | None = None
    fp8_fp16: float | None = None
    fp6: float | None = None
    fp4: float | None = None
    mxfp8: float | None = None
    mxfp4: float | None = None
    int8: float | None = None
    int4: float | None = None
    b1: float | None = None
    sparse_factor: int = 1
    warp_efficiency: float = 1.0
    peak_flops_per_s: float | None = None
    peak_clock_hz: float | None = None

    def multiply_adds_per_cycle(self, type_name: str) -> float | None:
        """Multiply-adds of an SM per cycle; None for a type that it lacks.

        `type_name` is written as in counts (`fp16`, `fp16 sparse`). Multiply-adds that a sparse
        product leaves out count as well.
        """
        dense: float | None = getattr(self, type_name.removesuffix(SPARSE))
        if dense is None or not type_name.endswith(SPARSE):
            return dense
        return dense * self.sparse_factor if self.sparse_factor > 1 else None

    def flow_per_cycle(self, type_name: str) -> float | None:
        """The rate at which one product passes through the unit.

        Where sums of fp32 are held back to half the rate, the unit rests after each, and results
        are there all the same.
        """
        rate = self.multiply_adds_per_cycle(type_name)
        type_ = TensorType(type_name.removesuffix(SPARSE))
        if rate is None or type_ not in _PLAIN_SUMS:
            return rate
        held_back = TensorType.FP8 if type_ is TensorType.FP8 else TensorType.FP16
        slow = self.multiply_adds_per_cycle(held_back.value)
        whole = self.multiply_adds_per_cycle(_PLAIN_SUMS[type_].value)
        return rate * max(1.0, whole / slow) if slow and whole else rate
