"""Checks an entry of the opcode table, lane by lane, against an oracle in exact arithmetic.

For the tests of this table and of whatever else claims to compute the same: nothing of it runs when
a kernel does.

An oracle takes a context and Python values and returns an integer of any size, a bool, a float that
needs no rounding (infinities, NaN, signed zeros) or the exact result as a Fraction. Wrapping,
rounding, flushing and saturation are done here, once. Of packed types it sees one element at a
time, in a context of that element.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import Kind, ScalarType
from tests.simcore.isa.opcodes.verification_values import (
    FORMATS,
    comparable_bits,
    encoded,
    float_format,
    grid,
    rounded,
    wrapped,
)

__all__ = ["check_opcode", "comparable_bits", "operand_arrays", "rounded"]

Row = tuple[Any, ...]
_MOST_ROWS, _STRIDE = 100_000, 37


def flushed(value: Any, type_: ScalarType) -> Any:
    """The value, or a zero of its sign where it is subnormal in the type."""
    smallest = 2.0 ** FORMATS[float_format(type_)][1]
    return math.copysign(0.0, value) if abs(value) < smallest else value


def _mode(context: Context) -> str:
    return next((mode for mode in ("rz", "rm", "rp", "rna") if mode in context.modifiers), "rn")


@cache
def _operand_types(name: str, context: Context) -> tuple[tuple[ScalarType, ...], bool]:
    """The types of the operands, and whether one of them is packed."""
    types = OPCODES[name].operand_types(context)
    return types, any(t.is_packed for t in types)


def _flushes(name: str, type_: ScalarType, context: Context) -> bool:
    single_only = name.startswith("cvt") and type_ is not ScalarType.F32
    return type_.holds_floats and "ftz" in context.modifiers and not single_only


def _stored(name: str, value: Any, type_: ScalarType, context: Context) -> Any:
    if type_.kind is Kind.PREDICATE:
        return bool(value)
    if not type_.holds_floats:
        value = wrapped(value, type_)
        return max(value, 0) if "relu" in context.modifiers else value
    if isinstance(value, Fraction):
        value = rounded(value, float_format(type_), _mode(context)) if value else 0.0
    if _flushes(name, type_, context):
        value = flushed(value, type_)
    if "relu" in context.modifiers and value <= 0:
        value = 0.0
    if "satfinite" in context.modifiers and math.isinf(value):
        precision, _, high = FORMATS[float_format(type_)]
        value = math.copysign((2 - 2.0 ** (1 - precision)) * 2.0**high, value)
    if "sat" in context.modifiers:
        return min(value, 1.0) if value > 0 else 0.0
    return value


def check_opcode(name: str, oracle: Callable[..., Any], context: Context, ulps: int = 0) -> None:
    """Raises AssertionError unless `name` gives what `oracle` says on a grid of hard values.

    Results may be off by `ulps` units in the last place. Every value is also tried alone and mixed
    with arrays, as engines pass what is the same in all lanes.
    """
    entry = OPCODES[name]
    rows = _rows(name, context)
    arrays = operand_arrays(name, context)
    results = _call(name, context, arrays)
    for position, type_ in enumerate(entry.result_types(context)):
        result = results[position]
        assert result.dtype == type_.dtype
        seen = ScalarType.U16X2 if _makes_masks(context) else type_
        wanted = [_expected(name, oracle, context, row, seen, position) for row in rows]
        expected = encoded(wanted, seen).view(type_.dtype)
        wrong = _differs(result, expected, seen, ulps)
        if np.any(wrong):
            lane = int(np.argmax(wrong))
            raise AssertionError(
                f"{name} {context}: {rows[lane]} gave {result[lane]!r}, not {wanted[lane]!r}"
            )
    _check_scalars(name, context, arrays, results)


def _makes_masks(context: Context) -> bool:
    """Whether packed operands give a word of two masks (`set`)."""
    return context.source_type.is_packed and context.type.is_integer


def _rows(name: str, context: Context) -> list[Row]:
    entry = OPCODES[name]
    types, letters = entry.operand_types(context), entry.signature.split("=")[1]
    grids = [grid(x, t, len(types) > 2) for x, t in zip(letters, types, strict=True)]
    rows = itertools.product(*grids)
    # a stride that shares no factor with the sizes of grids leaves out no value
    step = _STRIDE if math.prod(len(values) for values in grids) > _MOST_ROWS else 1
    return list(itertools.islice(rows, 0, None, step))


def operand_arrays(name: str, context: Context) -> list[Any]:
    """Every combination of hard values, a lane each: an array per operand."""
    columns = zip(*_rows(name, context), strict=True)
    types = OPCODES[name].operand_types(context)
    return [encoded(column, t) for column, t in zip(columns, types, strict=True)]


def _differs(result: Any, expected: Any, type_: ScalarType, ulps: int) -> Any:
    found, wanted = (comparable_bits(x, type_) for x in (result, expected))
    apart = np.abs(found - wanted) > ulps if ulps else found != wanted
    return np.any(apart, axis=0) if type_.is_packed else apart


def _expected(
    name: str,
    oracle: Callable[..., Any],
    context: Context,
    row: Row,
    type_: ScalarType,
    position: int,
) -> Any:
    """What result `position` should be; a pair for a packed type."""
    types, is_packed = _operand_types(name, context)
    operands = list(zip(row, types, strict=True))
    if not is_packed and not type_.is_packed:
        return _expected_element(name, oracle, context, operands, type_, position)
    target = type_.element if type_.is_packed else context.type.element
    inner = Context(target, context.source_type.element, context.modifiers)
    if not is_packed:
        # a pair of separate values
        pair = [_expected_element(name, oracle, inner, [x], target, 0) for x in operands]
        return pair[::-1]
    parts = [[(x[i] if t.is_packed else x, t.element) for x, t in operands] for i in range(2)]
    if not type_.is_packed:
        # a predicate for each element
        return _expected_element(name, oracle, inner, parts[position], type_, 0)
    return [_expected_element(name, oracle, inner, part, target, position) for part in parts]


def _expected_element(
    name: str,
    oracle: Callable[..., Any],
    context: Context,
    operands: list[tuple[Any, ScalarType]],
    type_: ScalarType,
    position: int,
) -> Any:
    values = [x for x, _ in operands]
    if "ftz" in context.modifiers:
        values = [flushed(x, t) if _flushes(name, t, context) else x for x, t in operands]
    value = oracle(context, *values)
    return _stored(name, value[position] if isinstance(value, tuple) else value, type_, context)


def _call(name: str, context: Context, operands: list[Any]) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):
        result = OPCODES[name].compute(context, *operands)
    return result if isinstance(result, tuple) else (result,)


def _check_scalars(name: str, context: Context, arrays: list[Any], results: Any) -> None:
    """A value that is the same in all lanes comes as a 0-d array and gives the same result."""
    types = OPCODES[name].result_types(context)
    step = max(1, len(arrays[0]) // 7)
    for lane in range(0, len(arrays[0]), step):
        alone = _call(name, context, [np.asarray(array[lane]) for array in arrays])
        mixed = _call(name, context, [arrays[0], *(np.asarray(a[lane]) for a in arrays[1:])])
        for result, scalar, broadcast, type_ in zip(results, alone, mixed, types, strict=True):
            assert scalar.dtype == broadcast.dtype == result.dtype
            assert np.shape(scalar) == ()
            bits = comparable_bits(result[lane], type_)
            assert np.all(comparable_bits(scalar, type_) == bits)
            assert np.all(comparable_bits(broadcast[lane], type_) == bits)
