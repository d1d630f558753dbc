"""Relational built-ins, conversions, loads and stores of vectors and half, shuffles, in kernels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES
from tests.ptx_frontend.llvm.builtins.verification import Memory, called

every_engine = pytest.mark.parametrize("engine", sorted(ENGINES))
TYPES: dict[str, tuple[str, Any]] = {
    "char": ("c", np.int8),
    "uchar": ("h", np.uint8),
    "short": ("s", np.int16),
    "ushort": ("t", np.uint16),
    "int": ("i", np.int32),
    "uint": ("j", np.uint32),
    "long": ("l", np.int64),
    "ulong": ("m", np.uint64),
    "half": ("Dh", np.float16),
    "float": ("f", np.float32),
    "double": ("d", np.float64),
}
INTEGERS = [name for name, (_, dtype) in TYPES.items() if np.dtype(dtype).kind != "f"]
FLOATS = [name for name in TYPES if name not in INTEGERS]
ROUNDINGS = {"_rte": np.rint, "_rtz": np.trunc, "_rtp": np.ceil, "_rtn": np.floor, "": np.trunc}
MASKS = {"Dh": np.int16, "f": np.int32, "d": np.int64}
NUMBERS = np.array(
    [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, 1e-40, 6e-8, 6e-5, -3.5, 1e-310]
)
X, Y = (v.ravel() for v in np.meshgrid(NUMBERS, NUMBERS))


def _symbol(name: str, types: str) -> str:
    return f"_Z{len(name)}{name}{types}"


COMPARISONS: dict[str, Callable[..., Any]] = {
    "isequal": np.equal,
    "isnotequal": np.not_equal,
    "isgreater": np.greater,
    "isgreaterequal": np.greater_equal,
    "isless": np.less,
    "islessequal": np.less_equal,
    "islessgreater": lambda x, y: (x < y) | (x > y),
    "isordered": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    "isunordered": lambda x, y: np.isnan(x) | np.isnan(y),
}
CLASSES: dict[str, Callable[..., Any]] = {
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "isnormal": lambda x: np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny),
    "signbit": np.signbit,
}


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("name", [*COMPARISONS, *CLASSES])
@np.errstate(all="ignore")
def test_relational_functions(name: str, of: str) -> None:
    letter, dtype = TYPES[of]
    operands = [v.astype(dtype) for v in (X, Y)]
    if name in CLASSES:
        operands, wanted = operands[:1], CLASSES[name](operands[0])
    else:
        wanted = COMPARISONS[name](*operands)
    symbol = _symbol(name, letter * len(operands))
    found = called(symbol, operands, (np.int32, 1), "reference")
    assert (found == wanted).all()
    pairs = [operand[:168].reshape(-1, 2) for operand in operands]
    symbol = _symbol(name, f"Dv2_{letter}" * len(operands))
    found = called(symbol, pairs, (MASKS[letter], 2), "reference")
    assert (found == -wanted[:168].reshape(-1, 2).astype(int)).all()


@pytest.mark.parametrize("of", INTEGERS[::2])
def test_any_and_all_look_at_the_top_bits(of: str) -> None:
    letter, dtype = TYPES[of]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([[low, -1, -7], [1, high, 0], [-1, 1, 0], [0, 0, low]], dtype)
    found = called(_symbol("any", f"Dv3_{letter}"), [x], (np.int32, 1), "reference")
    assert found.tolist() == [1, 0, 1, 1]
    found = called(_symbol("all", f"Dv3_{letter}"), [x], (np.int32, 1), "reference")
    assert found.tolist() == [1, 0, 0, 0]


@every_engine
def test_selection(engine: str) -> None:
    a, b = np.arange(6, dtype=np.float32), -np.arange(6, dtype=np.float32) - 1
    c = np.array([0, 1, -1, 2, -(2**31), 0], np.int32)
    found = called("_Z6selectffi", [a, b, c], (np.float32, 1), engine)
    assert (found == np.where(c != 0, b, a)).all()
    pairs = [v.reshape(-1, 2) for v in (a, b, c)]
    found = called("_Z6selectDv2_fS_Dv2_i", pairs, (np.float32, 2), engine)
    assert (found == np.where(pairs[2] < 0, pairs[1], pairs[0])).all()
    bits = np.array([0, 0xFF, 0x0F, 0xF0, 0x55, 1], np.uint8)
    x, y = np.full(6, 0xA5, np.uint8), np.full(6, 0x3C, np.uint8)
    found = called("_Z9bitselecthhh", [x, y, bits], (np.uint8, 1), engine)
    assert (found == (x & ~bits | y & bits)).all()


def _integers(dtype: Any) -> Any:
    found = np.iinfo(dtype)
    values = [found.min, found.max, 0, 1, 2, 100, found.max // 3, found.max - 1, found.min // 2]
    return np.array(values, dtype)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_integers(source: str, target: str) -> None:
    (letter, have), (_, want) = TYPES[source], TYPES[target]
    x = _integers(have)
    found = called(_symbol(f"convert_{target}", letter), [x], (want, 1), "reference")
    assert (found == x.astype(want)).all()
    found = called(_symbol(f"convert_{target}_sat", letter), [x], (want, 1), "reference")
    limits = np.iinfo(want)
    assert found.tolist() == [min(max(v, limits.min), limits.max) for v in x.tolist()]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize(
    ("source", "rounding"),
    [("float", ""), ("float", "_rte"), ("double", "_rtp"), ("double", "_rtn"), ("half", "_rtz")],
)
@np.errstate(all="ignore")
def test_numbers_to_integers(source: str, target: str, rounding: str) -> None:
    (letter, have), (_, want) = TYPES[source], TYPES[target]
    limits = np.iinfo(want)
    x = np.array([0.5, 1.5, -0.5, 2.5, 99.75, 0.0, 3.0, math.nan, math.inf, -math.inf, -1e4, 6e4])
    x = np.append(x, [-2.5, 127.5, 255.5, 2.0**31, 2.0**63, -(2.0**63), 1e30]).astype(have)
    name = f"convert_{target}_sat{rounding}"
    found = called(_symbol(name, letter), [x], (want, 1), "reference")
    whole = ROUNDINGS[rounding](x.astype(np.float64)).tolist()
    wanted = [0 if math.isnan(v) else _clamped(v, limits.min, limits.max) for v in whole]
    assert found.tolist() == wanted
    fits = [not math.isnan(v) and limits.min <= v <= limits.max for v in whole]
    plain = called(_symbol(name.replace("_sat", ""), letter), [x], (want, 1), "reference")
    assert plain[fits].tolist() == found[fits].tolist()


def _clamped(value: float, low: int, high: int) -> int:
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


@pytest.mark.parametrize("source", ["int", "ulong", "double", "char"])
@pytest.mark.parametrize("rounding", ["", "_rte", "_rtz", "_rtp", "_rtn"])
def test_to_float(source: str, rounding: str) -> None:
    letter, have = TYPES[source]
    x = NUMBERS.astype(have) if source == "double" else _integers(have)
    if source == "double":
        x = np.append(x, [1 / 3, -1 / 3, 1 + 2.0**-30, -1 - 2.0**-30])
    with np.errstate(all="ignore"):
        nearest = x.astype(np.float32)
        wide, infinity = x.astype(np.longdouble), np.float32(np.inf)
        back = nearest.astype(np.longdouble)
        below = np.where(back > wide, np.nextafter(nearest, -infinity), nearest)
        above = np.where(back < wide, np.nextafter(nearest, infinity), nearest)
    towards_zero = np.where(wide > 0, below, above)
    wanted = {"_rtn": below, "_rtp": above, "_rtz": towards_zero}.get(rounding, nearest)
    found = called(_symbol(f"convert_float{rounding}", letter), [x], (np.float32, 1), "reference")
    assert ((found == wanted) | (np.isnan(found) & np.isnan(wanted))).all()


@every_engine
def test_vectors_are_converted_element_by_element(engine: str) -> None:
    x = np.array([[-1.5, 2.5, 300.0, -300.0], [0.5, 1.5, 127.4, 1e9]], np.float32)
    found = called("_Z21convert_char4_sat_rteDv4_f", [x], (np.int8, 4), engine)
    assert found.tolist() == [[-2, 2, 127, -128], [0, 2, 127, 127]]


@every_engine
def test_the_same_bits_as_another_type(engine: str) -> None:
    x = np.array([[1.0, -2.0], [3.5, math.inf]], np.float32)
    found = called("_Z7as_int2Dv2_f", [x], (np.int32, 2), engine)
    assert (found == x.view(np.int32)).all()
    found = called("_Z9as_uchar8Dv2_f", [x], (np.uint8, 8), engine)
    assert (found == x.view(np.uint8)).all()
    found = called("_Z9as_doubleDv2_f", [x], (np.float64, 1), engine)
    assert (found.view(np.uint64) == x.view(np.uint64).ravel()).all()
    shorts = np.arange(8, dtype=np.int16).reshape(-1, 4) - 3
    found = called("_Z7as_longDv4_s", [shorts], (np.int64, 1), engine)
    assert (found == shorts.view(np.int64).ravel()).all()
    found = called("_Z8as_char2s", [shorts[:, 0].copy()], (np.int8, 2), engine)
    assert (found == shorts[:, :1].copy().view(np.int8)).all()


@pytest.mark.parametrize(
    ("of", "count", "engine"),
    [
        *itertools.product(["char", "ushort", "float", "double"], [2, 3, 16], ["reference"]),
        ("char", 3, "jit"),
        ("double", 2, "jit"),
    ],
)
def test_vectors_load_and_store(of: str, count: int, engine: str) -> None:
    letter, dtype = TYPES[of]
    data = np.arange(4 * count).astype(dtype)
    offsets = np.array([2, 0, 3, 1], np.uint64)
    symbol = _symbol(f"vload{count}", f"mPU3AS1K{letter}")
    found = called(symbol, [offsets, Memory(data)], (dtype, count), engine)
    assert (found == data.reshape(4, count)[offsets]).all()
    memory = np.zeros_like(data)
    symbol = _symbol(f"vstore{count}", f"Dv{count}_{letter}mPU3AS1{letter}")
    called(symbol, [data.reshape(4, count), offsets, Memory(memory)], None, engine)
    assert (memory.reshape(4, count)[offsets] == data.reshape(4, count)).all()


@every_engine
@np.errstate(all="ignore")
def test_half_in_memory(engine: str) -> None:
    halves = np.array([0, 1, -2.5, 6e-8, 65504, math.inf, 0.1, 3] * 2, np.float16)
    memory = Memory(halves)
    place = np.arange(2, dtype=np.uint64)
    symbol = "_Z11vload_half3mPU3AS1KDh"
    found = called(symbol, [place, memory], (np.float32, 3), engine)
    assert (found == halves[:6].reshape(2, 3)).all()
    found = called("_Z12vloada_half3mPU3AS1KDh", [place, memory], (np.float32, 3), engine)
    assert (found == halves[:8].reshape(2, 4)[:, :3]).all()
    numbers = np.array([1 / 3, -1 / 3, 1e9, 1e-9], np.float32)
    stored = {}
    for mode in ("", "_rte", "_rtz", "_rtp", "_rtn"):
        out = np.zeros(4, np.float16)
        symbol = _symbol(f"vstore_half{mode}", "fmPU3AS1Dh")
        called(symbol, [numbers, np.arange(4, dtype=np.uint64), Memory(out)], None, engine)
        stored[mode] = out.astype(np.float64)
    assert (stored[""] == numbers.astype(np.float16)).all()
    assert (stored["_rte"] == stored[""]).all()
    assert (stored["_rtn"] <= numbers).all()
    assert (stored["_rtp"] >= numbers).all()
    assert (np.abs(stored["_rtz"]) <= np.abs(numbers)).all()
    assert stored["_rtn"][2] == 65504
    assert stored["_rtp"][3] == 2.0**-24


@every_engine
def test_shuffles(engine: str) -> None:
    x = np.arange(8, dtype=np.float32).reshape(-1, 4)
    mask = np.array([[3, 2, 5, 0], [1, 1, 1, 6]], np.uint32)
    found = called("_Z7shuffleDv4_fDv4_j", [x, mask], (np.float32, 4), engine)
    assert (found == np.take_along_axis(x, mask % 4, axis=1)).all()
    found = called("_Z8shuffle2Dv4_fS_Dv4_j", [x, -x, mask], (np.float32, 4), engine)
    both = np.concatenate([x, -x], axis=1)
    assert (found == np.take_along_axis(both, mask % 8, axis=1)).all()


def test_what_is_not_known_is_refused_by_name() -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(UnsupportedInstruction, match="'sine' is not supported"):
        called("_Z4sinef", [x], (np.float32, 1))
    with pytest.raises(UnsupportedInstruction, match="'strange' has no body"):
        called("strange", [x], (np.float32, 1))
    with pytest.raises(UnsupportedInstruction, match="'isnan' is not supported: of s32"):
        called("_Z5isnani", [x.astype(np.int32)], (np.int32, 1))
