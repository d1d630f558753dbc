"""Scales of blocks of elements: one for so many neighbours along the depth, of A and of B.

PTX ISA 9.0, "Block Scaling for mma.sync": which lane and which byte of its register hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "SCALE_SOURCES",
    "BlockScales",
    "ScaleFormat",
    "block_scales_of",
    "scale_powers",
    "scale_values",
]

Array = npt.NDArray[Any]
SCALE_SOURCES = (ScalarType.B32, ScalarType.U16, ScalarType.U16) * 2
"""Scale operands of A, then of B: register, number of its first byte, which lanes of each four."""
_LANES_OF_LINE, _PAIR = 4, 2
_NOTHING = 2.0**-600


class ScaleFormat(Enum):
    """Formats of unsigned scales: a power of two, and 4 bits of exponent with 3 of fraction."""

    UE8M0 = "ue8m0"
    UE4M3 = "ue4m3"


@dataclass(frozen=True, slots=True)
class BlockScales:
    """`blocks`: how many scales a row of A and a column of B have."""

    format: ScaleFormat
    blocks: int


def scale_values(format_: ScaleFormat) -> Array:
    """The value of each code, float64 of shape (256,)."""
    codes = np.arange(256)
    if format_ is ScaleFormat.UE8M0:
        return np.where(codes == 255, np.nan, np.ldexp(1.0, np.minimum(codes, 254) - 127))
    codes = codes & 0x7F
    field, fraction = codes >> 3, codes & 7
    values = np.ldexp(fraction + np.where(field > 0, 8.0, 0.0), np.maximum(field, 1) - 10)
    return np.where(codes == 0x7F, np.nan, values)


@cache
def scale_powers(format_: ScaleFormat) -> Array:
    """The power of two in each value; an infinity for what is no number."""
    values = scale_values(format_)
    is_number = np.isfinite(values) & (values > 0)
    _, exponent = np.frexp(np.where(is_number, values, 1.0))
    powers = np.where(is_number, np.ldexp(1.0, exponent - 1), _NOTHING)
    return np.where(np.isnan(values), np.inf, powers)


def block_scales_of(
    scales: BlockScales, operands: tuple[Array, ...], rows: int, columns: int
) -> tuple[Array, Array]:
    """The codes of the scales, of shape (groups, rows, blocks) and (groups, blocks, columns).

    `operands` are those of `SCALE_SOURCES`, each of shape (groups, 32).
    """
    a, a_byte, a_pair, b, b_byte, b_lane = operands
    row, column, block = np.arange(rows), np.arange(columns), np.arange(scales.blocks)
    lane_a = _LANES_OF_LINE * (row % 8) + row // 8 + _PAIR * (_first(a_pair) & 1)
    lane_b = _LANES_OF_LINE * column + (_first(b_lane) & 3)
    code_a = np.take_along_axis(a, lane_a, axis=1)[:, :, None] >> _shift(a_byte, block)
    code_b = np.take_along_axis(b, lane_b, axis=1)[:, :, None] >> _shift(b_byte, block)
    return code_a & 0xFF, (code_b & 0xFF).transpose(0, 2, 1)


def _first(operand: Array) -> Array:
    """What all lanes agree on, shape (groups, 1)."""
    return operand[:, :1].astype(np.int64)


def _shift(first_byte: Array, block: Array) -> Array:
    byte = (_first(first_byte)[:, :, None] + block) & 3
    return (8 * byte).astype(np.uint32)
