"""Integer built-ins of every type against Python's integers, in kernels."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES
from tests.ptx_frontend.llvm.builtins.verification import called

TYPES: dict[str, Any] = {
    "c": np.int8,
    "h": np.uint8,
    "s": np.int16,
    "t": np.uint16,
    "i": np.int32,
    "j": np.uint32,
    "l": np.int64,
    "m": np.uint64,
}
UNSIGNED = {"c": "h", "s": "t", "i": "j", "l": "m"}
WIDER = {"c": "s", "h": "t", "s": "i", "t": "j", "i": "l", "j": "m"}
Oracle = Callable[..., int]


def _limits(letter: str) -> tuple[int, int]:
    found = np.iinfo(TYPES[letter])
    return int(found.min), int(found.max)


def _bits(letter: str) -> int:
    return int(8 * np.dtype(TYPES[letter]).itemsize)


def _clamp(value: int, letter: str) -> int:
    low, high = _limits(letter)
    return min(max(value, low), high)


def _unsigned(value: int, letter: str) -> int:
    return value % (1 << _bits(letter))


def _rotate(letter: str, x: int, n: int) -> int:
    bits = _bits(letter)
    n, x = n % bits, _unsigned(x, letter)
    return x << n | x >> (bits - n)


def _trailing_zeros(letter: str, x: int) -> int:
    return next((i for i in range(_bits(letter)) if x >> i & 1), _bits(letter))


ORACLES: dict[str, tuple[int, Oracle]] = {
    "abs": (1, lambda t, x: abs(x)),
    "abs_diff": (2, lambda t, x, y: abs(x - y)),
    "add_sat": (2, lambda t, x, y: _clamp(x + y, t)),
    "sub_sat": (2, lambda t, x, y: _clamp(x - y, t)),
    "mad_sat": (3, lambda t, x, y, z: _clamp(x * y + z, t)),
    "hadd": (2, lambda t, x, y: (x + y) >> 1),
    "rhadd": (2, lambda t, x, y: (x + y + 1) >> 1),
    "clz": (1, lambda t, x: _bits(t) - _unsigned(x, t).bit_length()),
    "ctz": (1, _trailing_zeros),
    "popcount": (1, lambda t, x: _unsigned(x, t).bit_count()),
    "mul_hi": (2, lambda t, x, y: (x * y) >> _bits(t)),
    "mad_hi": (3, lambda t, x, y, z: ((x * y) >> _bits(t)) + z),
    "max": (2, lambda t, x, y: max(x, y)),
    "min": (2, lambda t, x, y: min(x, y)),
    "rotate": (2, _rotate),
}


def _values(letter: str) -> list[int]:
    low, high = _limits(letter)
    top = 1 << (_bits(letter) - 1)
    middle = 0x5A3C96E1D2784BF0 % (high + 1)
    values = {low, high, 0, 1, 2, 3, 5, 7, 100, top - 1, high - 1, high // 2, middle}
    if low:
        values |= {-1, -2, -7, low + 1, -100, -middle}
    return sorted(values)


def _grid(letter: str, count: int) -> list[Any]:
    values = _values(letter)[:: 1 if count < 3 else 2]
    rows = itertools.product(values, repeat=count)
    return [np.array(column, TYPES[letter]) for column in zip(*rows, strict=True)]


def _symbol(name: str, letters: str) -> str:
    return f"_Z{len(name)}{name}{letters}"


def _expected(values: list[int], dtype: Any) -> Any:
    bits = 8 * np.dtype(dtype).itemsize
    storage = np.dtype(f"u{bits // 8}")
    return np.array([value % (1 << bits) for value in values], storage).view(dtype)


def _check(name: str, letter: str, engine: str) -> None:
    count, oracle = ORACLES[name]
    operands = _grid(letter, count)
    is_magnitude = name in ("abs", "abs_diff")
    dtype = TYPES[UNSIGNED.get(letter, letter) if is_magnitude else letter]
    found = called(_symbol(name, letter * count), operands, (dtype, 1), engine)
    rows = zip(*(operand.tolist() for operand in operands), strict=True)
    wanted = _expected([oracle(letter, *row) for row in rows], dtype)
    wrong = np.flatnonzero(found != wanted)
    assert not wrong.size, [operand[wrong[0]] for operand in operands]


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("name", ORACLES)
def test_every_type(name: str, letter: str) -> None:
    _check(name, letter, "reference")


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("add_sat", "c"),
        ("mad_sat", "l"),
        ("mad_sat", "m"),
        ("mul_hi", "h"),
        ("rotate", "t"),
        ("rotate", "m"),
        ("sub_sat", "j"),
        ("rhadd", "i"),
    ],
)
def test_on_the_jit_engine(name: str, letter: str) -> None:
    _check(name, letter, "jit")


@pytest.mark.parametrize("letter", TYPES)
def test_clamp(letter: str) -> None:
    x, low, high = _grid(letter, 3)
    low, high = np.minimum(low, high), np.maximum(low, high)
    found = called(_symbol("clamp", letter * 3), [x, low, high], (x.dtype, 1), "reference")
    assert (found == np.clip(x, low, high)).all()


@pytest.mark.parametrize("letter", WIDER)
def test_upsample(letter: str) -> None:
    high = _grid(letter, 1)[0]
    below = UNSIGNED.get(letter, letter)
    low = np.resize(_grid(below, 1)[0], high.shape)[::-1].copy()
    wide = TYPES[WIDER[letter]]
    found = called(_symbol("upsample", letter + below), [high, low], (wide, 1), "reference")
    rows = zip(high.tolist(), low.tolist(), strict=True)
    assert (found == _expected([(x << _bits(letter)) + y for x, y in rows], wide)).all()


@pytest.mark.parametrize("letter", "ij")
def test_products_of_24_bits(letter: str) -> None:
    low, high = (-(1 << 23), (1 << 23) - 1) if letter == "i" else (0, (1 << 24) - 1)
    values = [low, low + 1, 0, 1, 3, 1000, high - 1, high]
    pairs = np.array(list(itertools.product(values, values)))
    x, y = (np.ascontiguousarray(column).astype(TYPES[letter]) for column in pairs.T)
    z = x[::-1].copy()
    exact = [a * b for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    found = called(_symbol("mul24", letter * 2), [x, y], (x.dtype, 1), "reference")
    assert (found == _expected(exact, x.dtype)).all()
    found = called(_symbol("mad24", letter * 3), [x, y, z], (x.dtype, 1), "reference")
    sums = [a + b for a, b in zip(exact, z.tolist(), strict=True)]
    assert (found == _expected(sums, x.dtype)).all()


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_vectors_are_computed_element_by_element(engine: str) -> None:
    x = np.arange(-128, 128, dtype=np.int8).reshape(-1, 4)
    y = x[::-1].copy()
    found = called("_Z7add_satDv4_cS_", [x, y], (np.int8, 4), engine)
    wide = x.astype(int) + y
    assert (found == np.clip(wide, -128, 127)).all()


def test_a_scalar_goes_with_every_element() -> None:
    x = np.arange(64, dtype=np.int32).reshape(-1, 8)
    low, high = np.full(8, 10, np.int32), np.full(8, 50, np.int32)
    found = called("_Z5clampDv8_iii", [x, low, high], (np.int32, 8), "reference")
    assert (found == np.clip(x, 10, 50)).all()


def test_what_is_no_integer_is_refused() -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(UnsupportedInstruction, match="'rotate' is not supported"):
        called("_Z6rotateff", [x, x], (np.float32, 1))
    with pytest.raises(UnsupportedInstruction, match="1 arguments, expected 2"):
        called("_Z6rotatei", [x.astype(np.int32)], (np.int32, 1))
