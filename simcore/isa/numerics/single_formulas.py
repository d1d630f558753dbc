"""Exponentials and logarithms of `float` without a library: steps that a vector unit can take.

They work in `double` on truncated series whose relative error is below 2**-42, so that the rounded
result is at most the neighbour of the correctly rounded one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kernelcast.simcore.isa.numerics.double_formulas import Double

__all__ = ["SINGLE"]

_EXP2_SERIES = [math.log(2) ** k / math.factorial(k) for k in range(12)]
"""2**r for |r| <= 1/2."""
_LOG_SERIES = [2 / (2 * k + 1) for k in range(8)]
"""log((1 + s) / (1 - s)) / s in powers of s**2, for |s| <= 3 - sqrt(8)."""
_LIMIT = 400.0
"""Powers of two beyond it are no `float`."""


def _power_of_two(x: Double) -> Double:
    """2**x: 2**n of the nearest integer n, times that of the rest."""
    limited = (x < -_LIMIT).choose(-_LIMIT, (x > _LIMIT).choose(_LIMIT, x))
    whole = limited.unary("roundeven")
    return (limited - whole).polynomial(_EXP2_SERIES) * whole.power_of_two()


def _logarithm(x: Double) -> Double:
    """e * log(2) + log(m) of x = m * 2**e."""
    exponent = x.exponent()
    mantissa = x * (-exponent).power_of_two()
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    series = ratio * (ratio * ratio).polynomial(_LOG_SERIES)
    found = exponent.times_plus(math.log(2), series)
    # NaN and infinity are their own logarithms
    found = (x < math.inf).choose(found, x)
    return x.equals(0.0).choose(-math.inf, (x < 0.0).choose(math.nan, found))


def _power(x: Double, y: Double) -> Double:
    """x**y with the exceptions of C: of negative x only integer powers are defined."""
    half = y * 0.5
    is_integer = y.unary("floor").equals(y)
    is_odd = is_integer & ~half.unary("floor").equals(half)
    found = _power_of_two(y * (_logarithm(abs(x)) * math.log2(math.e)))
    found = is_odd.choose(found.with_sign_of(x), found)
    is_undefined = (x < 0.0) & ~is_integer & ~x.is_infinite
    is_one = y.equals(0.0) | x.equals(1.0) | (abs(x).equals(1.0) & y.is_infinite)
    return is_one.choose(1.0, is_undefined.choose(math.nan, found))


SINGLE: dict[str, Callable[..., Double]] = {
    "exp": lambda x: _power_of_two(x * math.log2(math.e)),
    "exp10": lambda x: _power_of_two(x * math.log2(10)),
    "log": _logarithm,
    "log10": lambda x: _logarithm(x) / math.log(10),
    "pow": _power,
    "pown": _power,
}
"""Functions of `float`; those of `double` are the C library's."""
