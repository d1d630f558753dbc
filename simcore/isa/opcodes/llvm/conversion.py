"""`cvt` as LLVM IR: the twin of `conversion`."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.numerics.packed import TO_ODD
from kernelcast.simcore.isa.opcodes.element_types import of_elements
from kernelcast.simcore.isa.opcodes.llvm.alternate_formats import from_alternate, to_alternate
from kernelcast.simcore.isa.opcodes.llvm.packed import elements, joined
from kernelcast.simcore.isa.opcodes.llvm.rounding import (
    converted,
    flushed,
    rectified,
    saturated,
    toward,
)
from kernelcast.simcore.isa.opcodes.rounding import directed_mode, rounding_mode
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = ["alternate_mode", "emit_cvt", "emit_cvt_packed", "emit_cvt_pair"]

_TO_INTEGRAL = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def alternate_mode(context: Context) -> str:
    """How a result in an alternate format is rounded: `rna` is possible there."""
    return "rna" if "rna" in context.modifiers else directed_mode(context)


def emit_cvt(code: LaneCode, context: Context, a: str) -> str:
    """Emits `cvt` between two scalar types, with the modifiers of rounding and saturation."""
    if "ftz" in context.modifiers and context.source_type is ScalarType.F32:
        a = flushed(code, ScalarType.F32, a)
    if context.source_type.kind is Kind.ALTERNATE:
        a = from_alternate(code, a, context.source_type)
        context = Context(context.type, ScalarType.F32, context.modifiers)
    target, is_finite = context.type, "satfinite" in context.modifiers
    if target.is_integer:
        return _to_integer(code, context, a)
    if target.kind is Kind.ALTERNATE:
        single = Context(ScalarType.F32, context.source_type, context.modifiers | {TO_ODD})
        number = _limited(code, context, ScalarType.F32, _to_float(code, single, a))
        return to_alternate(code, number, target, alternate_mode(context), is_finite)
    result = _to_float(code, context, a)
    if "ftz" in context.modifiers and target is ScalarType.F32:
        result = flushed(code, target, result)
    result = _limited(code, context, target, result)
    return _finite(code, target, result) if is_finite else result


def emit_cvt_pair(code: LaneCode, context: Context, upper: str, lower: str) -> str:
    """Converts each, and puts them side by side."""
    inner, element = of_elements(context), context.type.element
    part, lane = f"i{element.bits}", f"i{context.type.bits}"
    placed = []
    for value in (upper, lower):
        converted_value = emit_cvt(code, inner, value)
        bits = code.cast("bitcast", element, converted_value, part)
        placed.append(code.cast("zext", part, bits, lane))
    high = code.binary("shl", lane, placed[0], code.splat(lane, element.bits))
    return code.binary("or", lane, high, placed[1])


def emit_cvt_packed(code: LaneCode, context: Context, a: str) -> str:
    """Emits `cvt` of both elements of a packed operand."""
    wide = code.with_lanes(2 * code.lanes)
    parts = elements(code, context.source_type, a)
    return joined(code, context.type, emit_cvt(wide, of_elements(context), parts))


def _to_float(code: LaneCode, context: Context, a: str) -> str:
    if not context.source_type.is_float:
        return _integer_to_float(code, context, a)
    lane, value = _integral(code, context, a)
    return converted(code, lane, value, LLVM_TYPES[context.type], rounding_mode(context))


def _limited(code: LaneCode, context: Context, type_: ScalarType, result: str) -> str:
    if "relu" in context.modifiers:
        result = rectified(code, type_, result)
    return saturated(code, type_, result) if "sat" in context.modifiers else result


def _finite(code: LaneCode, type_: ScalarType, value: str) -> str:
    """The largest number of its sign for an infinity: one less as bits."""
    lane, top = f"i{type_.bits}", 1 << (type_.bits - 1)
    bits = code.cast("bitcast", type_, value, lane)
    magnitude = code.binary("and", lane, bits, code.splat(lane, top - 1))
    infinity = int(np.array(np.inf, type_.dtype).view(type_.storage))
    is_infinite = code.binary("icmp eq", lane, magnitude, code.splat(lane, infinity))
    below = code.binary("sub", lane, bits, code.splat(lane, 1))
    return code.cast("bitcast", lane, code.select(lane, is_infinite, below, bits), type_)


def _integral(code: LaneCode, context: Context, a: str) -> tuple[str, str]:
    """(LLVM type, value) rounded to an integral value if the context says so; f16 as `float`."""
    lane = LLVM_TYPES[context.source_type]
    names = [name for modifier, name in _TO_INTEGRAL.items() if modifier in context.modifiers]
    if lane == "half":
        lane, a = "float", converted(code, "half", a, "float")
    for name in names:
        a = code.intrinsic(name, lane, [(code.type(lane), a)])
    return lane, a


def _to_integer(code: LaneCode, context: Context, a: str) -> str:
    if context.source_type.is_float:
        return _float_to_integer(code, context, a)
    source, target = context.source_type, context.type
    if "sat" in context.modifiers:
        a = _clamped(code, source, target, a)
    if source.bits >= target.bits:
        return code.cast("trunc", source, a, target)
    return code.cast("sext" if source.is_signed else "zext", source, a, target)


def _clamped(code: LaneCode, source: ScalarType, target: ScalarType, a: str) -> str:
    """The nearest value that both types hold."""
    have, want = np.iinfo(source.dtype), np.iinfo(target.dtype)
    kind, sign = code.type(source), "s" if source.is_signed else "u"
    for name, bound, is_needed in (
        ("max", int(want.min), want.min > have.min),
        ("min", int(want.max), want.max < have.max),
    ):
        if is_needed:
            operands = [(kind, a), (kind, code.splat(source, bound))]
            a = code.intrinsic(f"{sign}{name}", source, operands)
    return a


def _float_to_integer(code: LaneCode, context: Context, a: str) -> str:
    """LLVM's saturating conversion clamps as PTX does and turns NaN into 0."""
    target = context.type
    lane, value = _integral(code, context, a)
    sign = "s" if target.is_signed else "u"
    suffix = f"{code.mangle(target)}.{code.mangle(lane)}"
    operands = [(code.type(lane), value)]
    result = code.intrinsic(f"fpto{sign}i.sat", target, operands, suffix)
    if context.source_type is not ScalarType.F64 and target.bits < 64:
        return result
    is_nan = code.binary("fcmp uno", lane, value, value)
    top_bit = code.splat(target, -(1 << (target.bits - 1)))
    return code.select(target, is_nan, top_bit, result)


def _integer_to_float(code: LaneCode, context: Context, a: str) -> str:
    source, target, mode = context.source_type, LLVM_TYPES[context.type], rounding_mode(context)
    convert = "sitofp" if source.is_signed else "uitofp"
    if target != "half" and not mode:
        return code.cast(convert, source, a, target)
    if source.bits < 64:
        wide = "double" if source.bits == 32 else "float"
        return converted(code, wide, code.cast(convert, source, a, wide), target, mode)
    return _long_to_float(code, source, a, target, mode)


def _long_to_float(code: LaneCode, source: ScalarType, a: str, target: str, mode: str) -> str:
    """A 64-bit integer as the sum of two exact `double`, and from there the rounding asked for."""
    low_bits = code.binary("and", "i64", a, code.splat("i64", 0xFFFFFFFF))
    high_bits = code.binary("sub", "i64", a, low_bits)
    high = code.cast("sitofp" if source.is_signed else "uitofp", source, high_bits, "double")
    low = code.cast("uitofp", source, low_bits, "double")
    total = code.binary("fadd", "double", high, low)
    # high is the larger one or zero: this error is exact (Dekker)
    error = code.binary("fsub", "double", low, code.binary("fsub", "double", total, high))
    near = converted(code, "double", total, target)
    if not mode:
        return near
    back, zero = converted(code, target, near, "double"), code.real("double", 0.0)
    is_equal = code.binary("fcmp oeq", "double", back, total)
    is_below, is_above = (
        code.select(
            "i1",
            is_equal,
            code.binary(f"fcmp {of_zero}", "double", error, zero),
            code.binary(f"fcmp {of_total}", "double", back, total),
        )
        for of_zero, of_total in (("ogt", "olt"), ("olt", "ogt"))
    )
    return toward(code, target, near, is_below, is_above, mode)
