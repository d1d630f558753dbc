"""What tensor units multiply, and what they add up in."""

from __future__ import annotations

from enum import Enum

__all__ = ["SPARSE", "TensorType", "tensor_type_name"]

SPARSE = " sparse"
"""Ends the name of a type in counts whose products leave out half of A."""


class TensorType(Enum):
    """The types of tensor operations, by the formats of A and B.

    Sums of floating-point products are fp32 (of fp64: fp64), or fp16 where the name has a second
    part.
    """

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP16_FP16 = "fp16_fp16"
    FP8 = "fp8"
    FP8_FP16 = "fp8_fp16"
    FP6 = "fp6"
    FP4 = "fp4"
    MXFP8 = "mxfp8"
    """Blocks with a scale each, of fp8, fp6, or fp4 in the places of bytes."""
    MXFP4 = "mxfp4"
    """Blocks with a scale each, of packed fp4."""
    INT8 = "int8"
    INT4 = "int4"
    B1 = "b1"

    @property
    def is_float(self) -> bool:
        """Whether products are floating-point numbers."""
        return self not in (TensorType.INT8, TensorType.INT4, TensorType.B1)

    @property
    def metric(self) -> str:
        """Source and sums as in Nsight Compute's `sm__ops_path_tensor_...`."""
        if not self.is_float or self is TensorType.FP64:
            return f"src_{self.value.replace('b1', 'int1')}"
        source, _, sums = self.value.partition("_")
        return f"src_{source}_dst_{sums or 'fp32'}"


def tensor_type_name(type_: TensorType, *, is_sparse: bool = False) -> str:
    """The name of a tensor type in rows of a trace and in counts."""
    return f"{type_.value}{SPARSE}" if is_sparse else type_.value
