"""OpenCL's mathematical functions against wider arithmetic, within the specification's bounds.

Bounds are those of section 7.4 of OpenCL 1.2, in units of the last place, for float and double.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType, Unit

Wide = np.longdouble
PI = Wide("3.14159265358979323846264338327950288")
Oracle = Callable[..., Any]
both_types = pytest.mark.parametrize("type_", [ScalarType.F32, ScalarType.F64])


def _call(name: str, type_: ScalarType, *operands: Any) -> Any:
    with np.errstate(all="ignore"):
        return OPCODES[f"opencl.{name}"].compute(Context(type_, type_, frozenset()), *operands)


def _turned(x: Any) -> Any:
    """x less an even integer, from -1 to 1."""
    return x - 2 * np.rint(x / 2)


def _sinpi(x: Any) -> Any:
    t = _turned(x)
    t = np.where(np.abs(t) > 0.5, np.copysign(1, t) - t, t)
    sine = np.sin(PI * t)
    return np.where(sine == 0, np.copysign(sine, x), sine)


def _cospi(x: Any) -> Any:
    t = np.abs(_turned(x))
    return np.where(t < 0.25, np.cos(PI * t), np.sin(PI * (Wide(0.5) - t)))


def _library(name: str) -> Oracle:
    """The C library's function of `long double`, rounded to double."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.argtypes, function.restype = [ctypes.c_longdouble], ctypes.c_longdouble
    return np.vectorize(function, otypes=[np.float64])


ONE: dict[str, tuple[float, Oracle]] = {
    "acos": (4, np.arccos),
    "acosh": (4, np.arccosh),
    "acospi": (5, lambda x: np.arccos(x) / PI),
    "asin": (4, np.arcsin),
    "asinh": (4, np.arcsinh),
    "asinpi": (5, lambda x: np.arcsin(x) / PI),
    "atan": (5, np.arctan),
    "atanh": (5, np.arctanh),
    "atanpi": (5, lambda x: np.arctan(x) / PI),
    "cbrt": (2, np.cbrt),
    "cos": (4, np.cos),
    "cosh": (4, np.cosh),
    "cospi": (4, _cospi),
    "erf": (16, _library("erfl")),
    "erfc": (16, _library("erfcl")),
    "exp": (3, np.exp),
    "exp10": (3, lambda x: np.power(Wide(10), x)),
    "exp2": (3, np.exp2),
    "expm1": (3, np.expm1),
    "lgamma": (16, _library("lgammal")),
    "log": (3, np.log),
    "log10": (3, np.log10),
    "log1p": (2, np.log1p),
    "log2": (3, np.log2),
    "round": (0, lambda x: np.copysign(np.floor(np.abs(x) + Wide(0.5)), x)),
    "sin": (4, np.sin),
    "sinh": (4, np.sinh),
    "sinpi": (4, _sinpi),
    "tan": (5, np.tan),
    "tanh": (5, np.tanh),
    "tanpi": (6, lambda x: _sinpi(x) / _cospi(x)),
    "tgamma": (16, _library("tgammal")),
}
TWO: dict[str, tuple[float, Oracle]] = {
    "atan2": (6, np.arctan2),
    "atan2pi": (6, lambda y, x: np.arctan2(y, x) / PI),
    "fdim": (0.5, lambda x, y: np.where(x <= y, Wide(0), x - y)),
    "fmod": (0, np.fmod),
    "hypot": (4, np.hypot),
    "pow": (16, np.power),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -0.5, 2.5, -2.5, 3.0, -7.0]
IN_DOUBLE = ("erf", "erfc", "lgamma", "tgamma")
"""What the oracles take and give as doubles, computed in wider ones."""


def _numbers(type_: ScalarType) -> Any:
    """Usual numbers, every exponent, multiples of 1/4, the edges of the type."""
    generator = np.random.default_rng(11)
    limits = np.finfo(type_.dtype)
    bits = generator.integers(0, 1 << type_.bits, 1500, np.uint64).astype(type_.storage)
    anything = bits.view(type_.dtype)
    usual = generator.standard_normal(3000) * generator.choice([0.1, 1, 10, 100], 3000)
    edges = [limits.max, limits.tiny, limits.smallest_subnormal, limits.eps, 1 + limits.eps]
    edges += [1 - limits.epsneg, *(-np.array(edges))]
    parts = [usual, np.arange(-40, 40) / 4, edges, SPECIAL, generator.uniform(-1, 1, 1000)]
    return np.concatenate([*(np.asarray(p).astype(type_.dtype) for p in parts), anything])


@np.errstate(all="ignore")
def _check(found: Any, wanted: Any, type_: ScalarType, ulps: float, operands: list[Any]) -> None:
    nearest = np.asarray(wanted).astype(type_.dtype)
    unit = np.spacing(np.abs(np.where(np.isfinite(nearest), nearest, 1))).astype(Wide)
    error = np.abs(found.astype(Wide) - wanted) / unit
    # what rounds to infinity may be the largest number and the other way round
    edge = np.finfo(type_.dtype).max
    is_same = (found == nearest) & ((found != 0) | (np.signbit(found) == np.signbit(nearest)))
    is_same |= np.isnan(found) & np.isnan(nearest)
    is_same |= np.isfinite(nearest) & (nearest != 0) & (error <= ulps)
    is_same |= (np.abs(wanted) >= edge) & (np.abs(found) >= edge) & (ulps > 0)
    wrong = np.flatnonzero(~is_same)
    shown = [(*(x[i] for x in operands), found[i], nearest[i]) for i in wrong[:5]]
    assert not wrong.size, (wrong.size, shown)


@both_types
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str, type_: ScalarType) -> None:
    x = _numbers(type_)
    ulps, oracle = ONE[name]
    with np.errstate(all="ignore"):
        wanted = oracle(x.astype(np.float64 if name in IN_DOUBLE else Wide))
    _check(_call(name, type_, x), wanted, type_, ulps, [x])


@both_types
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name: str, type_: ScalarType) -> None:
    numbers = _numbers(type_)
    generator = np.random.default_rng(12)
    special = np.array(SPECIAL, type_.dtype)
    x = np.concatenate([generator.permutation(numbers), np.repeat(special, special.size)])
    y = np.concatenate([generator.permutation(numbers), np.tile(special, special.size)])
    ulps, oracle = TWO[name]
    with np.errstate(all="ignore"):
        wanted = oracle(x.astype(Wide), y.astype(Wide))
    _check(_call(name, type_, x, y), wanted, type_, ulps, [x, y])


def _scaled(x: float, n: int) -> float:
    """x * 2**n rounded once: math.ldexp does, but it raises where the result is infinite."""
    try:
        return math.ldexp(x, n)
    except OverflowError:
        return math.copysign(math.inf, x)


SCALES = [0, 1, -1, 23, -24, 127, -126, -149, -160, 1000, -1022, -1074, -1100, -2200, 2**31 - 1]
SCALES += [1023, 1024, 2046, 2098, 2200, -(2**31), -2098]


@both_types
def test_ldexp_rounds_once(type_: ScalarType) -> None:
    numbers = _numbers(type_)[::3]
    x = np.repeat(numbers, len(SCALES))
    n = np.tile(np.array(SCALES, np.int32), numbers.size)
    found = _call("ldexp", type_, x, n.view(np.uint32))
    exact = [_scaled(float(a), int(b)) for a, b in zip(x, n, strict=True)]
    with np.errstate(all="ignore"):
        wanted = np.array(exact).astype(type_.dtype)
    _check(found, wanted, type_, 0, [x, n])


@both_types
@np.errstate(all="ignore")
def test_numbers_are_taken_apart(type_: ScalarType) -> None:
    x = _numbers(type_)
    finite = np.isfinite(x)
    mantissa, exponent = _call("frexp", type_, x)
    wanted = np.frexp(x)
    _check(mantissa, wanted[0], type_, 0, [x])
    assert (exponent.view(np.int32)[finite] == wanted[1][finite]).all()
    rest, whole = _call("modf", type_, x)
    parts = np.modf(x)
    _check(rest, parts[0], type_, 0, [x])
    _check(whole, parts[1], type_, 0, [x])
    plain = finite & (x != 0)
    number = _call("ilogb", type_, x).view(np.int32)
    assert (number[plain] == wanted[1][plain] - 1).all()
    assert (_call("logb", type_, x)[plain] == wanted[1][plain] - 1).all()
    assert (number[np.isinf(x)] == 2**31 - 1).all()
    assert (number[(x == 0) | np.isnan(x)] == -(2**31)).all()
    assert (_call("logb", type_, x)[x == 0] == -np.inf).all()


@both_types
@np.errstate(all="ignore")
def test_fractions_stay_below_one(type_: ScalarType) -> None:
    x = _numbers(type_)
    fraction, floor = _call("fract", type_, x)
    _check(floor, np.floor(x), type_, 0, [x])
    below = np.nextafter(type_.dtype.type(1), type_.dtype.type(0))
    with np.errstate(all="ignore"):
        wanted = np.minimum((x.astype(Wide) - np.floor(x)).astype(type_.dtype), below)
    is_bare = np.isinf(x) | (x == 0)
    _check(fraction, np.where(is_bare, np.copysign(type_.dtype.type(0), x), wanted), type_, 0, [x])
    assert fraction[np.isfinite(x)].max() < 1


@both_types
def test_sine_and_cosine_together(type_: ScalarType) -> None:
    x = _numbers(type_)
    sine, cosine = _call("sincos", type_, x)
    for found, name in ((sine, "sin"), (cosine, "cos")):
        _check(found, _call(name, type_, x), type_, 0, [x])


def _ieee_remainder(x: float, y: float) -> float:
    try:
        return math.remainder(x, y)
    except ValueError:
        return math.nan


@both_types
def test_remainders_and_quotients(type_: ScalarType) -> None:
    generator = np.random.default_rng(13)
    numbers = _numbers(type_)[::2]
    x, y = generator.permutation(numbers), generator.permutation(numbers)
    # quotients that fit, among them many halves
    x = np.concatenate([x, (np.arange(-400, 400) / 2).astype(type_.dtype)])
    y = np.concatenate([y, np.where(np.arange(800) % 3, 1, -1.5).astype(type_.dtype)])
    wanted = [_ieee_remainder(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    remainder, quotient = _call("remquo", type_, x, y)
    _check(_call("remainder", type_, x, y), np.array(wanted, type_.dtype), type_, 0, [x, y])
    _check(remainder, np.array(wanted, type_.dtype), type_, 0, [x, y])
    for a, b, r, q in zip(x, y, wanted, quotient.view(np.int32).tolist(), strict=True):
        if not math.isnan(r) and math.isfinite(b):
            exact = (Fraction(float(a)) - Fraction(r)) / Fraction(float(b))
            low = abs(exact) % 128
            assert q == (low if exact > 0 else -low), (a, b)


@both_types
@np.errstate(all="ignore")
def test_neighbours(type_: ScalarType) -> None:
    x, y = _pairs(type_)
    _check(_call("nextafter", type_, x, y), np.nextafter(x, y), type_, 0, [x, y])


def _pairs(type_: ScalarType) -> tuple[Any, Any]:
    generator = np.random.default_rng(14)
    numbers, special = _numbers(type_), np.array(SPECIAL, type_.dtype)
    x = np.concatenate([generator.permutation(numbers), numbers, np.repeat(special, special.size)])
    y = np.concatenate([generator.permutation(numbers), -numbers, np.tile(special, special.size)])
    return x, y


@both_types
@pytest.mark.parametrize("name", ["maxmag", "minmag"])
def test_extremes_of_magnitudes(name: str, type_: ScalarType) -> None:
    x, y = _pairs(type_)
    is_max = name == "maxmag"
    plain = np.fmax(x, y) if is_max else np.fmin(x, y)
    with np.errstate(all="ignore"):
        first = np.abs(x) > np.abs(y) if is_max else np.abs(x) < np.abs(y)
        second = np.abs(y) > np.abs(x) if is_max else np.abs(y) < np.abs(x)
    found = _call(name, type_, x, y)
    wanted = np.where(first, x, np.where(second, y, plain))
    assert ((found == wanted) | (np.isnan(found) & np.isnan(wanted))).all()


POWERS = [0, 1, -1, 2, -2, 3, -3, 7, 10, 11, -24, 100, -101, 2**31 - 1, -(2**31), 65537]


@both_types
@np.errstate(all="ignore")
def test_integer_powers_and_roots(type_: ScalarType) -> None:
    numbers = _numbers(type_)[::4]
    x, n = np.repeat(numbers, len(POWERS)), np.tile(np.array(POWERS, np.int32), numbers.size)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(Wide), n.astype(Wide))
        root = np.power(np.abs(x.astype(Wide)), 1 / n.astype(Wide))
    _check(_call("pown", type_, x, n.view(np.uint32)), wanted, type_, 16, [x, n])
    is_odd = n % 2 != 0
    root = np.where(is_odd, np.copysign(root, x), root)
    root = np.where((n == 0) | (~is_odd & (x < 0)), np.nan, root)
    _check(_call("rootn", type_, x, n.view(np.uint32)), root, type_, 16, [x, n])


@both_types
def test_powers_of_positive_numbers(type_: ScalarType) -> None:
    x, y = _pairs(type_)
    with np.errstate(all="ignore"):
        wanted = np.power(np.abs(x.astype(Wide)), y.astype(Wide))
        undefined = (x < 0) | np.isnan(x) | np.isnan(y) | ((x == 0) & (y == 0))
    undefined |= (np.isinf(x) & (y == 0)) | ((x == 1) & np.isinf(y))
    wanted = np.where(undefined, np.nan, wanted)
    _check(_call("powr", type_, x, y), wanted, type_, 16, [x, y])


@both_types
@np.errstate(all="ignore")
def test_the_sign_of_the_gamma_function(type_: ScalarType) -> None:
    x = _numbers(type_)
    value, sign = _call("lgamma_r", type_, x)
    _check(value, _call("lgamma", type_, x), type_, 0, [x])
    gamma = _call("tgamma", ScalarType.F64, x.astype(np.float64))
    decided = np.isfinite(gamma) & (gamma != 0)
    assert (sign.view(np.int32)[decided] == np.sign(gamma[decided])).all()


def test_every_function_is_tested() -> None:
    names = {name.removeprefix("opencl.") for name in OPCODES if name.startswith("opencl.")}
    others = {"ldexp", "frexp", "modf", "ilogb", "logb", "fract", "sincos", "remquo", "remainder"}
    others |= {"nextafter", "maxmag", "minmag", "pown", "rootn", "powr", "lgamma_r"}
    assert names == {*ONE, *TWO, *others}


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("exp", Unit.SPECIAL_FUNCTION),
        ("remainder", Unit.SPECIAL_FUNCTION),
        ("round", Unit.FP32),
        ("nextafter", Unit.FP32),
    ],
)
def test_units(name: str, unit: Unit) -> None:
    context = Context(ScalarType.F32, ScalarType.F32, frozenset())
    assert OPCODES[f"opencl.{name}"].unit(context) is unit


@pytest.mark.parametrize("name", ["exp", "exp10", "log", "log10", "pow", "powr", "pown"])
def test_frequent_functions_of_float_are_vector_code(name: str) -> None:
    """No call that a vector unit would take lane by lane."""
    numbers = itertools.count()
    code = LaneCode(8, [], {}, lambda: f"%v{next(numbers)}")
    entry, context = OPCODES[f"opencl.{name}"], Context(ScalarType.F32, ScalarType.F32, frozenset())
    entry.emit(code, context, *(f"%operand{i}" for i in range(len(entry.signature) - 2)))
    called = {name for name in code.declarations if not name.startswith("@llvm.")}
    assert not called


def _within(name: str, wanted: Any, *operands: Any) -> None:
    """Checks that one in ten thousand results at most is not the nearest, none off by two."""
    found = _call(name, ScalarType.F32, *operands)
    nearest = wanted.astype(np.float32)
    differs = (found != nearest) & ~(np.isnan(found) & np.isnan(nearest))
    assert np.count_nonzero(differs) <= differs.size // 10_000
    _check(found, wanted, ScalarType.F32, 1, list(operands))


@np.errstate(all="ignore")
def test_vector_code_rounds_as_well_as_a_library() -> None:
    generator = np.random.default_rng(15)
    bits = generator.integers(0, 1 << 32, 50_000, np.uint32).view(np.float32)
    x = np.concatenate([bits, (generator.standard_normal(50_000) * 20).astype(np.float32)])
    x = np.concatenate([x, np.float32(1) + np.arange(-2000, 2000).astype(np.float32) * 2**-24])
    wide = x.astype(Wide)
    for name in ("exp", "exp10", "log", "log10"):
        _within(name, ONE[name][1](wide), x)
    y = generator.permutation(x)
    y[::2] = np.rint(y[::2])
    _within("pow", np.power(wide, y.astype(Wide)), x, y)
