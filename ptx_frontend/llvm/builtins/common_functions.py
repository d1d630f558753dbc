"""Common and geometric functions (OpenCL 1.2, 6.12.4 and 6.12.5) of float and double."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kernelcast.ptx_frontend.llvm.builtins.call import (
    BuiltinCall,
    Handler,
    LaneFunction,
    float_bits,
)
from kernelcast.ptx_frontend.llvm.builtins.integer_functions import INTEGER_FUNCTIONS
from kernelcast.ptx_frontend.llvm.builtins.math_functions import computed, narrowed, widened
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["COMMON_FUNCTIONS"]


def _op(call: BuiltinCall, name: str, type_: ScalarType, *operands: Operand) -> Operand:
    return call.compute(f"{name}.{type_.ptx_name}", type_.bits, *operands)


def _clamp(
    call: BuiltinCall, type_: ScalarType, x: Operand, low: Operand, high: Operand
) -> Operand:
    return _op(call, "min", type_, _op(call, "max", type_, x, low), high)


def _times(factor: float) -> LaneFunction:
    def lane(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
        return _op(call, "mul", type_, x, float_bits(type_, factor))

    return lane


def _mix(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand, a: Operand) -> Operand:
    return _op(call, "fma.rn", type_, _op(call, "sub", type_, y, x), a, x)


def _step(call: BuiltinCall, type_: ScalarType, edge: Operand, x: Operand) -> Operand:
    is_below = call.compute(f"setp.lt.{type_.ptx_name}", 1, x, edge)
    zero, one = float_bits(type_, 0.0), float_bits(type_, 1.0)
    return call.select(type_.bits, is_below, zero, one)


def _smoothstep(
    call: BuiltinCall, type_: ScalarType, low: Operand, high: Operand, x: Operand
) -> Operand:
    """3t^2 - 2t^3 of the clamped place t between the edges."""
    extent = _op(call, "sub", type_, high, low)
    place = _op(call, "div.rn", type_, _op(call, "sub", type_, x, low), extent)
    t = _clamp(call, type_, place, float_bits(type_, 0.0), float_bits(type_, 1.0))
    rest = _op(call, "fma.rn", type_, t, float_bits(type_, -2.0), float_bits(type_, 3.0))
    return _op(call, "mul", type_, _op(call, "mul", type_, t, t), rest)


def _sign(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    """Zeros keep their sign; that of NaN is 0."""
    one = float_bits(type_, 1.0)
    unit = _op(call, "copysign", type_, x, one)
    is_zero = call.compute(f"setp.eq.{type_.ptx_name}", 1, x, float_bits(type_, 0.0))
    is_nan = call.compute(f"testp.notanumber.{type_.ptx_name}", 1, x)
    found = call.select(type_.bits, is_zero, x, unit)
    return call.select(type_.bits, is_nan, float_bits(type_, 0.0), found)


def _lanes(function: LaneFunction) -> Handler:
    """half is computed in float."""

    def of_half(call: BuiltinCall, _type: ScalarType, *operands: Operand) -> Operand:
        wide = [widened(call, operand) for operand in operands]
        return narrowed(call, function(call, ScalarType.F32, *wide))

    def lower(call: BuiltinCall) -> Value:
        if call.element() is ScalarType.F16:
            return call.each(of_half)
        _expect_wide_float(call)
        return call.each(function)

    return lower


def _expect_wide_float(call: BuiltinCall) -> None:
    if call.element() not in (ScalarType.F32, ScalarType.F64):
        raise call.refused(f"of {call.element().ptx_name}")


def _by_kind(name: str, of_floats: LaneFunction) -> Handler:
    """What integers have too."""
    of_integers = INTEGER_FUNCTIONS[name]

    def lower(call: BuiltinCall) -> Value | None:
        if call.element().is_integer:
            return of_integers(call)
        return _lanes(of_floats)(call)

    return lower


def _extremum(name: str) -> LaneFunction:
    return lambda call, type_, x, y: _op(call, name, type_, x, y)


def _dot_of(
    call: BuiltinCall, type_: ScalarType, xs: Sequence[Operand], ys: Sequence[Operand]
) -> Operand:
    total = _op(call, "mul", type_, xs[0], ys[0])
    for x, y in zip(xs[1:], ys[1:], strict=True):
        total = _op(call, "fma.rn", type_, x, y, total)
    return total


def _dot(call: BuiltinCall) -> Value:
    call.expect(2)
    _expect_wide_float(call)
    x, y = call.site.arguments
    return call.value(_dot_of(call, call.element(), x.parts, y.parts))


def _cross(call: BuiltinCall) -> Value:
    """Lowers a cross product of the first three elements; a fourth becomes 0."""
    call.expect(2)
    _expect_wide_float(call)
    type_ = call.element()
    x, y = (argument.parts for argument in call.site.arguments)
    parts = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        back = _op(call, "neg", type_, _op(call, "mul", type_, x[j], y[i]))
        parts.append(_op(call, "fma.rn", type_, x[i], y[j], back))
    zeros = [float_bits(type_, 0.0)] * (call.width - len(parts))
    return call.value(*parts, *zeros)


def _exact_length(call: BuiltinCall, type_: ScalarType, x: Sequence[Operand]) -> Operand:
    """Squares that would overflow do not."""
    length = computed(call, "fabs", type_, x[0])
    for part in x[1:]:
        length = computed(call, "hypot", type_, length, part)
    return length


def _fast_length(call: BuiltinCall, type_: ScalarType, x: Sequence[Operand]) -> Operand:
    return computed(call, "sqrt", type_, _dot_of(call, type_, x, x))


def _length(call: BuiltinCall) -> Value:
    call.expect(1)
    _expect_wide_float(call)
    measure = _fast_length if call.name.startswith("fast_") else _exact_length
    return call.value(measure(call, call.element(), call.site.arguments[0].parts))


def _distance(call: BuiltinCall) -> Value:
    call.expect(2)
    _expect_wide_float(call)
    type_ = call.element()
    measure = _fast_length if call.name.startswith("fast_") else _exact_length
    x, y = (argument.parts for argument in call.site.arguments)
    between = [_op(call, "sub", type_, a, b) for a, b in zip(x, y, strict=True)]
    return call.value(measure(call, type_, between))


def _normalize(call: BuiltinCall) -> Value:
    """The direction of a zero is the zero."""
    call.expect(1)
    _expect_wide_float(call)
    type_, x = call.element(), call.site.arguments[0].parts
    measure = _fast_length if call.name.startswith("fast_") else _exact_length
    length = measure(call, type_, x)
    is_zero = call.compute(f"setp.eq.{type_.ptx_name}", 1, length, float_bits(type_, 0.0))
    divisor = call.select(type_.bits, is_zero, float_bits(type_, 1.0), length)
    return call.value(*(_op(call, "div.rn", type_, part, divisor) for part in x))


COMMON_FUNCTIONS: Mapping[str, Handler] = {
    "clamp": _by_kind("clamp", _clamp),
    "max": _by_kind("max", _extremum("max")),
    "min": _by_kind("min", _extremum("min")),
    "degrees": _lanes(_times(180 / math.pi)),
    "radians": _lanes(_times(math.pi / 180)),
    "mix": _lanes(_mix),
    "step": _lanes(_step),
    "smoothstep": _lanes(_smoothstep),
    "sign": _lanes(_sign),
    "cross": _cross,
    "dot": _dot,
    **{f"{speed}length": _length for speed in ("", "fast_")},
    **{f"{speed}distance": _distance for speed in ("", "fast_")},
    **{f"{speed}normalize": _normalize for speed in ("", "fast_")},
}
"""The names that integers share come from here."""
