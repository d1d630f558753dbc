"""Comparison and selection."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np

from kernelcast.simcore.isa.numerics.packed import elements, joined, single
from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns, ComparisonRule, Order
from kernelcast.simcore.isa.opcodes.element_types import of_elements
from kernelcast.simcore.isa.opcodes.llvm import comparison as llvm
from kernelcast.simcore.isa.opcodes.rounding import FLUSH, Array, flush, with_float_modes
from kernelcast.simcore.isa.opcodes.table import Context, Meaning, opcode, unit_of
from kernelcast.simcore.isa.types import (
    FLOATS,
    HALVES,
    INTEGERS,
    UNSIGNED,
    VALUES,
    ScalarType,
    Unit,
)

__all__ = ["BOOLEANS", "COMPARISONS"]

Comparison = Callable[[Array, Array], Array]
_REALS = FLOATS + HALVES


def _ordered_ne(a: Array, b: Array) -> Array:
    """False when an operand is NaN, unlike NumPy's own; the same as it on integers."""
    return np.less(a, b) | np.greater(a, b)


COMPARISONS: dict[str, tuple[Comparison, tuple[ScalarType, ...]]] = {
    "eq": (np.equal, VALUES + HALVES),
    "lt": (np.less, INTEGERS + _REALS),
    "le": (np.less_equal, INTEGERS + _REALS),
    "gt": (np.greater, INTEGERS + _REALS),
    "ge": (np.greater_equal, INTEGERS + _REALS),
    "lo": (np.less, UNSIGNED),
    "ls": (np.less_equal, UNSIGNED),
    "hi": (np.greater, UNSIGNED),
    "hs": (np.greater_equal, UNSIGNED),
    "equ": (lambda a, b: np.invert(_ordered_ne(a, b)), _REALS),
    "neu": (np.not_equal, _REALS),
    "ltu": (lambda a, b: np.invert(np.greater_equal(a, b)), _REALS),
    "leu": (lambda a, b: np.invert(np.greater(a, b)), _REALS),
    "gtu": (lambda a, b: np.invert(np.less_equal(a, b)), _REALS),
    "geu": (lambda a, b: np.invert(np.less(a, b)), _REALS),
    "num": (lambda a, b: np.equal(a, a) & np.equal(b, b), _REALS),
    "nan": (lambda a, b: np.not_equal(a, a) | np.not_equal(b, b), _REALS),
}
"""Comparison operators with the types that they compare; those ending in u are true on NaN."""

BOOLEANS: dict[str, Comparison] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def _integer_or_ordered_ne(a: Array, b: Array) -> Array:
    return _ordered_ne(a, b) if a.dtype.kind == "f" else np.not_equal(a, b)


COMPARISONS["ne"] = (_integer_or_ordered_ne, VALUES + HALVES)

_ORDERS: dict[str, Order | None] = {
    "eq": Order.EQUAL,
    "ne": Order.UNEQUAL,
    **dict.fromkeys(("lt", "lo"), Order.LESS),
    **dict.fromkeys(("le", "ls"), Order.LESS_OR_EQUAL),
    **dict.fromkeys(("gt", "hi"), Order.GREATER),
    **dict.fromkeys(("ge", "hs"), Order.GREATER_OR_EQUAL),
    **dict.fromkeys(("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"), None),
}

_SET_RESULTS = (
    *(ScalarType.U16, ScalarType.S16, ScalarType.U32, ScalarType.S32),
    *(ScalarType.F32, ScalarType.F16, *HALVES),
)
_BF16_ONE = 0x3F80


def _source_unit(context: Context) -> Unit:
    return unit_of(Context(context.source_type, context.source_type, context.modifiers))


def _predicate_of_each_half(compute: Meaning) -> Meaning:
    """Packed operands give the two predicates of their elements, others one and its opposite."""

    @wraps(compute)
    def each(context: Context, *operands: Array) -> tuple[Array, Array]:
        if not context.type.is_packed:
            found: tuple[Array, Array] = compute(context, *operands)
            return found
        parts = zip(*(elements(operand, context.type) for operand in operands), strict=True)
        low, high = (compute(of_elements(context), *part)[0] for part in parts)
        return low, high

    return each


def _register_setp(
    name: str, compare: Comparison, types: tuple[ScalarType, ...], boolean: str
) -> None:
    full_name = f"setp.{name}.{boolean}" if boolean else f"setp.{name}"
    signature = "pp=ttp" if boolean else "pp=tt"
    rule = ComparisonRule(_ORDERS[name], Algebra(boolean) if boolean else None)

    @opcode(
        full_name,
        signature,
        types,
        modifiers=FLUSH,
        columns=Columns(algebra=Algebra.COMPARISON, comparison=rule),
        llvm=llvm.setp_emission(name, boolean),
    )
    @_predicate_of_each_half
    @with_float_modes
    def _setp(_context: Context, a: Array, b: Array, *c: Array) -> tuple[Array, Array]:
        holds = compare(a, b)
        fails = np.logical_not(holds)
        if not c:
            return holds, fails
        combine = BOOLEANS[boolean]
        return combine(holds, c[0]), combine(fails, c[0])


def _truth(context: Context, holds: Array) -> Array:
    """1.0 for a floating-point result, all ones for an integer one."""
    if context.type is ScalarType.BF16:
        return np.where(holds, np.uint16(_BF16_ONE), np.uint16(0))
    truth: Array = holds.astype(context.type.dtype)
    return truth if context.type.is_float else -truth


def _flushed(context: Context, value: Array) -> Array:
    flushes = "ftz" in context.modifiers and value.dtype.kind == "f"
    return flush(value) if flushes else value


def _register_set(name: str, compare: Comparison, boolean: str) -> None:
    full_name = f"set.{name}.{boolean}" if boolean else f"set.{name}"
    signature = "t=ssp" if boolean else "t=ss"
    emission = llvm.set_emission(name, boolean)

    def truth(context: Context, a: Array, b: Array, *c: Array) -> Array:
        if context.source_type is ScalarType.BF16:
            a, b = single(a), single(b)
        holds = compare(_flushed(context, a), _flushed(context, b))
        return _truth(context, BOOLEANS[boolean](holds, c[0]) if c else holds)

    @opcode(
        full_name,
        signature,
        _SET_RESULTS,
        sources=COMPARISONS[name][1],
        unit=_source_unit,
        modifiers=FLUSH,
        llvm=emission,
    )
    def _set(context: Context, *operands: Array) -> Array:
        """A comparison's result as a number; packed operands give a 16-bit mask for each half."""
        source = context.source_type
        if not source.is_packed:
            return truth(context, *operands)
        result = context.type if context.type.is_packed else ScalarType.U16X2
        inner = Context(result.element, source.element, context.modifiers)
        parts = zip(*(elements(operand, source) for operand in operands), strict=True)
        packed = joined([truth(inner, *part) for part in parts], result)
        return packed.view(context.type.dtype)


for _name, (_compare, _types) in COMPARISONS.items():
    for _boolean in ("", *BOOLEANS):
        _register_setp(_name, _compare, _types, _boolean)
        _register_set(_name, _compare, _boolean)


@opcode(
    "selp",
    "t=ttp",
    (ScalarType.PRED, *VALUES),
    unit=Unit.MOVE,
    columns=Columns(algebra=Algebra.CHOICE),
    llvm=llvm.emit_selp,
)
def _selp(_context: Context, a: Array, b: Array, chooses_a: Array) -> Array:
    return np.where(chooses_a, a, b)


@opcode(
    "slct",
    "t=tts",
    VALUES,
    sources=(ScalarType.S32, ScalarType.F32),
    unit=Unit.MOVE,
    modifiers=FLUSH,
    llvm=llvm.emit_slct,
)
def _slct(context: Context, a: Array, b: Array, c: Array) -> Array:
    """a where c >= 0, else b; NaN chooses b."""
    return np.where(np.greater_equal(_flushed(context, c), 0), a, b)


# zeros are normal numbers (PTX ISA, testp)
_FLOAT_CLASSES: dict[str, Callable[[Array], Array]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: np.equal(a, a),
    "notanumber": np.isnan,
    "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= np.finfo(a.dtype).tiny) | (a == 0)),
    "subnormal": lambda a: (np.abs(a) < np.finfo(a.dtype).tiny) & (a != 0),
}


def _register_testp(name: str, belongs: Callable[[Array], Array]) -> None:
    @opcode(
        f"testp.{name}",
        "p=t",
        (ScalarType.F32, ScalarType.F64),
        llvm=llvm.testp_emission(name),
    )
    def _testp(_context: Context, a: Array) -> Array:
        return belongs(a)


for _class, _belongs in _FLOAT_CLASSES.items():
    _register_testp(_class, _belongs)
