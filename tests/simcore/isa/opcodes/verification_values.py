"""Hard values of every scalar type, as Python values and as the arrays that opcodes take.

A value of a packed type is a pair of values of its element, the low one first; numbers of 8 bits
are given by their codes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from kernelcast.simcore.isa.numerics.packed import elements, joined
from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = [
    "FORMATS",
    "comparable_bits",
    "encoded",
    "float_format",
    "grid",
    "rounded",
    "wrapped",
]

FORMATS: dict[int | ScalarType, tuple[int, int, int]] = {
    16: (11, -14, 15),
    32: (24, -126, 127),
    64: (53, -1022, 1023),
    ScalarType.BF16: (8, -126, 127),
    ScalarType.TF32: (11, -126, 127),
}
"""Precision in bits, smallest and largest exponent: IEEE 754 formats by width, others by type."""

AMOUNTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1 << 31, (1 << 32) - 1]
FEW_AMOUNTS = [0, 1, 5, 31, 32, 33, 63, 64, 255, 257, 0x7531, 0xFEDC]
_CODED = (
    *(ScalarType.E4M3, ScalarType.E5M2, ScalarType.E2M3, ScalarType.E3M2, ScalarType.UE8M0),
    ScalarType.E2M1,
)
_NAN_BITS = {ScalarType.BF16: 0x7FFF, ScalarType.TF32: 0x7FFFFFFF}


def float_format(type_: ScalarType) -> int | ScalarType:
    """The key of a floating-point type in `FORMATS`."""
    return type_ if type_.kind is Kind.ALTERNATE else type_.bits


def _floats(of: int | ScalarType, few: bool) -> list[float]:
    precision, low, high = FORMATS[of]
    tiny, step = 2.0**low, 2.0 ** (low - precision + 1)
    most, next_to_one = (2 - 2.0 ** (1 - precision)) * 2.0**high, 1 + 2.0 ** (1 - precision)
    third = rounded(Fraction(1, 3), of, "rn")
    common = [0.0, -0.0, 1.0, -1.5, step, -tiny, most, -math.inf, math.nan]
    common += [next_to_one, -third, 3.0]
    if few:
        return common
    more = [-1.0, -step, tiny - step, step - tiny, tiny, -most, math.inf, -2.5, 0.5, -0.5, 1.5]
    more += [third, -next_to_one, 100.75, 254.5, -128.5, 2.0**15, -(2.0**15), 2047.0]
    large = [2.0**31, 2.0**32, -(2.0**31), 2.0**63, 2.0**64, -(2.0**63), 1.5 * 2.0**49]
    found = common + more + (large if high > 15 else [])
    return [rounded(Fraction(x), of, "rn") if math.isfinite(x) and x else x for x in found]


def _integers(type_: ScalarType, few: bool) -> list[int]:
    top = 1 << (type_.bits - 1)
    values = {0, 1, 3, top - 1, top, 2 * top - 1, 0x5A3C96E1D2784BF0 % (2 * top)}
    if not few:
        values |= {2, 5, 7, 100, top - 2, top + 1, 2 * top - 2, 2 * top - 100, 0x123456789ABCDEF}
        values |= {0xFFFFFF, 0x800000, 0xFFFFFFFF, 0x80000000, 1 << 24, (1 << 53) + 1}
    return sorted({wrapped(value, type_) for value in values})


def wrapped(value: int, type_: ScalarType) -> int:
    """The integer modulo 2**bits, as the type reads it: signed types have a sign."""
    value %= 1 << type_.bits
    return value - (1 << type_.bits) if type_.is_signed and value >> (type_.bits - 1) else value


def grid(letter: str, type_: ScalarType, few: bool) -> list[Any]:
    """Values of an operand; `letter` is that of its signature, `few` leaves most of them out."""
    if type_.kind is Kind.PREDICATE:
        return [False, True]
    if type_.is_packed:
        each = grid(letter, type_.element, few=True)
        return [(x, each[(5 * i + 2) % len(each)]) for i, x in enumerate(each)]
    if type_ is ScalarType.E2M1:
        return list(range(1 << type_.bits))
    if type_ in _CODED:
        return [0, 0x80, 1, 0x3C, 0x87, 0x7A, 0xFB, 0x7C, 0x7E, 0xFF, 0x44]
    if type_.holds_floats:
        return _floats(float_format(type_), few)
    if letter == "u":
        return FEW_AMOUNTS if few else AMOUNTS
    return _integers(type_, few)


def rounded(exact: Fraction, of: int | ScalarType, mode: str) -> float:
    """A nonzero number rounded to a format, by its definition; `rna` breaks ties outwards."""
    precision, low, high = FORMATS[of]
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, low) - precision + 1)
    steps, rest = divmod(magnitude, quantum)
    away = (mode == "rp" and exact > 0) or (mode == "rm" and exact < 0)
    if mode in ("rn", "rna"):
        is_tie = rest * 2 == quantum
        away = rest * 2 > quantum or (is_tie and (mode == "rna" or steps % 2 == 1))
    elif away:
        away = rest > 0
    value = (steps + away) * quantum
    if value >= Fraction(2) ** (high + 1):
        outward = mode in ("rn", "rna", "rp" if exact > 0 else "rm")
        most = (2 - 2.0 ** (1 - precision)) * 2.0**high
        return math.copysign(math.inf if outward else most, 1 if exact > 0 else -1)
    return math.copysign(float(value), 1 if exact > 0 else -1)


def encoded(values: Sequence[Any], type_: ScalarType) -> Any:
    """Python values that the type holds exactly, as the array that an opcode takes or gives."""
    if type_.is_packed:
        parts = (encoded([value[i] for value in values], type_.element) for i in range(2))
        return joined(list(parts), type_)
    if type_.kind is not Kind.ALTERNATE or type_ in _CODED:
        return np.array(values, type_.dtype)
    numbers = np.array(values, np.float32)
    bits = numbers.view(np.uint32) >> np.uint32(32 - type_.bits)
    return np.where(np.isnan(numbers), _NAN_BITS[type_], bits).astype(type_.dtype)


def comparable_bits(array: Any, type_: ScalarType | None = None) -> Any:
    """Comparable bits: the one NaN for all NaNs, and the two zeros apart.

    With a packed type, those of the low elements and then those of the high ones.
    """
    array = np.asarray(array)
    if type_ is not None and type_.is_packed:
        parts = elements(array, type_)
        return np.stack([comparable_bits(part, type_.element) for part in parts])
    if type_ is not None and type_.kind is Kind.ALTERNATE:
        return array.view(np.dtype(f"i{array.dtype.itemsize}")).astype(object)
    if array.dtype.kind != "f":
        return array
    array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.view(np.dtype(f"i{array.dtype.itemsize}")).astype(object)
