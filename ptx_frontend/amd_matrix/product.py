"""Instructions that compute a product of matrices whose elements lie in all lanes.

The products are added one after another, each sum rounded once; the manuals leave the order open.
Numbers of 19 bits (`xf32`) are rounded to the nearest before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kernelcast.ptx_frontend.amd_matrix.shape import LANES, MatrixShape
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["MATRIX_NAMES", "Broadcast", "MatrixForm", "MatrixWriter", "form_of", "product"]

_NAME = re.compile(
    r"(?P<sum>f32|f64|i32)_(?P<m>\d+)x(?P=m)x(?P<k>\d+)(?:_\d+b)?_?(?P<type>[a-z]+\d+)(?:_1k)?"
)
_BITS = {"f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i8": 8, "f64": 64}
_SUM_OF = {"f64": "fma.rn.f64", "i32": "mad.lo.u32", "f32": "fma.rn.f32"}
_LANES_OF_B = {1: (31, 0), 2: (31, 32), 4: (15, 0), 5: (15, 16), 6: (15, 32), 7: (15, 48)}
"""Bits of a lane's number that choose the one that is read, and what is added, by `blgp`."""


def _names() -> Iterator[str]:
    """All names as the generations have them, without `v_mfma_`."""
    several = (("32x32", 2), ("16x16", 4), ("4x4", 16))
    for type_, shapes, many in (
        ("f32", ("32x32x2", "16x16x4"), 1),
        ("f16", ("32x32x8", "16x16x16"), 4),
        ("bf16", ("32x32x4", "16x16x8"), 2),
        ("bf16_1k", ("32x32x8", "16x16x16"), 4),
        ("i8", ("32x32x8", "16x16x16"), 4),
    ):
        plain, sum_ = type_.removesuffix("_1k"), "i32" if type_ == "i8" else "f32"
        yield from (f"{sum_}_{shape}{type_}" for shape in shapes)
        yield from (f"{sum_}_{shape}_{plain}" for shape in shapes)
        yield from (f"{sum_}_{side}x{many}{type_}" for side, _ in several)
        yield from (f"{sum_}_{side}x{many}_{blocks}b_{plain}" for side, blocks in several)
    yield from ("f64_16x16x4f64", "f64_16x16x4_f64", "f64_4x4x4f64", "f64_4x4x4_4b_f64")
    yield from ("f32_16x16x8_xf32", "f32_32x32x4_xf32", "i32_32x32x16_i8", "i32_16x16x32_i8")
    yield from ("f32_16x16x32_f16", "f32_32x32x16_f16", "f32_16x16x32_bf16", "f32_32x32x16_bf16")
    yield from ("i32_16x16x64_i8", "i32_32x32x32_i8")


MATRIX_NAMES = tuple(dict.fromkeys(_names()))
"""CDNA 1 and 2 say `f32_32x32x1f32`, CDNA 3 and 4 `f32_32x32x1_2b_f32`."""


class MatrixWriter(Protocol):
    """What writes the instructions of a product."""

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Operand:
        """What an instruction gives, in a new register of so many bits."""

    def from_lane(self, word: Operand, lane: Operand) -> Operand:
        """A register of 32 bits of another lane."""

    def lane(self) -> Register:
        """The number of the lane."""

    def refused(self, why: str) -> Exception:
        """The exception for what is not executed."""


@dataclass(frozen=True, slots=True)
class Broadcast:
    """What other blocks or lanes read: `cbsz`, `abid` and `blgp` of the MI200 ISA, 7.1.2."""

    size: int = 0
    """Logarithm of how many blocks read the A of one."""
    of_a: int = 0
    """The one among them."""
    of_b: int = 0
    """The pattern of lanes that B is read from."""


@dataclass(frozen=True, slots=True)
class MatrixForm:
    """A shape, the type of the elements of A and B, and that of the sums: f32, f64 or i32."""

    shape: MatrixShape
    type: str
    sum: str


def form_of(name: str, registers: int) -> MatrixForm:
    """The form of `f32_32x32x8f16` and the like; `registers` of 32 bits hold A in a lane."""
    match = _NAME.fullmatch(name)
    assert match is not None
    type_ = match["type"]
    group = 1 if type_ == "f64" else 4
    per_lane = 32 * registers // _BITS[type_]
    return MatrixForm(
        MatrixShape(int(match["m"]), int(match["k"]), per_lane, group), type_, match["sum"]
    )


def product(
    writer: MatrixWriter,
    form: MatrixForm,
    matrices: tuple[Sequence[Operand], Sequence[Operand]],
    sums: Sequence[Operand],
    broadcast: Broadcast,
) -> list[Operand]:
    """Writes C + A B: the lane's results.

    `matrices` are the words of 32 bits of A and B, `sums` numbers of the width of the results.
    """
    shape = form.shape
    if broadcast.of_b and broadcast.of_b not in _LANES_OF_B:
        raise writer.refused("lanes of B that go round (blgp 3)")
    places = _Places(writer, shape, broadcast)
    rows, columns = (_Matrix(writer, form.type, words) for words in matrices)
    found = list(sums)
    width = 64 if form.sum == "f64" else 32
    for k in range(shape.k):
        for number in range(shape.results):
            row = rows.element(k % shape.per_lane, places.of_a(k, number))
            column = columns.element(k % shape.per_lane, places.of_b(k, shape.block(number)))
            terms = row, column, found[number]
            found[number] = writer.compute(_SUM_OF[form.sum], width, *terms)
    return found


class _Matrix:
    """The elements of A or B, each read of its lane and widened once."""

    def __init__(self, writer: MatrixWriter, type_: str, words: Sequence[Operand]) -> None:
        self._writer, self._type, self._own = writer, type_, words
        self._words: dict[tuple[int, Operand], Operand] = {}
        self._elements: dict[tuple[int, Operand], Operand] = {}

    def element(self, number: int, lane: Operand) -> Operand:
        """Element `number` of those that a lane holds, in the type of the sums."""
        if (number, lane) not in self._elements:
            self._elements[number, lane] = self._widened(number, lane)
        return self._elements[number, lane]

    def _widened(self, number: int, lane: Operand) -> Operand:
        if self._type == "f64":
            low, high = (self._word(2 * number + i, lane) for i in range(2))
            return _joined(self._writer, low, high)
        place, part = divmod(number * _BITS[self._type], 32)
        return _WIDENED[self._type](self._writer, self._word(place, lane), part)

    def _word(self, place: int, lane: Operand) -> Operand:
        if (place, lane) not in self._words:
            self._words[place, lane] = self._writer.from_lane(self._own[place], lane)
        return self._words[place, lane]


class _Places:
    """The lanes that the own lane's results need elements of."""

    def __init__(self, writer: MatrixWriter, shape: MatrixShape, broadcast: Broadcast) -> None:
        self._writer, self._shape, self._broadcast = writer, shape, broadcast
        self._known: dict[tuple[str, int], Operand] = {}
        lane = writer.lane()
        self._column = writer.compute("and.b32", 32, lane, Immediate(shape.m - 1))
        above = writer.compute("shr.u32", 32, lane, Immediate(shape.m.bit_length() - 1))
        if shape.is_small:
            block = writer.compute("and.b32", 32, above, Immediate(shape.blocks - 1))
            rows = (shape.m * shape.blocks).bit_length() - 1
            self._first = writer.compute("shr.u32", 32, lane, Immediate(rows))
            self._block_of_b = writer.compute("shl.b32", 32, block, Immediate(2))
            self._block_of_a = writer.compute("shl.b32", 32, self._chosen(block), Immediate(2))
        else:
            self._first = writer.compute("mul.lo.u32", 32, above, Immediate(shape.group))
            self._block_of_a = self._block_of_b = Immediate(0)

    def _chosen(self, block: Operand) -> Operand:
        """The block whose A is read in place of one, which depends on the lane."""
        if not self._broadcast.size:
            return block
        kept = Immediate(0xFFFFFFFF << self._broadcast.size & 0xFFFFFFFF)
        first = self._writer.compute("and.b32", 32, block, kept)
        return self._writer.compute("add.u32", 32, first, Immediate(self._broadcast.of_a))

    def of_a(self, k: int, number: int) -> Operand:
        """Where element (row of the result, k) of A is."""
        size = self._broadcast.size
        block = self._shape.block(number)
        if not self._shape.is_small and size:
            block = (block >> size << size) + self._broadcast.of_a
        add = self._shape.lane(k, block) + self._shape.row(number)
        return self._once("a", add, self._first, self._block_of_a)

    def of_b(self, k: int, block: int) -> Operand:
        """Where element (k, column of the result) of B is."""
        place = self._shape.lane(k, block)
        return self._once("b", place, self._column, self._block_of_b)

    def _once(self, matrix: str, add: int, first: Operand, block: Operand) -> Operand:
        """The lane that is so far from the first one, by the pattern of B's lanes."""
        assert add < LANES
        if (matrix, add) not in self._known:
            lane = first
            if not isinstance(block, Immediate):
                lane = self._writer.compute("add.u32", 32, lane, block)
            lane = self._writer.compute("add.u32", 32, lane, Immediate(add))
            if matrix == "b" and self._broadcast.of_b:
                bits, above = _LANES_OF_B[self._broadcast.of_b]
                lane = self._writer.compute("and.b32", 32, lane, Immediate(bits))
                lane = self._writer.compute("or.b32", 32, lane, Immediate(above))
            self._known[matrix, add] = lane
        return self._known[matrix, add]


def _joined(writer: MatrixWriter, low: Operand, high: Operand) -> Operand:
    upper = writer.compute("cvt.u64.u32", 64, high)
    upper = writer.compute("shl.b64", 64, upper, Immediate(32))
    return writer.compute("or.b64", 64, upper, writer.compute("cvt.u64.u32", 64, low))


def _of_half(writer: MatrixWriter, word: Operand, part: int) -> Operand:
    moved = writer.compute("shr.u32", 32, word, Immediate(part))
    return writer.compute("cvt.f32.f16", 32, writer.compute("cvt.u16.u32", 16, moved))


def _of_bf16(writer: MatrixWriter, word: Operand, part: int) -> Operand:
    if part:
        return writer.compute("and.b32", 32, word, Immediate(0xFFFF0000))
    return writer.compute("shl.b32", 32, word, Immediate(16))


def _of_byte(writer: MatrixWriter, word: Operand, part: int) -> Operand:
    return writer.compute("bfe.s32", 32, word, Immediate(part), Immediate(8))


def _whole(writer: MatrixWriter, word: Operand, part: int) -> Operand:
    del writer, part
    return word


def _rounded(writer: MatrixWriter, word: Operand, part: int) -> Operand:
    del part
    return writer.compute("cvt.rn.tf32.f32", 32, word)


_WIDENED = {
    "f32": _whole,
    "xf32": _rounded,
    "f16": _of_half,
    "bf16": _of_bf16,
    "i8": _of_byte,
}
