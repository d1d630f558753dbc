"""Comparison and selection, with NaN, both zeros and every combining operator."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType, Unit
from tests.simcore.isa.opcodes.verification import check_opcode

Oracle = Callable[..., Any]

ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINED: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}
ALL_ONES = -1


def _holds(comparison: str, a: Any, b: Any) -> bool:
    """Comparisons whose name ends in u hold when an operand is NaN; the others do not."""
    unordered = math.isnan(a) or math.isnan(b)
    if comparison in ("num", "nan"):
        return unordered == (comparison == "nan")
    if comparison in ORDERED or comparison in UNSIGNED_NAMES:
        return not unordered and ORDERED[UNSIGNED_NAMES.get(comparison, comparison)](a, b)
    return unordered or ORDERED[comparison[:-1]](a, b)


def _setp(name: str) -> Oracle:
    _, comparison, *boolean = name.split(".")

    def oracle(_context: Context, a: Any, b: Any, *c: bool) -> tuple[bool, bool]:
        holds = _holds(comparison, a, b)
        if not boolean:
            return holds, not holds
        combine = COMBINED[boolean[0]]
        return combine(holds, *c), combine(not holds, *c)

    return oracle


def _set(name: str) -> Oracle:
    def oracle(context: Context, a: Any, b: Any, *c: bool) -> float | int:
        true = 1.0 if context.type.holds_floats else ALL_ONES
        return true if _setp(name)(context, a, b, *c)[0] else true * 0

    return oracle


def _slct(_context: Context, a: Any, b: Any, c: Any) -> Any:
    return a if c >= 0 else b


def _is_subnormal(context: Context, a: float) -> bool:
    return a != 0 and abs(a) < 2.0 ** (-126 if context.type.bits == 32 else -1022)


OTHERS: dict[str, Oracle] = {
    "selp": lambda _c, a, b, chooses_a: a if chooses_a else b,
    "testp.finite": lambda _c, a: math.isfinite(a),
    "testp.infinite": lambda _c, a: math.isinf(a),
    "testp.number": lambda _c, a: not math.isnan(a),
    "testp.notanumber": lambda _c, a: math.isnan(a),
    "testp.normal": lambda c, a: math.isfinite(a) and not _is_subnormal(c, a),
    "testp.subnormal": _is_subnormal,
}

NAMES = [n for n, e in OPCODES.items() if e.compute.__module__.endswith(".comparison")]


def _modifiers(name: str, type_: ScalarType) -> list[frozenset[str]]:
    flushes = (
        type_.holds_floats
        and type_.element is not ScalarType.BF16
        and "ftz" in OPCODES[name].modifiers
    )
    return [frozenset(), *([frozenset(("ftz",))] if flushes else [])]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("setp.")])
def test_setp(name: str) -> None:
    types = sorted(OPCODES[name].types, key=lambda t: t.ptx_name)
    # the operators that combine differ in nothing else: they share the types out
    offset, step = (NAMES.index(name) % 5, 5) if name.count(".") > 1 else (0, 1)
    for type_ in types[offset::step]:
        for modifiers in _modifiers(name, type_):
            check_opcode(name, _setp(name), Context(type_, type_, modifiers))


def _are_set_types(type_: ScalarType, source: ScalarType) -> bool:
    """Packed operands give themselves or two masks; PTX has 16-bit masks of halves only."""
    if type_.is_packed or source.is_packed:
        return type_ is source or type_ in (ScalarType.U32, ScalarType.S32)
    return True


def _set_types(name: str) -> list[tuple[ScalarType, ScalarType]]:
    """All pairs of types; the tests of all operators together try each several times."""
    entry = OPCODES[name]
    pairs = itertools.product(*(sorted(x, key=str) for x in (entry.types, entry.sources)))
    return [(t, s) for t, s in pairs if _are_set_types(t, s)]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("set.")])
def test_set(name: str) -> None:
    step = 11 if name.count(".") > 1 else 3
    for type_, source in _set_types(name)[NAMES.index(name) % step :: step]:
        for modifiers in _modifiers(name, source):
            check_opcode(name, _set(name), Context(type_, source, modifiers))


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name.partition(".")[0] not in ("set", "setp", "slct")]
)
def test_others(name: str) -> None:
    for type_ in OPCODES[name].types:
        check_opcode(name, OTHERS[name], Context(type_, type_, frozenset()))


@pytest.mark.parametrize("source", [ScalarType.S32, ScalarType.F32])
def test_slct(source: ScalarType) -> None:
    for type_ in OPCODES["slct"].types:
        check_opcode("slct", _slct, Context(type_, source, frozenset()))


def test_slct_flushes_its_selector_only() -> None:
    context = Context(ScalarType.F32, ScalarType.F32, frozenset(("ftz",)))
    tiny = np.array([1e-40], np.float32)
    # a negative subnormal becomes -0, which is not less than 0
    chosen = OPCODES["slct"].compute(context, tiny, -tiny, -tiny)
    assert chosen[0] == tiny[0]


@pytest.mark.parametrize(
    ("type_", "orders"),
    [
        (ScalarType.B32, {"eq", "ne"}),
        (ScalarType.U32, {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}),
        (ScalarType.S32, {"eq", "ne", "lt", "le", "gt", "ge"}),
    ],
)
def test_comparisons_of_integers(type_: ScalarType, orders: set[str]) -> None:
    found = {
        name.split(".")[1]
        for name in NAMES
        if name.startswith("setp.") and type_ in OPCODES[name].types
    }
    assert found == orders


def test_units() -> None:
    def unit(name: str, type_: ScalarType, source: ScalarType) -> Unit:
        return OPCODES[name].unit(Context(type_, source, frozenset()))

    assert unit("setp.lt", ScalarType.F32, ScalarType.F32) is Unit.FP32
    assert unit("setp.lt.and", ScalarType.S64, ScalarType.S64) is Unit.INTEGER
    assert unit("set.lt", ScalarType.U32, ScalarType.F64) is Unit.FP64
    assert unit("selp", ScalarType.F32, ScalarType.F32) is Unit.MOVE
