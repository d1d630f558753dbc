"""`cvt.rs`: conversions of f32 that round at random, by bits that the source gives.

The bits are added below the last place that stays, and a carry rounds up in magnitude (PTX ISA 9.0,
cvt). Which bits of `rbits` each operand takes: f16 the lowest 13 and bf16 all of its half; e4m3,
e5m2, e2m3 and e3m2 the half of their pair, both the same 16; e2m1 a byte of each half, the upper
ones the first pair.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kernelcast.simcore.isa.numerics.narrow_formats import NARROW, to_narrow
from kernelcast.simcore.isa.numerics.packed import BF16_NAN, Array, joined
from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Columns
from kernelcast.simcore.isa.opcodes.llvm import random_rounding as llvm
from kernelcast.simcore.isa.opcodes.rounding import rectified
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__: list[str] = []

_PAIRS = (ScalarType.F16X2, ScalarType.BF16X2)
_FOURS = (
    *(ScalarType.E4M3X4, ScalarType.E5M2X4, ScalarType.E2M3X4, ScalarType.E3M2X4),
    ScalarType.E2M1X4,
)
_of_f32 = partial(
    opcode,
    sources=(ScalarType.F32,),
    unit=Unit.CONVERSION,
    modifiers=("relu", "satfinite"),
)
_BF16_LARGEST, _BF16_INFINITY = 0x7F7F, 0x7F80


def _bits_of_f32(value: Array) -> Array:
    return np.asarray(value).view(np.uint32)


def _to_bf16(value: Array, random: Array) -> Array:
    """Rounds to bf16 by random bits; exponents are those of f32, 16 bits are cut off."""
    bits = _bits_of_f32(value)
    rounded = ((bits + random) >> np.uint32(16)).astype(np.uint16)
    special = np.where(np.isnan(value), np.uint16(BF16_NAN), (bits >> np.uint32(16)))
    return np.where(np.isfinite(value), rounded, special).astype(np.uint16)


def _rounded(context: Context, value: Array, random: Array, width: int) -> Array:
    """The code of one element; `random` are so many bits, as uint32."""
    if "relu" in context.modifiers:
        value = rectified(value)
    element = context.type.element
    if element is ScalarType.BF16:
        code, largest, infinity = _to_bf16(value, random), _BF16_LARGEST, _BF16_INFINITY
    else:
        fraction = np.ldexp(random.astype(np.float64), -width)
        code, largest = to_narrow(value, element, fraction), NARROW[element].largest
        infinity = largest + 1
    if element.bits < 16 or "satfinite" not in context.modifiers:
        return code
    sign = code & np.uint16(0x8000)
    return np.where(code - sign == infinity, sign | np.uint16(largest), code).astype(np.uint16)


@_of_f32(
    "cvt.pair.rs",
    "t=ssu",
    _PAIRS,
    columns=Columns(forms=ptx_forms.RANDOM_PAIR),
    llvm=llvm.emit_pair,
)
def _pair(context: Context, upper: Array, lower: Array, random: Array) -> Array:
    width = llvm.pair_width(context)
    mask = np.uint32((1 << width) - 1)
    halves = random & mask, (random >> np.uint32(16)) & mask
    low, high = (
        _rounded(context, value, bits, width).view(context.type.element.dtype)
        for value, bits in zip((lower, upper), halves, strict=True)
    )
    return joined([low, high], context.type)


@_of_f32(
    "cvt.four.rs",
    "t=ssssu",
    _FOURS,
    columns=Columns(forms=ptx_forms.RANDOM_FOUR),
    llvm=llvm.emit_four,
)
def _four(context: Context, *operands: Array) -> Array:
    """The first is the uppermost."""
    *values, random = operands
    element, dtype = context.type.element, context.type.dtype.type
    word = np.zeros((), context.type.dtype)
    for place, value in enumerate(reversed(values)):
        bits = _shared_bits(random, place >= 2, element is ScalarType.E2M1)
        code = _rounded(context, value, bits, 16).astype(context.type.dtype)
        word = word | (code << dtype(place * element.bits))
    return word


def _shared_bits(random: Array, is_upper: bool, is_by_bytes: bool) -> Array:
    """The 16 bits of a pair of elements."""
    if not is_by_bytes:
        return (random >> np.uint32(16 * is_upper)) & np.uint32(0xFFFF)
    moved = random >> np.uint32(8 * is_upper)
    return (moved & np.uint32(0xFF)) | ((moved >> np.uint32(8)) & np.uint32(0xFF00))
