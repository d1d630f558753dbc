"""Meanings of scalar types made to take packed types, element by element, and bf16 by float32.

A bf16 is the upper half of a float32: results are computed there and rounded once more. Sums,
products and quotients survive the second rounding (float32 has more than twice the digits); a fused
multiply-add rounds to odd first (Boldo and Melquiond 2008).
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.packed import TO_ODD, elements, joined, single, to_bf16
from kernelcast.simcore.isa.opcodes.table import Context, Meaning
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["element_by_element", "in_single_precision", "of_elements"]

Array = npt.NDArray[Any]


def of_elements(context: Context) -> Context:
    """The context of one element of packed types."""
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
