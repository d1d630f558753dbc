"""Packed types, element by element, and the formats that NumPy lacks, by way of float32.

A bf16 is the upper half of a float32: results are computed there and rounded once more. Sums,
products and quotients survive the second rounding (float32 has more than twice the digits); a fused
multiply-add rounds to odd first (Boldo and Melquiond 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.opcodes.table import Context, Meaning
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "BF16_NAN",
    "TO_ODD",
    "element_by_element",
    "elements",
    "in_single_precision",
    "joined",
    "of_elements",
    "shortened",
    "single",
    "to_bf16",
]

Array = npt.NDArray[Any]

TO_ODD = "odd"
"""A rounding of our own: an inexact result takes the neighbour whose last bit is 1."""
BF16_NAN = 0x7FFF
_BF16_DROPPED = 16
_SMALLEST_STORED = 8
"""Bits of the narrowest array elements."""


def elements(value: Array, type_: ScalarType) -> tuple[Array, Array]:
    """The two elements of a packed value, the low one first; a predicate goes to both."""
    if value.dtype == np.bool_:
        return value, value
    element = type_.element
    low = value.astype(element.storage)
    high = (value >> type_.dtype.type(element.bits)).astype(element.storage)
    if element.bits < _SMALLEST_STORED:
        low = low & element.storage.type((1 << element.bits) - 1)
    return low.view(element.dtype), high.view(element.dtype)


def joined(parts: Sequence[Array], type_: ScalarType) -> Array:
    """The inverse of `elements`."""
    element = type_.element
    low, high = (np.asarray(x).view(element.storage).astype(type_.dtype) for x in parts)
    packed: Array = low | (high << type_.dtype.type(element.bits))
    return packed


def of_elements(context: Context) -> Context:
    """The context for one element of packed types: element types, same modifiers."""
    return Context(context.type.element, context.source_type.element, context.modifiers)


def element_by_element(compute: Meaning) -> Meaning:
    """Makes a meaning whose operands all have the instruction's type take packed types too."""

    @wraps(compute)
    def each(context: Context, *operands: Array) -> Any:
        if not context.type.is_packed:
            return compute(context, *operands)
        pairs = [elements(operand, context.type) for operand in operands]
        inner = of_elements(context)
        return joined([compute(inner, *part) for part in zip(*pairs, strict=True)], context.type)

    return each


def single(value: Array) -> Array:
    """bf16 as float32."""
    return (value.astype(np.uint32) << np.uint32(_BF16_DROPPED)).view(np.float32)


def shortened(value: Array, dropped: int, mode: str) -> Array:
    """The bits of a float32, rounded so that the lowest `dropped` ones are 0; not for NaN.

    `mode` is `rna` (halves go away from zero), `rz`, `rm`, `rp` or else to nearest even.
    """
    bits = np.asarray(value).view(np.uint32)
    ones = np.uint32((1 << dropped) - 1)
    is_negative = bits >> np.uint32(31)
    increment: Any
    match mode:
        case "rz":
            increment = np.uint32(0)
        case "rna":
            increment = np.uint32(1 << (dropped - 1))
        case "rm":
            increment = ones * is_negative
        case "rp":
            increment = ones * (np.uint32(1) - is_negative)
        case _:
            increment = (ones >> np.uint32(1)) + ((bits >> np.uint32(dropped)) & np.uint32(1))
    rounded: Array = (bits + increment) & np.invert(ones)
    return rounded


def to_bf16(value: Array, mode: str = "") -> Array:
    """A float32 rounded to bf16; NaN becomes the canonical one."""
    bits = (shortened(value, _BF16_DROPPED, mode) >> np.uint32(_BF16_DROPPED)).astype(np.uint16)
    return np.where(np.isnan(value), np.uint16(BF16_NAN), bits)


def in_single_precision(compute: Meaning) -> Meaning:
    """Makes a meaning of f32 take bf16 too: results are rounded, predicates are not."""

    @wraps(compute)
    def wide(context: Context, *operands: Array) -> Any:
        if context.type is not ScalarType.BF16:
            return compute(context, *operands)
        modifiers = context.modifiers | {TO_ODD}
        inner = Context(ScalarType.F32, ScalarType.F32, modifiers)
        result = compute(inner, *(x if x.dtype == np.bool_ else single(x) for x in operands))
        return result if isinstance(result, tuple) else to_bf16(result)

    return wide
