"""Which element of a matrix each lane of a warp holds, and where in its registers.

A layout is an array of places: element `[i, lane]` is the number, in the row-major matrix, of the
lane's i-th element, counted through its registers from the lowest bits on. Layouts are those that
the PTX manual draws for `mma` (PTX ISA 9.0, 9.7.14.5). It leaves open those of `wmma`: there lanes
hold neighbouring elements of memory (`contiguous`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.formats import ElementFormat

__all__ = [
    "Fragment",
    "Order",
    "Role",
    "accumulator",
    "contiguous",
    "multiplicand",
    "quad_pairs",
    "wide_accumulator",
]

Array = npt.NDArray[Any]
LANES = 32
_LANE = np.arange(LANES)
_GROUP, _IN_GROUP = _LANE >> 2, _LANE & 3
"""A lane's group of four, and its number there: `groupID`, `threadID_in_group` in the manual."""


class Role(Enum):
    """The operand that a fragment holds: A, B, or the accumulator (C or D)."""

    A = "a"
    B = "b"
    ACCUMULATOR = "c"


class Order(Enum):
    """The storage order of a matrix: which index runs fastest in memory."""

    ROW = "row"
    COLUMN = "col"


@dataclass(frozen=True, eq=False)
class Fragment:
    """A matrix (`batches` of them, one after the other) spread over the registers of a warp.

    `copies`: how often the registers hold each element; `is_scattered`: lines of the matrix come
    from many registers.
    """

    format: ElementFormat
    rows: int
    columns: int
    places: Array
    batches: int = 1
    copies: int = 1
    is_scattered: bool = False

    @property
    def registers(self) -> int:
        """Registers of each lane, copies included."""
        return self.distinct_registers * self.copies

    @property
    def distinct_registers(self) -> int:
        """Registers a lane, copies not counted twice."""
        return len(self.places) // self.format.elements_per_word

    @property
    def elements(self) -> int:
        """The number of elements of all matrices."""
        return self.batches * self.rows * self.columns

    def bit_offsets(self) -> Array:
        """The bit position of each element of the matrix among the registers.

        Each register is one row of words of all lanes.
        """
        bits, per_word = self.format.bits, self.format.elements_per_word
        index = np.arange(len(self.places))[:, None]
        word = (index // per_word) * LANES + _LANE[None, :]
        offsets = np.zeros(self.elements, np.int64)
        offsets[self.places] = word * self.format.register_bits + index % per_word * bits
        return offsets

    def codes(self, registers: Array) -> Array:
        """Registers (groups, registers, LANES) to codes (groups, batches, rows, columns)."""
        bits = self.format.bits
        per_word = self.format.elements_per_word
        words = np.repeat(registers[:, : self.distinct_registers], per_word, axis=1)
        shifts = np.tile(
            np.arange(per_word, dtype=np.uint64) * np.uint64(bits), self.distinct_registers
        )
        mask = np.uint64((1 << bits) - 1)
        held = (words.astype(np.uint64) >> shifts[None, :, None]) & mask
        codes = np.zeros((len(registers), self.elements), self.format.code_type)
        codes[:, self.places] = held
        return codes.reshape(len(registers), self.batches, self.rows, self.columns)

    def registers_of(self, codes: Array) -> Array:
        """The inverse of `codes`: registers of shape (groups, registers, LANES)."""
        flat = codes.reshape(len(codes), -1).astype(np.uint64)[:, self.places]
        per_word = self.format.elements_per_word
        parts = flat.reshape(len(codes), -1, per_word, LANES)
        shifts = np.arange(per_word, dtype=np.uint64) * np.uint64(self.format.bits)
        words = (parts << shifts[None, None, :, None]).sum(axis=2, dtype=np.uint64)
        return np.tile(words, (1, self.copies, 1))


@cache
def multiplicand(role: Role, format_: ElementFormat, rows: int, columns: int) -> Fragment:
    """A fragment of A (rows x depth) or B (depth x columns) of `mma`.

    Four lanes hold neighbouring words of a line, eight groups eight lines; registers go through
    the lines 8 to 15 first, then through the next four words.
    """
    lines, depth = (rows, columns) if role is Role.A else (columns, rows)
    per_word = format_.elements_per_word
    halves = lines // 8
    count = lines * depth // LANES
    index = np.arange(count)[:, None]
    register, within = index // per_word, index % per_word
    line = _GROUP + 8 * (register % halves)
    along = (_IN_GROUP + 4 * (register // halves)) * per_word + within
    places = line * columns + along if role is Role.A else along * columns + line
    return Fragment(format_, rows, columns, places)


@cache
def accumulator(format_: ElementFormat, rows: int, columns: int) -> Fragment:
    """A fragment of C or D of `mma`, of eight columns.

    A lane holds two neighbours of a row, then two of the row eight further down.
    """
    index = np.arange(rows * columns // LANES)[:, None]
    places = (_GROUP + 8 * (index >> 1)) * columns + 2 * _IN_GROUP + (index & 1)
    return Fragment(format_, rows, columns, places)


@cache
def wide_accumulator(format_: ElementFormat, rows: int, columns: int) -> Fragment:
    """A warp's 16 rows of the accumulator of `wgmma`: those of `mma`, eight columns after eight."""
    index = np.arange(rows * columns // LANES)[:, None]
    row = _GROUP + 8 * (index >> 1 & 1)
    places = row * columns + 8 * (index >> 2) + 2 * _IN_GROUP + (index & 1)
    return Fragment(format_, rows, columns, places)


@cache
def quad_pairs(role: Role, format_: ElementFormat, order: Order) -> Fragment:
    """Fragments of `mma.m8n8k4` on f16: four products at once, each by two groups of four lanes."""
    index = np.arange(4 if role is not Role.ACCUMULATOR else 8)[:, None]
    batch, upper = _GROUP & 3, 4 * (_LANE >= 16)
    if role is Role.ACCUMULATOR:
        if format_ is ElementFormat.F16:
            row, column = _IN_GROUP + upper + 0 * index, index + 0 * _LANE
        else:
            row = (_LANE & 1) + (index & 2) + upper
            column = (index & 4) + (_LANE & 2) + (index & 1)
        return Fragment(format_, 8, 8, batch * 64 + row * 8 + column, 4)
    lane, own = _IN_GROUP + 0 * index, index + 0 * _LANE
    if role is Role.A:
        row, column = (lane + upper, own) if order is Order.ROW else (own + upper, lane)
        return Fragment(format_, 8, 4, batch * 32 + row * 4 + column, 4)
    row, column = (lane, own + upper) if order is Order.ROW else (own, lane + upper)
    return Fragment(format_, 4, 8, batch * 32 + row * 8 + column, 4)


@cache
def contiguous(
    format_: ElementFormat, rows: int, columns: int, order: Order, registers: int
) -> Fragment:
    """A fragment of `wmma`: lane after lane takes the next words of memory.

    Registers beyond these hold copies.
    """
    per_word = format_.elements_per_word
    count = rows * columns // LANES
    position = _LANE[None, :] * count + np.arange(count)[:, None]
    lines = position if order is Order.ROW else position % rows * columns + position // rows
    return Fragment(format_, rows, columns, lines, 1, registers * per_word // count)
