"""Comparison and selection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.simcore.isa import native_comparison as native
from kernelcast.simcore.isa.opcodes import Context, Emission, opcode, unit_of
from kernelcast.simcore.isa.rounding import FLUSH, Array, flush, with_float_modes
from kernelcast.simcore.isa.type_sets import FLOATS, INTEGERS, UNSIGNED, VALUES
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["BOOLEANS", "COMPARISONS"]

Comparison = Callable[[Array, Array], Array]


def _ordered_ne(a: Array, b: Array) -> Array:
    """False when an operand is NaN, unlike NumPy's own; the same as it on integers."""
    return np.less(a, b) | np.greater(a, b)


COMPARISONS: dict[str, tuple[Comparison, tuple[ScalarType, ...]]] = {
    "eq": (np.equal, VALUES),
    "lt": (np.less, INTEGERS + FLOATS),
    "le": (np.less_equal, INTEGERS + FLOATS),
    "gt": (np.greater, INTEGERS + FLOATS),
    "ge": (np.greater_equal, INTEGERS + FLOATS),
    "lo": (np.less, UNSIGNED),
    "ls": (np.less_equal, UNSIGNED),
    "hi": (np.greater, UNSIGNED),
    "hs": (np.greater_equal, UNSIGNED),
    "equ": (lambda a, b: np.invert(_ordered_ne(a, b)), FLOATS),
    "neu": (np.not_equal, FLOATS),
    "ltu": (lambda a, b: np.invert(np.greater_equal(a, b)), FLOATS),
    "leu": (lambda a, b: np.invert(np.greater(a, b)), FLOATS),
    "gtu": (lambda a, b: np.invert(np.less_equal(a, b)), FLOATS),
    "geu": (lambda a, b: np.invert(np.less(a, b)), FLOATS),
    "num": (lambda a, b: np.equal(a, a) & np.equal(b, b), FLOATS),
    "nan": (lambda a, b: np.not_equal(a, a) | np.not_equal(b, b), FLOATS),
}
"""Comparison operators with the types that they compare; those ending in u are true on NaN."""

BOOLEANS: dict[str, Comparison] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def _integer_or_ordered_ne(a: Array, b: Array) -> Array:
    return _ordered_ne(a, b) if a.dtype.kind == "f" else np.not_equal(a, b)


COMPARISONS["ne"] = (_integer_or_ordered_ne, VALUES)

_SET_RESULTS = (ScalarType.U32, ScalarType.S32, ScalarType.F32, ScalarType.F16)


def _source_unit(context: Context) -> Unit:
    return unit_of(Context(context.source_type, context.source_type, context.modifiers))


def _register_setp(name: str, compare: Comparison, types: tuple[ScalarType, ...]) -> None:
    @opcode(f"setp.{name}", "pp=tt", types, modifiers=FLUSH, native=native.setp_emission(name))
    @with_float_modes
    def _setp(_context: Context, a: Array, b: Array) -> tuple[Array, Array]:
        holds = compare(a, b)
        return holds, np.logical_not(holds)

    for boolean, combine in BOOLEANS.items():
        emission = native.setp_emission(name, boolean)
        _register_setp_with(f"setp.{name}.{boolean}", compare, combine, types, emission)


def _register_setp_with(
    name: str,
    compare: Comparison,
    combine: Comparison,
    types: tuple[ScalarType, ...],
    emission: Emission,
) -> None:
    @opcode(name, "pp=ttp", types, modifiers=FLUSH, native=emission)
    @with_float_modes
    def _setp_with(_context: Context, a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        holds = compare(a, b)
        return combine(holds, c), combine(np.logical_not(holds), c)


def _truth(context: Context, holds: Array) -> Array:
    """1.0 for a floating-point result, all ones for an integer one."""
    truth: Array = holds.astype(context.type.dtype)
    return truth if context.type.is_float else -truth


def _flushed(context: Context, value: Array) -> Array:
    flushes = "ftz" in context.modifiers and context.source_type.is_float
    return flush(value) if flushes else value


def _register_set(name: str, compare: Comparison) -> None:
    emission = native.set_emission(name)

    @opcode(
        f"set.{name}",
        "t=ss",
        _SET_RESULTS,
        unit=_source_unit,
        modifiers=FLUSH,
        native=emission,
    )
    def _set(context: Context, a: Array, b: Array) -> Array:
        return _truth(context, compare(_flushed(context, a), _flushed(context, b)))

    for boolean, combine in BOOLEANS.items():
        emission = native.set_emission(name, boolean)
        _register_set_with(f"set.{name}.{boolean}", compare, combine, emission)


def _register_set_with(
    name: str, compare: Comparison, combine: Comparison, emission: Emission
) -> None:
    @opcode(name, "t=ssp", _SET_RESULTS, unit=_source_unit, modifiers=FLUSH, native=emission)
    def _set_with(context: Context, a: Array, b: Array, c: Array) -> Array:
        holds = compare(_flushed(context, a), _flushed(context, b))
        return _truth(context, combine(holds, c))


for _name, (_compare, _types) in COMPARISONS.items():
    _register_setp(_name, _compare, _types)
    _register_set(_name, _compare)


@opcode("selp", "t=ttp", (ScalarType.PRED, *VALUES), unit=Unit.MOVE, native=native.emit_selp)
def _selp(_context: Context, a: Array, b: Array, chooses_a: Array) -> Array:
    return np.where(chooses_a, a, b)


@opcode("slct", "t=tts", VALUES, unit=Unit.MOVE, modifiers=FLUSH, native=native.emit_slct)
def _slct(context: Context, a: Array, b: Array, c: Array) -> Array:
    """a where c >= 0, else b; NaN chooses b."""
    return np.where(np.greater_equal(_flushed(context, c), 0), a, b)


_FLOAT_CLASSES: dict[str, Callable[[Array], Array]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: np.equal(a, a),
    "notanumber": np.isnan,
    "normal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny),
    "subnormal": lambda a: (np.abs(a) < np.finfo(a.dtype).tiny) & (a != 0),
}


def _register_testp(name: str, belongs: Callable[[Array], Array]) -> None:
    @opcode(
        f"testp.{name}",
        "p=t",
        (ScalarType.F32, ScalarType.F64),
        native=native.testp_emission(name),
    )
    def _testp(_context: Context, a: Array) -> Array:
        return belongs(a)


for _class, _belongs in _FLOAT_CLASSES.items():
    _register_testp(_class, _belongs)
