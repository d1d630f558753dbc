"""Rounding in other directions than to nearest, from operations that round to nearest.

AMD's GPUs round as a register of the wavefront says, which compilers leave alone. Here an operation
is rounded to nearest and compared with the exact result, which its error, a product of twice the
digits or a remainder gives without rounding (Muller et al., Handbook of Floating-Point Arithmetic,
2nd ed., sections 4.3 and 4.4); then its neighbour may be taken.
"""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.rounding import toward

__all__ = ["AmdLaneCode", "NotTranslated"]

_FAR = -250
"""The least exponent of a part beside a larger one, which has twice 53 digits."""


class NotTranslated(Exception):
    """Why an instruction has no translation; the message names it."""


class AmdLaneCode(LaneCode):
    """Straight-line code for AMD's GPUs."""

    def directed(self, lane: str, operation: str, operands: tuple[str, ...], mode: str) -> str:
        """An operation on `float` or `double` rounded once as `mode` says."""
        exact = _SINGLE if lane == "float" else _DOUBLE
        if operation not in exact:
            raise NotTranslated(f"{operation} of {lane} rounded towards another side")
        return exact[operation](self, lane, operands, mode)


def _wide(code: LaneCode, *values: str) -> list[str]:
    return [code.cast("fpext", "float", value, "double") for value in values]


def _magnitude(code: LaneCode, value: str) -> str:
    return code.intrinsic("fabs", "double", [(code.type("double"), value)])


def _sum_and_error(code: LaneCode, a: str, b: str) -> tuple[str, str]:
    """A sum of two `double` and what it lacks, which is exact (Dekker: the larger one first)."""
    is_larger = code.binary("fcmp oge", "double", _magnitude(code, a), _magnitude(code, b))
    large = code.select("double", is_larger, a, b)
    small = code.select("double", is_larger, b, a)
    total = code.binary("fadd", "double", a, b)
    back = code.binary("fsub", "double", total, large)
    return total, code.binary("fsub", "double", small, back)


def _signs(code: LaneCode, lane: str, near: str, value: str) -> tuple[str, str]:
    """Whether `near` is below and above another number."""
    below = code.binary("fcmp olt", lane, near, value)
    return below, code.binary("fcmp ogt", lane, near, value)


def _sign_of_zero(code: LaneCode, lane: str, a: str, b: str) -> str:
    """Which zero an exact sum is downwards: -0, unless both `double` are +0 (IEEE 754, 6.3)."""
    bits = [code.cast("bitcast", "double", x, "i64") for x in (a, b)]
    is_plus = code.binary("icmp eq", "i64", code.binary("or", "i64", *bits), code.splat("i64", 0))
    return code.select(lane, is_plus, code.real(lane, 0.0), code.real(lane, -0.0))


def _narrow_sum(code: LaneCode, a: str, b: str, mode: str) -> str:
    """The sum of two `double`, which it may not hold, as `float`."""
    total, error = _sum_and_error(code, a, b)
    near = code.cast("fptrunc", "double", total, "float")
    (back,) = _wide(code, near)
    zero = code.real("double", 0.0)
    is_equal = code.binary("fcmp oeq", "double", back, total)
    of_total, of_error = _signs(code, "double", back, total), _signs(code, "double", zero, error)
    below, above = (code.select("i1", is_equal, of_error[side], of_total[side]) for side in (0, 1))
    found = toward(code, "float", near, below, above, mode)
    if mode != "rm":
        return found
    is_zero = code.binary("fcmp oeq", "double", total, zero)
    signed = _sign_of_zero(code, "float", a, b)
    return code.select("float", is_zero, signed, found)


def _single_sum(code: LaneCode, _lane: str, operands: tuple[str, ...], mode: str) -> str:
    a, b = _wide(code, *operands)
    return _narrow_sum(code, a, b, mode)


def _negated_second(code: LaneCode, lane: str, operands: tuple[str, ...]) -> tuple[str, str]:
    return operands[0], code.op(f"fneg {code.type(lane)} {operands[1]}")


def _single_difference(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    return _single_sum(code, lane, _negated_second(code, lane, operands), mode)


def _single_product(code: LaneCode, _lane: str, operands: tuple[str, ...], mode: str) -> str:
    """The product of two `float` is exact as `double`."""
    product = code.binary("fmul", "double", *_wide(code, *operands))
    near = code.cast("fptrunc", "double", product, "float")
    (back,) = _wide(code, near)
    return toward(code, "float", near, *_signs(code, "double", back, product), mode)


def _single_fused(code: LaneCode, _lane: str, operands: tuple[str, ...], mode: str) -> str:
    a, b, c = _wide(code, *operands)
    return _narrow_sum(code, code.binary("fmul", "double", a, b), c, mode)


def _single_quotient(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    """The nearest quotient times the divisor, exact as `double`, against the dividend."""
    near = code.binary("fdiv", lane, *operands)
    back, a, b = _wide(code, near, *operands)
    below, above = _signs(code, "double", code.binary("fmul", "double", back, b), a)
    is_negative = code.binary("fcmp olt", "double", b, code.real("double", 0.0))
    sides = (
        code.select("i1", is_negative, above, below),
        code.select("i1", is_negative, below, above),
    )
    return toward(code, lane, near, *sides, mode)


def _single_root(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    near = code.intrinsic("sqrt", lane, [(code.type(lane), operands[0])])
    back, a = _wide(code, near, operands[0])
    square = code.binary("fmul", "double", back, back)
    return toward(code, lane, near, *_signs(code, "double", square, a), mode)


def _double_sum(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    a, b = operands
    total, error = _sum_and_error(code, a, b)
    signs = _signs(code, lane, code.real(lane, 0.0), error)
    found = toward(code, lane, total, *signs, mode)
    if mode != "rm":
        return found
    is_zero = code.binary("fcmp oeq", lane, total, code.real(lane, 0.0))
    signed = _sign_of_zero(code, lane, a, b)
    return code.select(lane, is_zero, signed, found)


def _double_difference(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    return _double_sum(code, lane, _negated_second(code, lane, operands), mode)


def _parts(code: LaneCode, value: str) -> tuple[str, str]:
    """A `double` as a number from 1/2 to 1 and the power of two that it is times, as i32."""
    kind = code.type("double")
    if code.lanes != 1:
        raise NotTranslated("several numbers at a time rounded towards another side")
    mantissa = code.intrinsic("amdgcn.frexp.mant", "double", [(kind, value)])
    exponent = code.intrinsic("amdgcn.frexp.exp", "i32", [(kind, value)], "i32.f64")
    return mantissa, exponent


def _scaled(code: LaneCode, value: str, exponent: str) -> str:
    operands = [(code.type("double"), value), (code.type("i32"), exponent)]
    return code.intrinsic("ldexp", "double", operands, "f64.i32")


def _fused(code: LaneCode, a: str, b: str, c: str) -> str:
    return code.intrinsic("fma", "double", [(code.type("double"), x) for x in (a, b, c)])


def _negated(code: LaneCode, value: str) -> str:
    return code.op(f"fneg {code.type('double')} {value}")


def _double_product(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    """Products of numbers from 1/2 to 1 have an exact error; the result is scaled likewise."""
    near = code.binary("fmul", lane, *operands)
    (a, first), (b, second) = (_parts(code, x) for x in operands)
    power = code.binary("add", "i32", first, second)
    back = _scaled(code, near, code.binary("sub", "i32", code.splat("i32", 0), power))
    product = code.binary("fmul", lane, a, b)
    error = _fused(code, a, b, _negated(code, product))
    distance = code.binary("fsub", lane, back, product)
    return toward(code, lane, near, *_signs(code, lane, distance, error), mode)


def _double_quotient(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    """The remainder of the nearest quotient, which a fused product gives with its sign."""
    near = code.binary("fdiv", lane, *operands)
    (a, first), (b, second) = (_parts(code, x) for x in operands)
    back = _scaled(code, near, code.binary("sub", "i32", second, first))
    zero = code.real(lane, 0.0)
    below, above = _signs(code, lane, _fused(code, back, b, _negated(code, a)), zero)
    is_negative = code.binary("fcmp olt", lane, b, zero)
    sides = (
        code.select("i1", is_negative, above, below),
        code.select("i1", is_negative, below, above),
    )
    return toward(code, lane, near, *sides, mode)


def _double_root(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    """The rest that the square of the nearest root leaves; its argument is scaled by fours."""
    (value,) = operands
    near = code.intrinsic("sqrt", lane, [(code.type(lane), value)])
    mantissa, exponent = _parts(code, value)
    odd = code.binary("and", "i32", exponent, code.splat("i32", 1))
    argument = _scaled(code, mantissa, odd)
    half = code.binary(
        "ashr", "i32", code.binary("sub", "i32", exponent, odd), code.splat("i32", 1)
    )
    back = _scaled(code, near, code.binary("sub", "i32", code.splat("i32", 0), half))
    rest = _fused(code, back, back, _negated(code, argument))
    return toward(code, lane, near, *_signs(code, lane, rest, code.real(lane, 0.0)), mode)


def _larger(code: LaneCode, first: str, second: str) -> str:
    return code.select("i32", code.binary("icmp sgt", "i32", first, second), first, second)


def _together(code: LaneCode, operands: tuple[str, ...]) -> tuple[tuple[str, str, str], str]:
    """Factors and addend, scaled so that the larger part is about one, and the power of two.

    A part that is smaller by more than all digits of both is made larger: only its sign counts.
    """
    (a, first), (b, second), (c, third) = (_parts(code, x) for x in operands)
    zero = code.real("double", 0.0)
    has_no_a, has_no_b, has_no_c = (code.binary("fcmp oeq", "double", x, zero) for x in (a, b, c))
    power = code.binary("add", "i32", first, second)
    power = code.select("i32", code.binary("or", "i1", has_no_a, has_no_b), third, power)
    third = code.select("i32", has_no_c, power, third)
    top, least = _larger(code, power, third), code.splat("i32", _FAR)
    of_product, of_addend = (
        _larger(code, code.binary("sub", "i32", part, top), least) for part in (power, third)
    )
    return (a, _scaled(code, b, of_product), _scaled(code, c, of_addend)), top


def _error_of_fused(code: LaneCode, a: str, b: str, c: str) -> tuple[str, str]:
    """A fused product and sum, and a number with the sign of what it lacks.

    Boldo and Muller, Exact and Approximated Error of the FMA, IEEE Transactions on Computers, 2011.
    """
    near, product = _fused(code, a, b, c), code.binary("fmul", "double", a, b)
    rest = _fused(code, a, b, _negated(code, product))
    upper, lower = _sum_and_error(code, c, rest)
    total, beside = _sum_and_error(code, product, upper)
    lacking = code.binary("fadd", "double", code.binary("fsub", "double", total, near), beside)
    return near, code.binary("fadd", "double", lacking, lower)


def _double_fused(code: LaneCode, lane: str, operands: tuple[str, ...], mode: str) -> str:
    """The error of the scaled operation; the result, which may be subnormal, is scaled likewise."""
    near = _fused(code, *operands)
    scaled, top = _together(code, operands)
    of_scaled, error = _error_of_fused(code, *scaled)
    back = _scaled(code, near, code.binary("sub", "i32", code.splat("i32", 0), top))
    distance = code.binary("fsub", lane, back, of_scaled)
    found = toward(code, lane, near, *_signs(code, lane, distance, error), mode)
    if mode != "rm":
        return found
    zero = code.real(lane, 0.0)
    is_zero, is_exact = (code.binary("fcmp oeq", lane, x, zero) for x in (of_scaled, error))
    product = code.binary("fmul", lane, *operands[:2])
    signed = _sign_of_zero(code, lane, product, operands[2])
    return code.select(lane, code.binary("and", "i1", is_zero, is_exact), signed, found)


_SINGLE = {
    "fadd": _single_sum,
    "fsub": _single_difference,
    "fmul": _single_product,
    "fdiv": _single_quotient,
    "fma": _single_fused,
    "sqrt": _single_root,
}
_DOUBLE = {
    "fadd": _double_sum,
    "fsub": _double_difference,
    "fmul": _double_product,
    "fdiv": _double_quotient,
    "fma": _double_fused,
    "sqrt": _double_root,
}
