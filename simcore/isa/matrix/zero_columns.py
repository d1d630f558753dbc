"""Columns of B that count as zero in `tcgen05.mma.ws`: the descriptor of a mask.

PTX ISA 9.1, "Zero-Column Mask Descriptor". Its table and its examples differ in which span is
which: here, as in the examples, "use" is how many columns of B are used, "skip" how many are zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.tensor_memory import TENSOR_LANES, TensorMemoryFault

__all__ = ["ZeroColumns", "zero_columns"]

Array = npt.NDArray[Any]
_FIRST_SPANS_AT, _NON_ZERO_AT, _SKIP_AT, _USE_AT, _SHIFT_AT = 32, 39, 40, 48, 56
_BYTE, _SHIFT_FIELD = 0xFF, 0x3F
_FEW_ROWS = 32
_MOST_SHIFTS = (16, 32)
"""The largest shifts of a mask: of products of 32 rows, and of more."""


@dataclass(frozen=True)
class ZeroColumns:
    """`mask`: bool by column, True for zero; B begins at its column number `shift`."""

    mask: Array
    shift: int


def zero_columns(descriptor: int, rows: int, columns: int) -> ZeroColumns:
    """Which columns of B count as zero; each of 128 / rows parts has a pattern of its own.

    Raises TensorMemoryFault for a shift that hardware does not know.
    """
    shift = descriptor >> _SHIFT_AT & _SHIFT_FIELD
    if shift > _MOST_SHIFTS[rows > _FEW_ROWS]:
        raise TensorMemoryFault(f"the columns of B cannot be shifted by {shift}")
    mask = np.zeros(columns, np.bool_)
    if not descriptor >> _NON_ZERO_AT & 1:
        return ZeroColumns(mask, shift)
    skipped = (descriptor >> _SKIP_AT & _BYTE) + 1
    used = (descriptor >> _USE_AT & _BYTE) + 1
    parts = TENSOR_LANES // rows
    for part in range(parts):
        place = np.arange(columns // parts) + (descriptor >> 8 * part & _BYTE)
        within = place % (skipped + used)
        begins_with_zeros = descriptor >> _FIRST_SPANS_AT + part & 1
        is_zero = within < skipped if begins_with_zeros else within >= used
        mask[part * len(place) : (part + 1) * len(place)] = is_zero
    return ZeroColumns(mask, shift)
