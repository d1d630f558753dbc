"""Checks an entry of the opcode table, lane by lane, against an oracle in exact arithmetic.

For the tests of this table and of whatever else claims to compute the same: nothing of it runs when
a kernel does.

An oracle takes a context and Python values and returns an integer of any size, a bool, a float that
needs no rounding (infinities, NaN, signed zeros) or the exact result as a Fraction. Wrapping,
rounding, flushing and saturation are done here, once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from kernelcast.simcore.isa.opcodes import OPCODES, Context
from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = ["check_opcode", "comparable_bits", "operand_arrays", "rounded"]

FORMATS = {16: (11, -14, 15), 32: (24, -126, 127), 64: (53, -1022, 1023)}
"""Precision in bits, smallest and largest exponent of the IEEE 754 binary formats."""

AMOUNTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1 << 31, (1 << 32) - 1]
FEW_AMOUNTS = [0, 1, 5, 31, 32, 33, 63, 64, 255, 257, 0x7531, 0xFEDC]


def _floats(bits: int, few: bool) -> list[float]:
    precision, low, high = FORMATS[bits]
    tiny, step = 2.0**low, 2.0 ** (low - precision + 1)
    most, next_to_one = (2 - 2.0 ** (1 - precision)) * 2.0**high, 1 + 2.0 ** (1 - precision)
    third = rounded(Fraction(1, 3), bits, "rn")
    common = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        step,
        -tiny,
        most,
        -math.inf,
        math.nan,
        next_to_one,
        -third,
        3.0,
    ]
    if few:
        return common
    more = [-1.0, -step, tiny - step, step - tiny, tiny, -most, math.inf, -2.5, 0.5, -0.5, 1.5]
    more += [third, -next_to_one, 100.75, 254.5, -128.5, 2.0**15, -(2.0**15), 2047.0]
    large = [2.0**31, 2.0**32, -(2.0**31), 2.0**63, 2.0**64, -(2.0**63), 1.5 * 2.0**49]
    return common + more + (large if bits > 16 else [])


def _integers(type_: ScalarType, few: bool) -> list[int]:
    top = 1 << (type_.bits - 1)
    values = {0, 1, 3, top - 1, top, 2 * top - 1, 0x5A3C96E1D2784BF0 % (2 * top)}
    if not few:
        values |= {2, 5, 7, 100, top - 2, top + 1, 2 * top - 2, 2 * top - 100, 0x123456789ABCDEF}
        values |= {0xFFFFFF, 0x800000, 0xFFFFFFFF, 0x80000000, 1 << 24, (1 << 53) + 1}
    return sorted({wrapped(value, type_) for value in values})


def wrapped(value: int, type_: ScalarType) -> int:
    value %= 1 << type_.bits
    return value - (1 << type_.bits) if type_.is_signed and value >> (type_.bits - 1) else value


def _grid(letter: str, type_: ScalarType, few: bool) -> list[Any]:
    if type_.kind is Kind.PREDICATE:
        return [False, True]
    if type_.is_float:
        return _floats(type_.bits, few)
    if letter == "u":
        return FEW_AMOUNTS if few else AMOUNTS
    return _integers(type_, few)


def rounded(exact: Fraction, bits: int, mode: str) -> float:
    """The IEEE 754 rounding of a nonzero number, by its definition."""
    precision, low, high = FORMATS[bits]
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, low) - precision + 1)
    steps, rest = divmod(magnitude, quantum)
    away = (mode == "rp" and exact > 0) or (mode == "rm" and exact < 0)
    if mode == "rn":
        away = rest * 2 > quantum or (rest * 2 == quantum and steps % 2 == 1)
    elif away:
        away = rest > 0
    value = (steps + away) * quantum
    if value >= Fraction(2) ** (high + 1):
        outward = mode in ("rn", "rp" if exact > 0 else "rm")
        most = (2 - 2.0 ** (1 - precision)) * 2.0**high
        return math.copysign(math.inf if outward else most, 1 if exact > 0 else -1)
    return math.copysign(float(value), 1 if exact > 0 else -1)


def flushed(value: Any, bits: int) -> Any:
    return math.copysign(0.0, value) if abs(value) < 2.0 ** FORMATS[bits][1] else value


def _mode(context: Context) -> str:
    return next((mode for mode in ("rz", "rm", "rp") if mode in context.modifiers), "rn")


def _flushes(name: str, type_: ScalarType, context: Context) -> bool:
    single_only = name == "cvt" and type_.bits != 32
    return type_.is_float and "ftz" in context.modifiers and not single_only


def _stored(name: str, value: Any, type_: ScalarType, context: Context) -> Any:
    if type_.kind is Kind.PREDICATE:
        return bool(value)
    if not type_.is_float:
        return wrapped(value, type_)
    if isinstance(value, Fraction):
        value = rounded(value, type_.bits, _mode(context)) if value else 0.0
    if _flushes(name, type_, context):
        value = flushed(value, type_.bits)
    if "sat" in context.modifiers:
        return min(value, 1.0) if value > 0 else 0.0
    return value


def comparable_bits(array: Any) -> Any:
    """Comparable bits: the one NaN for all NaNs, and the two zeros apart."""
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.view(np.dtype(f"i{array.dtype.itemsize}")).astype(object)


def check_opcode(name: str, oracle: Callable[..., Any], context: Context, ulps: int = 0) -> None:
    """AssertionError unless `name` gives what `oracle` says on a grid of hard values.

    Results may be off by `ulps` units in the last place. Every value is also tried alone and mixed
    with arrays, as engines pass what is the same in all lanes.
    """
    entry = OPCODES[name]
    types = entry.operand_types(context)
    rows = _rows(name, context)
    arrays = operand_arrays(name, context)
    results = _call(name, context, arrays)
    for position, type_ in enumerate(entry.result_types(context)):
        result = results[position]
        assert result.dtype == type_.dtype
        expected = np.array(
            [_expected(name, oracle, context, row, types, type_, position) for row in rows],
            type_.dtype,
        )
        wrong = _differs(result, expected, ulps)
        if np.any(wrong):
            lane = int(np.argmax(wrong))
            raise AssertionError(
                f"{name} {context}: {rows[lane]} gave {result[lane]!r}, not {expected[lane]!r}"
            )
    _check_scalars(name, context, arrays, results)


def _rows(name: str, context: Context) -> list[tuple[Any, ...]]:
    entry = OPCODES[name]
    types, letters = entry.operand_types(context), entry.signature.split("=")[1]
    grids = [_grid(x, t, len(types) > 2) for x, t in zip(letters, types, strict=True)]
    return list(itertools.product(*grids))


def operand_arrays(name: str, context: Context) -> list[Any]:
    """Every combination of hard values, a lane each: an array per operand."""
    columns = zip(*_rows(name, context), strict=True)
    types = OPCODES[name].operand_types(context)
    return [np.array(column, t.dtype) for column, t in zip(columns, types, strict=True)]


def _differs(result: Any, expected: Any, ulps: int) -> Any:
    if not ulps:
        return comparable_bits(result) != comparable_bits(expected)
    return np.abs(comparable_bits(result) - comparable_bits(expected)) > ulps


def _expected(
    name: str,
    oracle: Callable[..., Any],
    context: Context,
    row: tuple[Any, ...],
    types: tuple[ScalarType, ...],
    type_: ScalarType,
    position: int,
) -> Any:
    operands = [
        flushed(value, t.bits) if _flushes(name, t, context) else value
        for value, t in zip(row, types, strict=True)
    ]
    value = oracle(context, *operands)
    return _stored(name, value[position] if isinstance(value, tuple) else value, type_, context)


def _call(name: str, context: Context, operands: list[Any]) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):
        result = OPCODES[name].compute(context, *operands)
    return result if isinstance(result, tuple) else (result,)


def _check_scalars(name: str, context: Context, arrays: list[Any], results: Any) -> None:
    """A value that is the same in all lanes comes as a 0-d array and gives the same result."""
    step = max(1, len(arrays[0]) // 7)
    for lane in range(0, len(arrays[0]), step):
        alone = _call(name, context, [np.asarray(array[lane]) for array in arrays])
        mixed = _call(name, context, [arrays[0], *(np.asarray(a[lane]) for a in arrays[1:])])
        for result, scalar, broadcast in zip(results, alone, mixed, strict=True):
            assert scalar.dtype == broadcast.dtype == result.dtype
            assert np.shape(scalar) == ()
            assert np.all(comparable_bits(scalar) == comparable_bits(result[lane]))
            assert np.all(comparable_bits(broadcast[lane]) == comparable_bits(result[lane]))
