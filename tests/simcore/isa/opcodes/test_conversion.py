"""`cvt` between all types with every modifier that PTX allows there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType, Unit
from tests.simcore.isa.opcodes.verification import check_opcode

Oracle = Callable[..., Any]

TYPES = sorted(OPCODES["cvt"].types, key=lambda type_: type_.ptx_name)
SOURCES = sorted(OPCODES["cvt"].sources, key=lambda type_: type_.ptx_name)
TO_INTEGRAL: dict[str, Callable[[Fraction], int]] = {
    "rzi": math.trunc,
    "rni": round,  # of a Fraction: ties to even
    "rmi": math.floor,
    "rpi": math.ceil,
}


def _limits(type_: ScalarType) -> tuple[int, int]:
    top = 1 << (type_.bits - 1)
    return (-top, top - 1) if type_.is_signed else (0, 2 * top - 1)


def _integral(context: Context, a: float) -> Any:
    chosen = next((f for name, f in TO_INTEGRAL.items() if name in context.modifiers), None)
    if chosen is None or not math.isfinite(a):
        return a
    return float(chosen(Fraction(a))) or math.copysign(0.0, a)


def _to_integer(context: Context, a: float) -> int:
    low, high = _limits(context.type)
    if math.isnan(a):
        wide = context.source_type.bits == 64 or context.type.bits == 64
        return 1 << (context.type.bits - 1) if wide else 0
    a = _integral(context, a)
    return low if a < low else high if a > high else int(a)


def convert(context: Context, a: Any) -> Any:
    if context.source_type.holds_floats:
        if not context.type.holds_floats:
            return _to_integer(context, a)
        a = _integral(context, a)
        return Fraction(a) if math.isfinite(a) and a != 0 else a
    if context.type.holds_floats:
        return Fraction(a) if a else 0.0
    low, high = _limits(context.type)
    return max(low, min(high, a)) if "sat" in context.modifiers else a


def _modifiers(target: ScalarType, source: ScalarType) -> list[tuple[str, ...]]:
    if not target.holds_floats and source.holds_floats:
        return [(mode,) for mode in TO_INTEGRAL] + [("rzi", "ftz"), ("rni", "sat")]
    if not target.holds_floats:
        return [(), ("sat",)]
    if not source.holds_floats:
        return [("rn",), ("rz",), ("rm",), ("rp",), ("rn", "sat")]
    if target is ScalarType.TF32:
        return [("rn",), ("rz",), ("rna",), ("rna", "satfinite"), ("rn", "relu", "satfinite")]
    if target is ScalarType.BF16:
        modes: list[tuple[str, ...]] = [(mode,) for mode in ("rn", "rz", "rm", "rp", "rna")]
        return [*modes, ("rn", "relu"), ("rn", "satfinite"), ("rz", "relu", "satfinite")]
    if target is ScalarType.F16 and source is ScalarType.F32:
        return [("rn", "relu"), ("rz", "satfinite"), ("rn", "relu", "satfinite"), ("rm",)]
    if target is source:
        return [(), *((mode,) for mode in TO_INTEGRAL), ("sat",), ("ftz",), ("rmi", "ftz")]
    if target.bits > source.bits:
        return [(), ("ftz",), ("sat",)]
    return [("rn",), ("rz",), ("rm",), ("rp",), ("rn", "ftz"), ("rz", "sat"), ("rp", "ftz")]


@pytest.mark.parametrize("source", SOURCES, ids=lambda type_: type_.ptx_name)
@pytest.mark.parametrize("target", TYPES, ids=lambda type_: type_.ptx_name)
def test_conversion(target: ScalarType, source: ScalarType) -> None:
    for modifiers in _modifiers(target, source):
        check_opcode("cvt", convert, Context(target, source, frozenset(modifiers)))


def test_every_modifier_is_tried() -> None:
    tried = {
        m for target in TYPES for source in SOURCES for c in _modifiers(target, source) for m in c
    }
    assert tried == OPCODES["cvt"].modifiers


@pytest.mark.parametrize("modifiers", ["rn", "rz", "rn relu", "rn satfinite", "rz relu satfinite"])
@pytest.mark.parametrize("target", [ScalarType.F16X2, ScalarType.BF16X2])
def test_pairs_are_converted_together(target: ScalarType, modifiers: str) -> None:
    context = Context(target, ScalarType.F32, frozenset(modifiers.split()))
    check_opcode("cvt.pair", convert, context)


def test_the_first_of_a_pair_is_the_upper_half() -> None:
    context = Context(ScalarType.F16X2, ScalarType.F32, frozenset(("rn",)))
    first, second = np.array([1.0], np.float32), np.array([-2.0], np.float32)
    assert int(OPCODES["cvt.pair"].compute(context, first, second)[0]) == 0x3C00C000


FLOAT8 = {
    # digits of the fraction, bias, codes of infinities and NaN from here on
    ScalarType.E4M3: (3, 7, 0x7F),
    ScalarType.E5M2: (2, 15, 0x7C),
}


def _float8(code: int, type_: ScalarType) -> Fraction:
    """The number of a finite code (OCP 8-bit floating point specification)."""
    digits, bias, _ = FLOAT8[type_]
    exponent, fraction = divmod(code & 0x7F, 1 << digits)
    units = fraction + ((1 << digits) if exponent else 0)
    value = Fraction(2) ** (max(exponent, 1) - bias - digits) * units
    return -value if code & 0x80 else value


def _nearest_float8(value: float, type_: ScalarType) -> int:
    """The code of the nearest number, the even code of two, the largest for what is beyond."""
    if math.isnan(value):
        return 0x7F
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    last = FLOAT8[type_][2]
    exact = Fraction(min(abs(value), 1e6))
    return sign | min(range(last), key=lambda code: (abs(_float8(code, type_) - exact), code & 1))


@pytest.mark.parametrize("type_", list(FLOAT8), ids=lambda type_: type_.ptx_name)
def test_numbers_of_8_bits(type_: ScalarType) -> None:
    last = FLOAT8[type_][2]
    finite = [code for code in range(256) if code & 0x7F < last]
    exact = [float(_float8(code, type_)) for code in finite]
    packed = ScalarType.named(f"{type_.ptx_name}x2")
    # both directions keep what a number of 8 bits holds, in both halves
    codes = np.array([a | b << 8 for a, b in zip(finite, finite[::-1], strict=True)], np.uint16)
    to_half = Context(ScalarType.F16X2, packed, frozenset(("rn",)))
    halves = OPCODES["cvt.packed"].compute(to_half, codes).view(np.float16).reshape(-1, 2)
    assert halves[:, 0].tolist() == exact
    assert halves[:, 1].tolist() == exact[::-1]
    back = Context(packed, ScalarType.F16X2, frozenset(("rn", "satfinite")))
    assert (OPCODES["cvt.packed"].compute(back, halves.view(np.uint32)[:, 0]) == codes).all()
    # between them, at the ties and beyond both ends
    magnitudes = sorted({abs(x) for x in exact})
    ties = [(a + b) / 2 for a, b in itertools.pairwise(magnitudes)]
    values = [*ties, *(x * 1.001 for x in ties), *(x * 0.999 for x in ties), 1e9, 2.0**-40]
    values += [math.inf, math.nan, *(-x for x in values)]
    numbers = np.array(values, np.float32)
    pair = Context(packed, ScalarType.F32, frozenset(("rn", "satfinite")))
    with np.errstate(all="ignore"):
        found = OPCODES["cvt.pair"].compute(pair, numbers, numbers[::-1].copy())
    wanted = [_nearest_float8(float(x), type_) for x in numbers]
    assert (found >> 8).tolist() == wanted
    assert (found & 0xFF).tolist() == wanted[::-1]


@pytest.mark.parametrize(
    ("target", "source", "value", "expected"),
    [
        # PTX ISA, cvt: NaN gives 0, or the top bit alone where 64 bits take part
        ("s32", "f32", math.nan, 0),
        ("u32", "f64", math.nan, 1 << 31),
        ("s64", "f32", math.nan, -(1 << 63)),
        ("u32", "f32", -1.0, 0),
        ("s32", "f64", 1e300, (1 << 31) - 1),
        ("u64", "f64", 2.0**64, (1 << 64) - 1),
        ("s8", "f32", -1000.0, -128),
    ],
)
def test_float_to_integer_clamps(target: str, source: str, value: float, expected: int) -> None:
    to, from_ = ScalarType.named(target), ScalarType.named(source)
    with np.errstate(all="ignore"):
        context = Context(to, from_, frozenset(("rzi",)))
        # once among values in range, once alone: both ways through the code
        both = OPCODES["cvt"].compute(context, np.array([value, 1.0], from_.dtype))
        alone = OPCODES["cvt"].compute(context, np.array(value, from_.dtype))
    assert (int(both[0]), int(both[1]), int(alone)) == (expected, 1, expected)


def test_no_lanes_at_all() -> None:
    context = Context(ScalarType.S32, ScalarType.F32, frozenset(("rzi",)))
    assert OPCODES["cvt"].compute(context, np.zeros(0, np.float32)).shape == (0,)


def test_unit() -> None:
    context = Context(ScalarType.S64, ScalarType.S32, frozenset())
    assert OPCODES["cvt"].unit(context) is Unit.CONVERSION
    assert OPCODES["cvt"].flops_of(Context(ScalarType.F32, ScalarType.F64, frozenset())) == 0
