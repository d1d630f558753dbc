"""`fma.oob`: a product with what stands for elements outside of a tensor gives zero.

PTX names no bits for that NaN; they are those of US patent application 2024/0168765, table 89.
Which operands are looked at is CUTLASS's `guarded_multiply_add`: the factors, not the addend.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Columns
from kernelcast.simcore.isa.opcodes.element_types import element_by_element
from kernelcast.simcore.isa.opcodes.llvm.packed import element_by_element as emit_by_element
from kernelcast.simcore.isa.opcodes.rounding import ROUNDINGS
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context, opcode
from kernelcast.simcore.isa.types import HALVES, ScalarType

__all__ = ["OUTSIDE_NAN"]

Array = npt.NDArray[Any]

OUTSIDE_NAN = 0x7FF7
"""f16 and bf16 outside of a tensor whose map fills with NaN."""
_FUSED = OPCODES["fma"]


@emit_by_element
def _emit(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    found = _FUSED.emit(code, context, a, b, c)
    assert isinstance(found, str)
    type_ = context.type
    marker, zero = code.splat("i16", OUTSIDE_NAN), code.splat("i16", 0)
    bits = code.cast("bitcast", type_, found, "i16")
    for factor in (a, b):
        is_outside = code.binary(
            "icmp eq", "i16", code.cast("bitcast", type_, factor, "i16"), marker
        )
        bits = code.select("i16", is_outside, zero, bits)
    return code.cast("bitcast", "i16", bits, type_)


@opcode(
    "fma.oob",
    "t=ttt",
    (ScalarType.F16, *HALVES),
    modifiers=(*ROUNDINGS, "sat", "relu"),
    columns=Columns(flops=2, forms=ptx_forms.GUARDED),
    llvm=_emit,
)
@element_by_element
def _guarded(context: Context, a: Array, b: Array, c: Array) -> Array:
    found = _FUSED.compute(context, a, b, c)
    is_outside = np.equal(_bits(a), OUTSIDE_NAN) | np.equal(_bits(b), OUTSIDE_NAN)
    return np.where(is_outside, np.zeros((), found.dtype), found)


def _bits(value: Array) -> Array:
    return np.asarray(value).view(np.uint16)
