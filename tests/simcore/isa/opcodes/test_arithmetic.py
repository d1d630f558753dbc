"""Arithmetic on every type, rounding and modifier, against exact integers and fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType, Unit
from tests.simcore.isa.opcodes.verification import check_opcode

Oracle = Callable[..., Any]


def _clamped(context: Context, value: int) -> int:
    if "sat" not in context.modifiers:
        return value
    top = 1 << (context.type.bits - 1)
    low, high = (-top, top - 1) if context.type.is_signed else (0, 2 * top - 1)
    return max(low, min(high, value))


def _all_finite(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)


def _exact_zero(context: Context, same_sign_zeros: bool, value: float) -> float:
    if same_sign_zeros:
        return value
    return -0.0 if "rm" in context.modifiers else 0.0


def _same_sign(a: float, b: float) -> bool:
    return math.copysign(1, a) == math.copysign(1, b)


def add(context: Context, a: Any, b: Any) -> Any:
    if not context.type.holds_floats:
        return _clamped(context, a + b)
    if not _all_finite(a, b):
        return a + b
    exact = Fraction(a) + Fraction(b)
    return exact or _exact_zero(context, a == 0 and _same_sign(a, b), a)


def sub(context: Context, a: Any, b: Any) -> Any:
    return add(context, a, -b)


def mul(context: Context, a: float, b: float) -> Any:
    if not _all_finite(a, b):
        return a * b
    return Fraction(a) * Fraction(b) or math.copysign(0.0, math.copysign(1, a) * b)


def fma(context: Context, a: float, b: float, c: float) -> Any:
    if not _all_finite(a, b):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    zero = math.copysign(0.0, math.copysign(1, a) * b)
    product_is_zero = a == 0 or b == 0
    return exact or _exact_zero(context, product_is_zero and _same_sign(zero, c), c)


def div(context: Context, a: Any, b: Any) -> Any:
    if not context.type.holds_floats:
        return _truncated(context, a, b)[0]
    negative = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (a == 0 == b) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    if b == 0 or math.isinf(a):
        return math.copysign(math.inf, negative)
    if a == 0 or math.isinf(b):
        return math.copysign(0.0, negative)
    return Fraction(a) / Fraction(b)


def _truncated(context: Context, a: int, b: int) -> tuple[int, int]:
    if b == 0:
        return -1, a
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def rem(context: Context, a: int, b: int) -> int:
    return _truncated(context, a, b)[1]


def _extremum(pick: Callable[..., Any]) -> Oracle:
    def oracle(context: Context, *operands: Any) -> Any:
        values = [abs(x) for x in operands] if "abs" in context.modifiers else operands
        chosen = values[0]
        for value in values[1:]:
            chosen = _chosen(context, chosen, value, pick)
        if "xorsign" not in context.modifiers or math.isnan(chosen):
            return chosen
        signs = [math.copysign(1, x) for x in operands]
        return math.copysign(chosen, signs[0] * signs[1])

    return oracle


def _chosen(context: Context, a: Any, b: Any, pick: Callable[..., Any]) -> Any:
    if context.type.holds_floats:
        if math.isnan(a) or math.isnan(b):
            other = b if math.isnan(a) else a
            return math.nan if "NaN" in context.modifiers else other
        return pick(a, b, key=lambda x: (x, math.copysign(1, x)))
    return pick(a, b)


ORACLES: dict[str, Oracle] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "fma": fma,
    "mad": fma,
    "div": div,
    "rem": rem,
    "neg": lambda _c, a: -a,
    "abs": lambda _c, a: abs(a),
    "copysign": lambda _c, a, b: math.copysign(b, a),
    "min": _extremum(min),
    "max": _extremum(max),
    "min.three": _extremum(min),
    "max.three": _extremum(max),
    "sad": lambda _c, a, b, c: c + abs(a - b),
}


def _signed_24(context: Context, value: int) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if context.type.is_signed and value >> 23 else value


def _product_24(context: Context, a: int, b: int) -> int:
    return _signed_24(context, a) * _signed_24(context, b)


def _wrapped_high_24(context: Context, a: int, b: int) -> int:
    high = (_product_24(context, a, b) >> 16) & 0xFFFFFFFF
    return high - (1 << 32) if context.type.is_signed and high >> 31 else high


PRODUCTS: dict[str, Oracle] = {
    "mul.lo": lambda _c, a, b: a * b,
    "mul.hi": lambda c, a, b: a * b >> c.type.bits,
    "mul.wide": lambda _c, a, b: a * b,
    "mad.lo": lambda _c, a, b, c: a * b + c,
    "mad.hi": lambda k, a, b, c: _clamped(k, (a * b >> k.type.bits) + c),
    "mad.wide": lambda _c, a, b, c: a * b + c,
    "mul24.lo": _product_24,
    "mul24.hi": _wrapped_high_24,
    "mad24.lo": lambda k, a, b, c: _product_24(k, a, b) + c,
    "mad24.hi": lambda k, a, b, c: _clamped(k, _wrapped_high_24(k, a, b) + c),
}


def _names(module: str) -> list[str]:
    return [name for name, entry in OPCODES.items() if entry.compute.__module__.endswith(module)]


def _is_allowed(name: str, type_: ScalarType, modifiers: tuple[str, ...]) -> bool:
    """Whether the modifiers go with the type.

    Integers have `.sat` as s32 alone and `.relu` where they are signed; bf16 no `.ftz`, no `.sat`
    and one rounding; and `.xorsign` comes with two operands and `.abs`.
    """
    chosen, signed = set(modifiers), (ScalarType.S32, ScalarType.S16X2)
    if not type_.holds_floats:
        return (
            not chosen
            or (chosen == {"sat"} and type_ is ScalarType.S32)
            or (chosen == {"relu"} and type_ in signed)
        )
    if type_.element is ScalarType.BF16 and chosen & {"ftz", "sat", "rz", "rm", "rp"}:
        return False
    if "xorsign" in chosen:
        return "abs" in chosen and not name.endswith(".three")
    return "abs" not in chosen or name.endswith(".three")


def _cases(module: str) -> list[Any]:
    """Every entry of a module with every type it takes, and every modifier that this type takes."""
    cases = []
    for name in _names(module):
        entry = OPCODES[name]
        for type_ in sorted(entry.types, key=lambda t: t.ptx_name):
            modifiers: list[tuple[str, ...]] = [(), *((m,) for m in sorted(entry.modifiers))]
            if {"rz", "ftz", "sat"} <= entry.modifiers:
                modifiers += [("rz", "ftz"), ("rp", "sat"), ("ftz", "sat"), ("rm", "ftz", "sat")]
            if "xorsign" in entry.modifiers:
                modifiers += [("xorsign", "abs"), ("NaN", "xorsign", "abs", "ftz")]
            if {"relu", "rz"} <= entry.modifiers:
                modifiers += [("rn", "relu"), ("ftz", "relu")]
            for chosen in modifiers:
                if _is_allowed(name, type_, chosen):
                    label = ".".join((name, *chosen, type_.ptx_name))
                    cases.append(pytest.param(name, type_, frozenset(chosen), id=label))
    return cases


@pytest.mark.parametrize(("name", "type_", "modifiers"), _cases(".arithmetic"))
def test_arithmetic(name: str, type_: ScalarType, modifiers: frozenset[str]) -> None:
    check_opcode(name, ORACLES[name], Context(type_, type_, modifiers))


@pytest.mark.parametrize(("name", "type_", "modifiers"), _cases(".multiplication"))
def test_products(name: str, type_: ScalarType, modifiers: frozenset[str]) -> None:
    check_opcode(name, PRODUCTS[name], Context(type_, type_, modifiers))


@pytest.mark.parametrize(
    ("name", "type_", "unit", "flops"),
    [
        ("fma", ScalarType.F32, Unit.FP32, 2),
        ("fma", ScalarType.F64, Unit.FP64, 2),
        ("fma", ScalarType.F16, Unit.FP16, 2),
        ("mad", ScalarType.F32, Unit.FP32, 2),
        ("add", ScalarType.F64, Unit.FP64, 1),
        ("add", ScalarType.S32, Unit.INTEGER, 0),
        ("sub", ScalarType.F32, Unit.FP32, 1),
        ("mul", ScalarType.F32, Unit.FP32, 1),
        ("div", ScalarType.F32, Unit.FP32, 1),
        ("div", ScalarType.U32, Unit.INTEGER, 0),
        ("min", ScalarType.F32, Unit.FP32, 0),
        ("neg", ScalarType.F64, Unit.FP64, 0),
        ("mad.lo", ScalarType.S32, Unit.INTEGER, 0),
        ("mul.wide", ScalarType.U32, Unit.INTEGER, 0),
    ],
)
def test_units_and_flops(name: str, type_: ScalarType, unit: Unit, flops: int) -> None:
    context = Context(type_, type_, frozenset())
    assert OPCODES[name].unit(context) is unit
    assert OPCODES[name].flops_of(context) == flops
