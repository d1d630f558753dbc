"""`cvt` between all types with every modifier that PTX allows there."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.opcodes import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType, Unit
from kernelcast.simcore.isa.verification import check_opcode

Oracle = Callable[..., Any]

TYPES = sorted(OPCODES["cvt"].types, key=lambda type_: type_.ptx_name)
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
    if context.source_type.is_float:
        if not context.type.is_float:
            return _to_integer(context, a)
        a = _integral(context, a)
        return Fraction(a) if math.isfinite(a) and a != 0 else a
    if context.type.is_float:
        return Fraction(a) if a else 0.0
    low, high = _limits(context.type)
    return max(low, min(high, a)) if "sat" in context.modifiers else a


def _modifiers(target: ScalarType, source: ScalarType) -> list[tuple[str, ...]]:
    if not target.is_float and source.is_float:
        return [(mode,) for mode in TO_INTEGRAL] + [("rzi", "ftz"), ("rni", "sat")]
    if not target.is_float:
        return [(), ("sat",)]
    if not source.is_float:
        return [("rn",), ("rz",), ("rm",), ("rp",), ("rn", "sat")]
    if target is source:
        return [(), *((mode,) for mode in TO_INTEGRAL), ("sat",), ("ftz",), ("rmi", "ftz")]
    if target.bits > source.bits:
        return [(), ("ftz",), ("sat",)]
    return [("rn",), ("rz",), ("rm",), ("rp",), ("rn", "ftz"), ("rz", "sat"), ("rp", "ftz")]


@pytest.mark.parametrize("source", TYPES, ids=lambda type_: type_.ptx_name)
@pytest.mark.parametrize("target", TYPES, ids=lambda type_: type_.ptx_name)
def test_conversion(target: ScalarType, source: ScalarType) -> None:
    for modifiers in _modifiers(target, source):
        check_opcode("cvt", convert, Context(target, source, frozenset(modifiers)))


def test_every_modifier_is_tried() -> None:
    tried = {
        m for target in TYPES for source in TYPES for c in _modifiers(target, source) for m in c
    }
    assert tried == OPCODES["cvt"].modifiers


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
