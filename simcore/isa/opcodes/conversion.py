"""`cvt`: between integers, floating-point numbers and integral values of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.simcore.isa.numerics.alternate_formats import from_alternate, to_alternate
from kernelcast.simcore.isa.numerics.packed import TO_ODD, elements, joined
from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns
from kernelcast.simcore.isa.opcodes.element_types import of_elements
from kernelcast.simcore.isa.opcodes.llvm import conversion as llvm
from kernelcast.simcore.isa.opcodes.llvm.conversion import alternate_mode
from kernelcast.simcore.isa.opcodes.rounding import (
    FLUSH_SATURATE,
    ROUNDINGS,
    Array,
    exact_sign,
    flush,
    rectified,
    rounding_mode,
    saturate,
    toward,
)
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import FLOATS, INTEGERS, Kind, ScalarType, Unit

__all__: list[str] = []

_TO_INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_NUMBERS = (ScalarType.U8, ScalarType.S8, *INTEGERS, *FLOATS, ScalarType.BF16)
_PAIRS = (
    *(ScalarType.F16X2, ScalarType.BF16X2, ScalarType.E4M3X2, ScalarType.E5M2X2),
    *(ScalarType.E2M3X2, ScalarType.E3M2X2, ScalarType.E2M1X2, ScalarType.UE8M0X2),
)
_FINITE = "satfinite"
_MODIFIERS = (*ROUNDINGS, "rna", *_TO_INTEGRAL, *FLUSH_SATURATE, "relu", _FINITE)


@opcode(
    "cvt",
    "t=s",
    (*_NUMBERS, ScalarType.TF32),
    sources=_NUMBERS,
    unit=Unit.CONVERSION,
    modifiers=_MODIFIERS,
    columns=Columns(algebra=Algebra.CONVERSION, forms=ptx_forms.CONVERSION),
    llvm=llvm.emit_cvt,
)
def _cvt(context: Context, a: Array) -> Array:
    """`.ftz` flushes single precision only; floating-point to integer always clamps."""
    if "ftz" in context.modifiers and context.source_type is ScalarType.F32:
        a = flush(a)
    if context.source_type.kind is Kind.ALTERNATE:
        a = from_alternate(a, context.source_type)
        context = Context(context.type, ScalarType.F32, context.modifiers)
    if context.type.is_integer:
        if context.source_type.is_float:
            return _float_to_integer(context, a)
        return _integer_to_integer(context, a)
    is_finite = _FINITE in context.modifiers
    if context.type.kind is Kind.ALTERNATE:
        single = Context(ScalarType.F32, context.source_type, context.modifiers | {TO_ODD})
        number = _limited(context, _to_float(single, a))
        return to_alternate(number, context.type, alternate_mode(context), is_finite)
    result = _limited(context, _to_float(context, a))
    if not is_finite:
        return result
    most = np.finfo(result.dtype).max
    return np.where(np.isinf(result), np.copysign(most, result), result)


def _limited(context: Context, result: Array) -> Array:
    if "ftz" in context.modifiers and context.type is ScalarType.F32:
        result = flush(result)
    if "relu" in context.modifiers:
        result = rectified(result)
    return saturate(result) if "sat" in context.modifiers else result


@opcode(
    "cvt.pair",
    "t=ss",
    _PAIRS,
    sources=(ScalarType.F32,),
    unit=Unit.CONVERSION,
    modifiers=_MODIFIERS,
    columns=Columns(forms=ptx_forms.PACKING),
    llvm=llvm.emit_cvt_pair,
)
def _cvt_pair(context: Context, upper: Array, lower: Array) -> Array:
    inner = of_elements(context)
    return joined([_cvt(inner, lower), _cvt(inner, upper)], context.type)


@opcode(
    "cvt.packed",
    "t=s",
    _PAIRS,
    sources=_PAIRS,
    unit=Unit.CONVERSION,
    modifiers=_MODIFIERS,
    columns=Columns(forms=ptx_forms.PACKING),
    llvm=llvm.emit_cvt_packed,
)
def _cvt_packed(context: Context, a: Array) -> Array:
    inner = of_elements(context)
    parts = elements(a, context.source_type)
    return joined([_cvt(inner, part) for part in parts], context.type)


def _integral(context: Context, a: Array) -> Array:
    for name, function in _TO_INTEGRAL.items():
        if name in context.modifiers:
            return function(a)
    return a


def _to_float(context: Context, a: Array) -> Array:
    a = _integral(context, a) if context.source_type.is_float else a
    nearest = a.astype(context.type.dtype)
    mode = rounding_mode(context)
    if not mode:
        return nearest
    side = exact_sign(0.0, 0.0, *_exact_parts(a), -nearest)
    return toward(nearest, side, np.isfinite(a), mode)


def _exact_parts(a: Array) -> tuple[Array, ...]:
    """Float64 numbers that add up to `a`: a 64-bit integer needs two."""
    if a.dtype.kind == "f" or a.dtype.itemsize < 8:
        return (a.astype(np.float64),)
    low = a & a.dtype.type(0xFFFFFFFF)
    return (a - low).astype(np.float64), low.astype(np.float64)


def _integer_to_integer(context: Context, a: Array) -> Array:
    if "sat" in context.modifiers:
        source, target = np.iinfo(a.dtype), np.iinfo(context.type.dtype)
        low, high = max(source.min, target.min), min(source.max, target.max)
        a = np.clip(a, a.dtype.type(low), a.dtype.type(high))
    return a.astype(context.type.dtype)


def _float_to_integer(context: Context, a: Array) -> Array:
    """Converts to an integer, clamped to its range.

    NaN gives 0 from f16 and f32 to integers below 64 bits, else the integer whose top bit alone is
    set (PTX ISA, cvt).
    """
    dtype = context.type.dtype
    limits = np.iinfo(dtype)
    value = _integral(context, a).astype(np.float64)
    # the upper bound of 64-bit integers is no float64: compare with the power of two above it
    low, above = float(limits.min), float(limits.max + 1)
    if value.size and low <= value.min() and value.max() < above:  # false with a NaN
        return value.astype(dtype)
    too_large, too_small = value >= above, value < low
    is_outside = too_large | too_small | np.isnan(value)
    result = np.where(is_outside, 0.0, value).astype(dtype)
    result = np.where(too_large, dtype.type(limits.max), result)
    result = np.where(too_small, dtype.type(limits.min), result)
    if context.source_type is ScalarType.F64 or context.type.bits == 64:
        top_bit = context.type.storage.type(1 << (context.type.bits - 1)).view(dtype)
        result = np.where(np.isnan(value), top_bit, result)
    return result
