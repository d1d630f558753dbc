"""The mathematical functions of OpenCL (specification 1.2, section 6.12.2) as formulas.

Arguments and results are `double`; those of `float` are rounded once at the end. Errors stay below
the bounds of section 7.4 for `double`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature

from kernelcast.simcore.isa.numerics.double_formulas import Double, Formula
from kernelcast.simcore.isa.numerics.single_formulas import SINGLE
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["formulas"]

_STEP_DOWN = 2.0**-969
"""2**-1022 * 2**53: a number that does not end as zero is normal after it."""
_STEP_UP = 2.0**1023
_QUOTIENTS = 128.0
"""`remquo` gives the quotient modulo this."""
_NO_LOGARITHM = -(2.0**31)
_LARGEST_BELOW_ONE = {ScalarType.F32: 1 - 2.0**-24, ScalarType.F64: 1 - 2.0**-53}

_LIBRARY: dict[str, int] = {
    **dict.fromkeys(
        (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc"),
            *("exp", "exp2", "expm1", "lgamma", "log", "log2", "log10", "log1p", "logb", "round"),
            *("sin", "sinh", "tan", "tanh", "tgamma"),
        ),
        1,
    ),
    **dict.fromkeys(("atan2", "fmod", "hypot", "pow", "remainder"), 2),
}
"""Functions that the C library has, with their number of operands."""


def _cbrt(x: Double) -> Double:
    """A step of Newton's method after the C library's, whose error is larger in places."""
    near = x.by_libm("cbrt")
    better = near - (near - x / (near * near)) / 3.0
    return better.is_nan.choose(near, better)


def _half_turns(x: Double) -> Double:
    """x less an even integer, exactly: from -1 to 1."""
    return x - (x * 0.5).unary("roundeven") * 2.0


def _sinpi(x: Double) -> Double:
    angle = _half_turns(x)
    folded = x.like(1.0).with_sign_of(angle) - angle
    sine = ((abs(angle) <= 0.5).choose(angle, folded) * math.pi).by_libm("sin")
    return sine.equals(0.0).choose(sine.with_sign_of(x), sine)


def _cospi(x: Double) -> Double:
    angle = abs(_half_turns(x))
    beside = ((0.5 - angle) * math.pi).by_libm("sin")
    return (angle < 0.25).choose((angle * math.pi).by_libm("cos"), beside)


def _larger(x: Double, y: Double) -> Double:
    return (y.is_nan | (y < x)).choose(x, y)


def _smaller(x: Double, y: Double) -> Double:
    return (y.is_nan | (x < y)).choose(x, y)


def _maxmag(x: Double, y: Double) -> Double:
    beyond, below = abs(y) < abs(x), abs(x) < abs(y)
    return beyond.choose(x, below.choose(y, _larger(x, y)))


def _minmag(x: Double, y: Double) -> Double:
    beyond, below = abs(y) < abs(x), abs(x) < abs(y)
    return below.choose(x, beyond.choose(y, _smaller(x, y)))


def _powr(power: Callable[..., Double], x: Double, y: Double) -> Double:
    """exp(y * log(x)): NaN where that is undefined, and zeros have no sign."""
    is_undefined = (x < 0.0) | x.is_nan | y.is_nan
    is_undefined |= y.equals(0.0) & (x.equals(0.0) | x.is_infinite)
    is_undefined |= x.equals(1.0) & y.is_infinite
    return is_undefined.choose(math.nan, power(abs(x), y))


_ONE_RESULT: dict[str, Callable[..., Double]] = {
    "acospi": lambda x: x.by_libm("acos") / math.pi,
    "asinpi": lambda x: x.by_libm("asin") / math.pi,
    "atanpi": lambda x: x.by_libm("atan") / math.pi,
    "atan2pi": lambda y, x: y.by_libm("atan2", x) / math.pi,
    "cbrt": _cbrt,
    "cospi": _cospi,
    "exp10": lambda x: x.like(10.0).by_libm("pow", x),
    "fdim": lambda x, y: (x <= y).choose(0.0, x - y),
    "maxmag": _maxmag,
    "minmag": _minmag,
    "sinpi": _sinpi,
    "tanpi": lambda x: _sinpi(x) / _cospi(x),
}
"""One result; the numbers of operands are those of the formulas."""


def _ldexp(x: Double, n: Double) -> Double:
    """Multiplies by powers of two in steps of which only the last may round."""
    for _ in range(2):
        is_small, is_large = n < -1022.0, n > 1023.0
        x = is_small.choose(x * _STEP_DOWN, is_large.choose(x * _STEP_UP, x))
        n = is_small.choose(n + 969.0, is_large.choose(n - 1023.0, n))
    limited = (n < -1022.0).choose(-1022.0, (n > 1023.0).choose(1023.0, n))
    return x * limited.power_of_two()


def _rootn(x: Double, n: Double) -> Double:
    """A power, and a step of Newton's method because 1/n is rounded."""
    magnitude, degree = abs(x), abs(n)
    near = magnitude.by_libm("pow", 1.0 / degree)
    # in two parts, of which none is subnormal
    first = ((degree - 1.0) * 0.5).unary("floor")
    quotient = magnitude / near.by_libm("pow", first)
    quotient = quotient / near.by_libm("pow", degree - 1.0 - first)
    better = near - (near - quotient) / degree
    root = (better.is_nan | better.is_infinite).choose(near, better)
    root = (n < 0.0).choose(1.0 / root, root)
    half = n * 0.5
    is_even = half.unary("floor").equals(half)
    is_undefined = n.equals(0.0) | ((x < 0.0) & is_even)
    return is_undefined.choose(math.nan, is_even.choose(root, root.with_sign_of(x)))


_SCALED: dict[str, Callable[[Double, Double], Double]] = {
    "ldexp": _ldexp,
    "pown": lambda x, n: x.by_libm("pow", n),
    "rootn": _rootn,
}
"""The second operand is an s32."""


def _fraction(largest: float, x: Double) -> tuple[Double, Double]:
    """(part behind the point of `floor`, `floor`); `largest` is the type's last number below 1."""
    floor = x.unary("floor")
    rest = x - floor
    limited = (rest > largest).choose(largest, rest)
    has_none = x.is_infinite | x.equals(0.0)
    return has_none.choose(x.like(0.0).with_sign_of(x), limited), floor


def _modf(x: Double) -> tuple[Double, Double]:
    whole = x.unary("trunc")
    return x.is_infinite.choose(0.0, x - whole).with_sign_of(x), whole


_TWO_VALUES: dict[str, Callable[[Double], tuple[Double, Double]]] = {
    "modf": _modf,
    "sincos": lambda x: (x.by_libm("sin"), x.by_libm("cos")),
}
"""Two results of the instruction's type."""


def _ilogb(x: Double) -> Double:
    """The binary exponent as s32: the smallest for zero and NaN, the largest for infinities."""
    return x.is_nan.choose(_NO_LOGARITHM, x.by_libm("logb"))


def _frexp(x: Double) -> tuple[Double, Double]:
    is_plain = ~(x.equals(0.0) | x.is_infinite | x.is_nan)
    exponent = is_plain.choose(x.by_libm("logb") + 1.0, 0.0)
    return _ldexp(x, -exponent), exponent


def _lgamma_r(x: Double) -> tuple[Double, Double]:
    """The sign of the gamma function changes from one negative integer to the next."""
    floor = x.unary("floor")
    is_even = (floor * 0.5).unary("floor").equals(floor * 0.5)
    is_positive = (x > 0.0) | is_even | floor.equals(x)
    return x.by_libm("lgamma"), is_positive.choose(1.0, -1.0)


def _remquo(x: Double, y: Double) -> tuple[Double, Double]:
    """The remainder, and the low bits of the quotient with its sign."""
    divisor = abs(y)
    rest = abs(x).by_libm("fmod", divisor * _QUOTIENTS)
    nearest = rest.by_libm("remainder", divisor)
    quotient = ((rest - nearest) / divisor).unary("roundeven")
    low = quotient.equals(_QUOTIENTS).choose(0.0, quotient)
    is_defined = ~(low.is_nan | y.is_infinite)
    signed = (x.with_sign_of(y).equals(x)).choose(low, -low)
    return x.by_libm("remainder", y), is_defined.choose(signed, 0.0)


_WITH_INTEGERS: dict[str, tuple[str, Formula]] = {
    "frexp": ("tu=t", _frexp),
    "lgamma_r": ("tu=t", _lgamma_r),
    "remquo": ("tu=tt", _remquo),
    "ilogb": ("u=t", _ilogb),
}
"""Functions with a result that is an s32."""


def _library_call(name: str) -> Formula:
    return lambda x, *others: x.by_libm(name, *others)


def formulas() -> Iterator[tuple[str, str, Callable[[Context], Formula]]]:
    """Every function: its name, its signature, and its formula for a type.

    The signature is written as in the table of opcodes; `u` stands for an s32.
    """
    for name, count in _LIBRARY.items():
        yield name, f"t={'t' * count}", _by_type(name, _library_call(name))
    for name, formula in _ONE_RESULT.items():
        yield name, f"t={'t' * len(signature(formula).parameters)}", _by_type(name, formula)
    for name, formula in _SCALED.items():
        yield name, "t=tu", _by_type(name, formula)
    for name, pair in _TWO_VALUES.items():
        yield name, "tt=t", _always(pair)
    for name, (form, mixed) in _WITH_INTEGERS.items():
        yield name, form, _always(mixed)
    yield "powr", "t=tt", lambda context: partial(_powr, _power_of(context.type))
    yield "fract", "tt=t", lambda context: partial(_fraction, _LARGEST_BELOW_ONE[context.type])


def _by_type(name: str, formula: Formula) -> Callable[[Context], Formula]:
    single = SINGLE.get(name, formula)
    return lambda context: single if context.type is ScalarType.F32 else formula


def _power_of(type_: ScalarType) -> Callable[[Double, Double], Double]:
    return SINGLE["pow"] if type_ is ScalarType.F32 else lambda x, y: x.by_libm("pow", y)


def _always(formula: Formula) -> Callable[[Context], Formula]:
    return lambda _context: formula
