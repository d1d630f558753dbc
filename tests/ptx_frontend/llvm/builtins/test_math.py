"""Mathematical, common and geometric built-ins in kernels, against NumPy and the opcode table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.llvm.builtins.math_functions import MATH_FUNCTIONS
from kernelcast.simcore.engine import ENGINES
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType
from tests.ptx_frontend.llvm.builtins.verification import Memory, called

Oracle = Callable[..., Any]
FLOATS: dict[str, Any] = {"f": np.float32, "d": np.float64}
every_engine = pytest.mark.parametrize("engine", sorted(ENGINES))
both_types = pytest.mark.parametrize("letter", FLOATS)

GENERATOR = np.random.default_rng(5)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -2.5, 1e-40, 3e5])
X = np.concatenate([SPECIAL, GENERATOR.standard_normal(200) * 4])
Y = np.concatenate([GENERATOR.permutation(SPECIAL), GENERATOR.standard_normal(200) * 3])


def _opcode(name: str) -> Oracle:
    """The table's entry, which has its own tests."""

    def compute(*operands: Any) -> Any:
        type_ = ScalarType.F64 if operands[0].dtype == np.float64 else ScalarType.F32
        return OPCODES[f"opencl.{name}"].compute(Context(type_, type_, frozenset()), *operands)

    return compute


def _in_double(function: Oracle) -> Oracle:
    return lambda *x: function(*(v.astype(np.float64) for v in x)).astype(x[0].dtype)


UNARY = (
    *("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt"),
    *("cos", "cosh", "cospi", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "lgamma", "log"),
    *("log10", "log1p", "log2", "logb", "round", "sin", "sinh", "sinpi", "tan", "tanh", "tanpi"),
    "tgamma",
)
BINARY = (
    *("atan2", "atan2pi", "fdim", "fmod", "hypot", "maxmag", "minmag", "nextafter", "pow"),
    *("powr", "remainder"),
)
OTHERS: dict[str, tuple[int, Oracle]] = {
    "ceil": (1, np.ceil),
    "fabs": (1, np.abs),
    "floor": (1, np.floor),
    "rint": (1, np.rint),
    "trunc": (1, np.trunc),
    "sqrt": (1, np.sqrt),
    "rsqrt": (1, lambda x: _in_double(lambda v: 1 / np.sqrt(v))(x)),
    "copysign": (2, np.copysign),
    "fmax": (2, np.fmax),
    "fmin": (2, np.fmin),
}
APPROXIMATE: dict[str, Oracle] = {
    "cos": np.cos,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "recip": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
}


def _symbol(name: str, types: str) -> str:
    return f"_Z{len(name)}{name}{types}"


@np.errstate(all="ignore")
def _check(found: Any, wanted: Any, ulps: int = 1) -> None:
    """Compares within units of the last place; zeros of either sign are one."""
    wanted = np.asarray(wanted).astype(found.dtype)
    unit = np.spacing(np.abs(np.where(np.isfinite(wanted), wanted, 1)))
    is_same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    is_same |= np.abs(found - wanted) <= ulps * unit
    assert is_same.all(), (found[~is_same][:5], wanted[~is_same][:5])


def _operands(count: int, letter: str) -> list[Any]:
    with np.errstate(all="ignore"):
        return [v.astype(FLOATS[letter]) for v in (X, Y, X[::-1].copy())[:count]]


@np.errstate(all="ignore")
def _compare(name: str, letter: str, count: int, oracle: Oracle, engine: str) -> None:
    operands = _operands(count, letter)
    found = called(_symbol(name, letter * count), operands, (FLOATS[letter], 1), engine)
    _check(found, oracle(*operands))


@both_types
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name: str, letter: str) -> None:
    _compare(name, letter, 1, _opcode(name), "reference")


@both_types
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name: str, letter: str) -> None:
    _compare(name, letter, 2, _opcode(name), "reference")


@both_types
@pytest.mark.parametrize("name", OTHERS)
def test_functions_with_instructions_of_their_own(name: str, letter: str) -> None:
    _compare(name, letter, *OTHERS[name], "reference")


@pytest.mark.parametrize("name", ["exp", "sinpi", "tgamma", "rsqrt"])
def test_functions_on_the_jit_engine(name: str) -> None:
    oracle = OTHERS[name][1] if name in OTHERS else _opcode(name)
    _compare(name, "f", 1, oracle, "jit")


@pytest.mark.parametrize("name", ["exp", "log10", "pow"])
def test_both_engines_give_the_same_bits(name: str) -> None:
    generator = np.random.default_rng(6)
    bits = generator.integers(0, 1 << 32, (2, 20_000), np.uint32)
    usual = (generator.standard_normal((2, 20_000)) * 10).astype(np.float32)
    operands = list(np.concatenate([bits.view(np.float32), usual], axis=1))
    operands = operands[: 2 if name == "pow" else 1]
    symbol = _symbol(name, "f" * len(operands))
    one, other = (called(symbol, operands, (np.float32, 1), engine) for engine in sorted(ENGINES))
    numbers = ~np.isnan(one)
    assert (np.isnan(other) == ~numbers).all()
    assert (one.view(np.uint32)[numbers] == other.view(np.uint32)[numbers]).all()


@every_engine
def test_powers_on_both_engines(engine: str) -> None:
    _compare("pow", "d", 2, _opcode("pow"), engine)


@both_types
@pytest.mark.parametrize("name", ["fma", "mad"])
def test_fused_multiply_add(name: str, letter: str) -> None:
    dtype = FLOATS[letter]
    x = np.array([1 + np.finfo(dtype).eps, 3, -2], dtype)
    y = np.array([1 - np.finfo(dtype).eps, 0.5, 4], dtype)
    found = called(_symbol(name, letter * 3), [x, y, -x * y], (dtype, 1), "reference")
    # (1 + e)(1 - e) = 1 - e^2, whose last term rounding the product would lose
    assert (found == np.array([-(np.finfo(dtype).eps ** 2), 0, 0], dtype)).all()


@pytest.mark.parametrize("prefix", ["half_", "native_"])
@pytest.mark.parametrize("name", APPROXIMATE)
@np.errstate(all="ignore")
def test_approximate_functions_are_as_accurate(name: str, prefix: str) -> None:
    x = _operands(1, "f")[0]
    found = called(_symbol(prefix + name, "f"), [x], (np.float32, 1), "reference")
    _check(found, APPROXIMATE[name](x.astype(np.float64)))


@pytest.mark.parametrize("prefix", ["half_", "native_"])
@np.errstate(all="ignore")
def test_approximate_functions_of_two_numbers(prefix: str) -> None:
    x, y = _operands(2, "f")
    found = called(_symbol(f"{prefix}divide", "ff"), [x, y], (np.float32, 1), "reference")
    _check(found, x / y)
    found = called(_symbol(f"{prefix}powr", "ff"), [x, y], (np.float32, 1), "reference")
    _check(found, _opcode("powr")(x, y))
    with pytest.raises(UnsupportedInstruction, match="for float only"):
        called(_symbol(f"{prefix}powr", "dd"), _operands(2, "d"), (np.float64, 1))


@np.errstate(all="ignore")
def test_half_is_computed_in_float() -> None:
    x = X.astype(np.float16)
    found = called("_Z3expDh", [x], (np.float16, 1), "reference")
    _check(found, np.exp(x.astype(np.float64)), 0)
    found = called("_Z8copysignDhDh", [x, x[::-1].copy()], (np.float16, 1), "reference")
    _check(found, np.copysign(x, x[::-1]), 0)


@every_engine
def test_vectors_and_scalars(engine: str) -> None:
    x = X[:200].reshape(-1, 4).astype(np.float32)
    y = Y[:50].astype(np.float32)
    found = called("_Z4fmaxDv4_ff", [x, y], (np.float32, 4), engine)
    _check(found, np.fmax(x, y[:, None]), 0)


@both_types
@np.errstate(all="ignore")
def test_second_results_go_through_pointers(letter: str) -> None:
    dtype = FLOATS[letter]
    (x,) = _operands(1, letter)
    for name, function in (("fract", "fract"), ("modf", "modf"), ("sincos", "sincos")):
        memory = np.full(x.size + 37, -9, dtype)
        place = Memory(memory, memory.itemsize)
        symbol = _symbol(name, f"{letter}PU3AS1{letter}")
        found = called(symbol, [x, place], (dtype, 1), "reference")
        wanted = _opcode(function)(x)
        _check(found, wanted[0], 0)
        _check(memory[: x.size], wanted[1], 0)


@every_engine
@np.errstate(all="ignore")
def test_second_results_that_are_integers(engine: str) -> None:
    x, y = _operands(2, "f")
    x, y = x[:64], y[:64]
    exponents = np.zeros(x.size, np.int32)
    found = called("_Z5frexpfPU3AS1i", [x, Memory(exponents, 4)], (np.float32, 1), engine)
    wanted = _opcode("frexp")(x)
    _check(found, wanted[0], 0)
    assert (exponents.view(np.uint32) == wanted[1]).all()
    quotients = np.zeros(x.size, np.int32)
    symbol, place = "_Z6remquoffPU3AS1i", Memory(quotients, 4)
    found = called(symbol, [x, y, place], (np.float32, 1), engine)
    wanted = _opcode("remquo")(x, y)
    _check(found, wanted[0], 0)
    assert (quotients.view(np.uint32) == wanted[1]).all()


def test_vectors_store_all_their_second_results() -> None:
    x = np.arange(16, dtype=np.float32).reshape(-1, 4) + np.float32(0.25)
    memory = np.zeros((4, 4), np.float32)
    found = called("_Z5fractDv4_fPU3AS1S_", [x, Memory(memory, 16)], (np.float32, 4), "reference")
    assert (found == 0.25).all()
    assert (memory == x - 0.25).all()


@both_types
@np.errstate(all="ignore")
def test_integers_beside_numbers(letter: str) -> None:
    dtype = FLOATS[letter]
    (x,) = _operands(1, letter)
    n = np.resize(np.array([0, 1, -1, 3, -5, 40], np.int32), x.shape)
    for name in ("ldexp", "pown", "rootn"):
        found = called(_symbol(name, f"{letter}i"), [x, n], (dtype, 1), "reference")
        _check(found, _opcode(name)(x, n.view(np.uint32)), 0)
    found = called(_symbol("ilogb", letter), [x], (np.int32, 1), "reference")
    assert (found.view(np.uint32) == _opcode("ilogb")(x)).all()
    bits = {"f": np.uint32, "d": np.uint64}[letter]
    codes = np.array([0, 1, 12345], bits)
    found = called(_symbol("nan", {"f": "j", "d": "m"}[letter]), [codes], (dtype, 1), "reference")
    assert np.isnan(found).all()
    assert (found.view(bits) & bits(0xFFFF) == codes).all()


def test_every_name_has_a_test() -> None:
    rest = {"fma", "mad", "ldexp", "pown", "rootn", "ilogb", "nan", "fract", "modf", "sincos"}
    rest |= {"frexp", "remquo", "lgamma_r"}
    approximate = {
        f"{p}{n}" for p in ("half_", "native_") for n in (*APPROXIMATE, "divide", "powr")
    }
    assert set(MATH_FUNCTIONS) == {*UNARY, *BINARY, *OTHERS, *rest, *approximate}


COMMON: dict[str, tuple[int, Oracle]] = {
    "clamp": (3, lambda x, a, b: np.fmin(np.fmax(x, a), b)),
    "degrees": (1, np.degrees),
    "radians": (1, np.radians),
    "max": (2, np.fmax),
    "min": (2, np.fmin),
    "mix": (3, lambda x, y, a: x + (y - x) * a),
    "step": (2, lambda edge, x: np.where(x < edge, 0.0, 1.0)),
    "sign": (1, lambda x: np.where(np.isnan(x), 0, np.sign(x))),
}


@both_types
@pytest.mark.parametrize("name", COMMON)
@np.errstate(all="ignore")
def test_common_functions(name: str, letter: str) -> None:
    count, oracle = COMMON[name]
    operands = _operands(count, letter)
    found = called(_symbol(name, letter * count), operands, (FLOATS[letter], 1), "reference")
    wide = [operand.astype(np.longdouble) for operand in operands]
    if name != "mix":
        _check(found, oracle(*wide), 2)
        return
    # two roundings, of the difference and of the sum
    plain = np.isfinite(wide[0]) & np.isfinite(wide[1]) & np.isfinite(wide[2])
    x, y, a = (operand[plain] for operand in wide)
    bound = np.finfo(FLOATS[letter]).eps * (np.abs(y - x) * np.abs(a) + np.abs(oracle(x, y, a)))
    assert (np.abs(found[plain] - oracle(x, y, a)) <= bound + 1e-44).all()


@pytest.mark.parametrize("name", ["clamp", "max", "min", "step", "sign", "degrees"])
@np.errstate(all="ignore")
def test_common_functions_of_half(name: str) -> None:
    count, oracle = COMMON[name]
    operands = [v.astype(np.float16) for v in (X, Y, X[::-1].copy())[:count]]
    found = called(_symbol(name, "Dh" * count), operands, (np.float16, 1), "reference")
    _check(found, oracle(*(operand.astype(np.float64) for operand in operands)), 1)


@both_types
def test_smoothstep(letter: str) -> None:
    x = np.linspace(-1, 3, 101).astype(FLOATS[letter])
    low, high = np.full_like(x, 0.25), np.full_like(x, 2)
    found = called(_symbol("smoothstep", letter * 3), [low, high, x], (x.dtype, 1), "reference")
    t = np.clip((x.astype(np.float64) - 0.25) / 1.75, 0, 1)
    assert np.abs(found - t * t * (3 - 2 * t)).max() < 8 * np.finfo(x.dtype).eps


@every_engine
@pytest.mark.parametrize("width", [2, 3, 4])
def test_geometric_functions(width: int, engine: str) -> None:
    dtype, vector = np.float32, f"Dv{width}_f"
    x, y = (GENERATOR.standard_normal((20, width)).astype(dtype) for _ in range(2))
    a, b = x.astype(np.float64), y.astype(np.float64)
    eps = np.finfo(dtype).eps

    def close(name: str, operands: list[Any], wanted: Any, result: int = 1) -> None:
        types = vector * len(operands)
        found = called(_symbol(name, types), operands, (dtype, result), engine)
        assert np.abs(found - wanted).max() < 20 * eps, name

    close("dot", [x, y], (a * b).sum(axis=1))
    if width == 2 or engine == "jit":
        return
    for speed in ("", "fast_"):
        close(f"{speed}length", [x], np.linalg.norm(a, axis=1))
        close(f"{speed}distance", [x, y], np.linalg.norm(a - b, axis=1))
        unit = a / np.linalg.norm(a, axis=1)[:, None]
        close(f"{speed}normalize", [x], unit, width)
    cross = np.cross(a[:, :3], b[:, :3])
    close("cross", [x, y], np.pad(cross, ((0, 0), (0, width - 3))), width)


def test_lengths_neither_overflow_nor_vanish() -> None:
    x = np.array([[3e30, 4e30], [3e-30, 4e-30], [0, 0]], np.float32)
    found = called("_Z6lengthDv2_f", [x], (np.float32, 1), "reference")
    _check(found, np.hypot(*x.T.astype(np.float64)))
    found = called("_Z9normalizeDv2_f", [x], (np.float32, 2), "reference")
    _check(found, [[0.6, 0.8], [0.6, 0.8], [0, 0]], 2)
