"""Reciprocals, roots and transcendental functions as LLVM IR: the twin of `transcendental`.

Everything is computed in `double` from truncated series, without tables and library calls. Their
relative error stays below 2**-42: rounded to f32, less than one result in 2**17 is the neighbour of
the correctly rounded one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.opcodes.llvm.rounding import (
    converted,
    float_operation,
    llvm_float_modes,
    llvm_modes_of_normal_results,
)
from kernelcast.simcore.isa.opcodes.llvm.sine import cosine, polynomial, sine
from kernelcast.simcore.isa.opcodes.table import Context, Emission

__all__ = ["FUNCTIONS", "emit_rcp", "emit_sqrt", "function_emission"]

_ROUNDER = 1.5 * 2.0**52
"""Adding it rounds a `double` to an integer, which the low bits of the sum then hold."""
_EXPONENT_SHIFT = 52
_EXP2_SERIES = [math.log(2) ** k / math.factorial(k) for k in range(12)]
"""2**r for |r| <= 1/2."""
_LOG2_SERIES = [2 / math.log(2) / (2 * k + 1) for k in range(8)]
"""log2((1 + s) / (1 - s)) / s in powers of s**2, for |s| <= 3 - sqrt(8)."""
_TANH_SERIES = [float(Fraction(*q)) for q in ((1, 1), (-1, 3), (2, 15), (-17, 315), (62, 2835))]
"""tanh(x) / x in powers of x**2, for |x| < 1/16."""
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@llvm_float_modes
def emit_rcp(code: LaneCode, context: Context, a: str) -> str:
    """Emits `rcp`: 1 / a, correctly rounded."""
    return float_operation(code, context, "fdiv", code.real(context.type, 1.0), a)


@llvm_modes_of_normal_results
def emit_sqrt(code: LaneCode, context: Context, a: str) -> str:
    """Emits `sqrt`, correctly rounded."""
    return float_operation(code, context, "sqrt", a)


def function_emission(function: Callable[[LaneCode, str], str]) -> Emission:
    """The function of a `double`, rounded to the type of the instruction."""

    is_normal = function in (_inverse_root, _log2)
    modes = llvm_modes_of_normal_results if is_normal else llvm_float_modes

    @modes
    def emit(code: LaneCode, context: Context, a: str) -> str:
        lane = LLVM_TYPES[context.type]
        return converted(code, "double", function(code, converted(code, lane, a, "double")), lane)

    return emit


def _inverse_root(code: LaneCode, a: str) -> str:
    root = code.intrinsic("sqrt", "double", [(code.type("double"), a)])
    return code.binary("fdiv", "double", code.real("double", 1.0), root)


def _limited(code: LaneCode, a: str, low: float, high: float) -> str:
    """Clamps, and lets NaN through."""
    for predicate, limit in (("olt", low), ("ogt", high)):
        bound = code.real("double", limit)
        is_outside = code.binary(f"fcmp {predicate}", "double", a, bound)
        a = code.select("double", is_outside, bound, a)
    return a


def _exp2(code: LaneCode, a: str) -> str:
    """2**n * 2**r with the nearest integer n; beyond +-400 every result type has long ended."""
    a = _limited(code, a, -400.0, 400.0)
    rounder = code.real("double", _ROUNDER)
    shifted = code.binary("fadd", "double", a, rounder)
    rest = code.binary("fsub", "double", a, code.binary("fsub", "double", shifted, rounder))
    bits = code.cast("bitcast", "double", polynomial(code, rest, _EXP2_SERIES), "i64")
    integer = code.cast("bitcast", "double", shifted, "i64")
    scale = code.binary("shl", "i64", integer, code.splat("i64", _EXPONENT_SHIFT))
    scaled = code.cast("bitcast", "i64", code.binary("add", "i64", bits, scale), "double")
    return code.select("double", code.binary("fcmp uno", "double", a, a), a, scaled)


def _log2(code: LaneCode, a: str) -> str:
    """e + log2(m) with a = m * 2**e and m between the roots of 1/2 and 2; a is no subnormal."""

    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "double", x, y)

    bits = code.cast("bitcast", "double", a, "i64")
    above = code.binary("sub", "i64", bits, code.splat("i64", _SQRT_HALF_BITS))
    exponent = code.binary("ashr", "i64", above, code.splat("i64", _EXPONENT_SHIFT))
    scale = code.binary("shl", "i64", exponent, code.splat("i64", _EXPONENT_SHIFT))
    mantissa = code.cast("bitcast", "i64", code.binary("sub", "i64", bits, scale), "double")
    one, zero = code.real("double", 1.0), code.real("double", 0.0)
    ratio = op("fdiv", op("fsub", mantissa, one), op("fadd", mantissa, one))
    series = polynomial(code, op("fmul", ratio, ratio), _LOG2_SERIES)
    whole = code.cast("sitofp", "i32", code.cast("trunc", "i64", exponent, "i32"), "double")
    result = op("fadd", whole, op("fmul", ratio, series))
    infinity = code.real("double", math.inf)
    # NaN and infinity are their own logarithms
    result = code.select("double", op("fcmp olt", a, infinity), result, a)
    result = code.select("double", op("fcmp olt", a, zero), code.real("double", math.nan), result)
    return code.select("double", op("fcmp oeq", a, zero), code.real("double", -math.inf), result)


def _tanh(code: LaneCode, a: str) -> str:
    """1 - 2 / (exp(2|a|) + 1), but the series where that would cancel."""

    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "double", x, y)

    kind, one = code.type("double"), code.real("double", 1.0)
    magnitude = code.intrinsic("fabs", "double", [(kind, a)])
    power = _exp2(code, op("fmul", magnitude, code.real("double", 2 / math.log(2))))
    quotient = op("fdiv", code.real("double", 2.0), op("fadd", power, one))
    signed = [(kind, op("fsub", one, quotient)), (kind, a)]
    large = code.intrinsic("copysign", "double", signed)
    small = op("fmul", a, polynomial(code, op("fmul", a, a), _TANH_SERIES))
    is_small = op("fcmp olt", magnitude, code.real("double", 1 / 16))
    return code.select("double", is_small, small, large)


FUNCTIONS: dict[str, Callable[[LaneCode, str], str]] = {
    "rsqrt": _inverse_root,
    "sin": sine,
    "cos": cosine,
    "ex2": _exp2,
    "lg2": _log2,
    "tanh": _tanh,
}
"""The emission of each approximate function, from `double` to `double`."""
