"""bf16, tf32 and narrow formats to and from `float` as LLVM IR: the twin of `alternate_formats`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.alternate_formats import (
    BF16_LARGEST,
    TF32_DROPPED,
    TF32_LARGEST,
    TF32_NAN,
)
from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.numerics.narrow_formats import NARROW
from kernelcast.simcore.isa.opcodes.llvm.narrow_formats import (
    from_narrow,
    from_scale,
    to_narrow,
    to_scale,
)
from kernelcast.simcore.isa.opcodes.llvm.packed import shortened, single, to_bf16
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["from_alternate", "to_alternate"]


def from_alternate(code: LaneCode, value: str, type_: ScalarType) -> str:
    """Emits the exact conversion of an alternate format to `float`."""
    if type_ is ScalarType.UE8M0:
        return from_scale(code, value)
    if type_ is ScalarType.BF16:
        return single(code, value)
    return from_narrow(code, value, type_)


def to_alternate(code: LaneCode, value: str, type_: ScalarType, mode: str, is_finite: bool) -> str:
    """A `float` rounded as `mode` says; with `is_finite` the largest number stands for infinity."""
    if type_ is ScalarType.UE8M0:
        return to_scale(code, value, mode == "rp", is_finite)
    if type_ in NARROW:
        return to_narrow(code, value, type_)
    if type_ is ScalarType.BF16:
        bits, largest, infinity = to_bf16(code, value, mode), BF16_LARGEST, 0x7F80
    else:
        is_nan = code.binary("fcmp uno", "float", value, value)
        bits = shortened(code, value, TF32_DROPPED, mode)
        bits = code.select("i32", is_nan, code.splat("i32", TF32_NAN), bits)
        largest, infinity = TF32_LARGEST, 0x7F800000
    if not is_finite:
        return bits
    lane, top = LLVM_TYPES[type_], 1 << (type_.bits - 1)
    sign = code.binary("and", lane, bits, code.splat(lane, top))
    magnitude = code.binary("and", lane, bits, code.splat(lane, top - 1))
    is_infinite = code.binary("icmp eq", lane, magnitude, code.splat(lane, infinity))
    limit = code.binary("or", lane, sign, code.splat(lane, largest))
    return code.select(lane, is_infinite, limit, bits)
