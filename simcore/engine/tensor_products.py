"""`tcgen05.mma` in the reference engine: from shared and tensor memory to the latter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.batch import Batch
from kernelcast.simcore.isa.matrix.block_scales import ScaleFormat, scale_powers, scale_values
from kernelcast.simcore.isa.matrix.descriptors import (
    CORE_ROWS,
    PIECE_BYTES,
    DescriptorKind,
    piece_addresses,
)
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.instruction_descriptors import (
    DescribedProduct,
    described_product,
)
from kernelcast.simcore.isa.matrix.products import Factors, multiply
from kernelcast.simcore.isa.matrix.tensor_memory import TENSOR_LANES, ProductKind, TensorProduct

__all__ = ["ProductSide", "SharedPieces", "multiply_in_tensor_memory"]

Array = npt.NDArray[Any]
_DEPTH_BYTES = 32
_LANE_AT, _COLUMN_MASK, _LANE_MASK = 16, 0xFFFF, 0x3FFF
_WORD = 32
_SCALE_LANES = 32
_MASKS = 4
_FOLDED_ROWS = 64
_PADDED = {ElementFormat.E2M1: 4, ElementFormat.E2M3: 6, ElementFormat.E3M2: 6}
"""Bits of formats that lie 16 to each 16 bytes of shared memory, with nothing behind them."""


class SharedPieces:
    """What descriptors name in the shared memory of a thread block."""

    def __init__(self, batch: Batch, owner: int) -> None:
        self._batch, self._owner = batch, owner

    def rows(self, descriptor: int, lines: int, pieces: int) -> Array:
        """Bytes of shape (lines, 16 pieces), the depth along the rows."""
        line, piece = np.meshgrid(np.arange(lines), np.arange(pieces), indexing="ij")
        found = self._read(descriptor, line // CORE_ROWS, piece, line % CORE_ROWS, False)
        return found.reshape(lines, pieces * PIECE_BYTES)

    def transposed(self, descriptor: int, lines: int, depth: int, size: int) -> Array:
        """Bytes of shape (lines, depth, size) from rows along M or N."""
        per_piece = PIECE_BYTES // size
        piece, along = np.meshgrid(np.arange(lines // per_piece), np.arange(depth), indexing="ij")
        found = self._read(descriptor, piece, along // CORE_ROWS, along % CORE_ROWS, True)
        elements = found.reshape(lines // per_piece, depth, per_piece, size)
        return elements.transpose(0, 2, 1, 3).reshape(lines, depth, size)

    def _read(
        self, descriptor: int, outer: Array, deep: Array, row: Array, transposed: bool
    ) -> Array:
        word = np.array(descriptor, np.uint64)
        kind = DescriptorKind.TENSOR_MEMORY
        address = piece_addresses(kind, word, outer, deep, row, transposed)
        shared = self._batch.shared
        shared.elements(address, self._owner, PIECE_BYTES, 1)
        places = self._owner * shared.stride + address
        found: Array = shared.bytes[places[..., None] + np.arange(PIECE_BYTES)]
        return found


@dataclass(frozen=True)
class ProductSide:
    """What a thread block has of a product: `words` of tensor memory, what descriptors name in
    shared memory; `check` looks whether columns are allocated."""

    words: Array
    shared: SharedPieces
    check: Callable[[int, int], None]


def multiply_in_tensor_memory(
    operation: TensorProduct, values: list[int], sides: Sequence[ProductSide]
) -> None:
    """One side, or both of a pair. ValueError says what does not fit."""
    described = described_product(operation, values[3])
    whole = described.product
    lines = whole.columns // len(sides)
    b = np.concatenate(
        [
            _from_shared(
                side.shared, values[2], whole.b, lines, whole.depth, described.b_transposed
            )
            for side in sides
        ]
    )
    product = replace(whole, rows=whole.rows // len(sides))
    described = replace(described, product=product)
    for number, side in enumerate(sides):
        masks = values[5 + _MASKS * number : 5 + _MASKS * (number + 1)]
        _multiply_side(operation, described, values, side, b, masks)


def _multiply_side(
    operation: TensorProduct,
    described: DescribedProduct,
    values: list[int],
    side: ProductSide,
    b: Array,
    masks: list[int],
) -> None:
    product, words = described.product, side.words
    a = _left(operation, described, values[1], side)
    factors = None
    if operation.kind.is_scaled:
        factors = _scales(operation, described, values[5:7], side)
    if described.negates:
        factors = _negated(factors, a.shape, b.shape)
    is_folded = operation.is_pair and product.rows <= _FOLDED_ROWS
    lane, column = _places(product.rows, product.columns, values[0], is_folded=is_folded)
    side.check(int(column.min()), int(column.max()) + 1)
    before = words[lane, column] if values[4] else np.zeros(lane.shape, np.uint32)
    c = _shifted(before, product.accumulator, operation.scale_shift)
    codes = multiply(product, a, b.T, c, factors).astype(np.uint32)
    if operation.has_masks:
        codes = np.where(_is_masked(lane, masks), words[lane, column], codes)
    words[lane, column] = codes


def _places(rows: int, columns: int, address: int, *, is_folded: bool) -> tuple[Array, Array]:
    """(lane, column) of D's elements. 128 rows take a lane each; 64 rows 16 lanes of each 32, or,
    `is_folded`, 64 lanes and for the second half of the columns the 64 behind them."""
    row, column = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    lane = row
    if is_folded:
        half = columns // 2
        lane, column = row + rows * (column // half), column % half
    elif rows <= _FOLDED_ROWS:
        lane = row // 16 * 32 + row % 16
    first = address >> _LANE_AT & _LANE_MASK
    if int(lane.max()) + first >= TENSOR_LANES:
        raise ValueError(f"lane {first}: {rows} rows do not fit below it")
    return lane + first, column + (address & _COLUMN_MASK)


def _left(
    operation: TensorProduct, described: DescribedProduct, value: int, side: ProductSide
) -> Array:
    product = described.product
    rows, depth, format_ = product.rows, product.depth, product.a
    if not operation.a_in_tensor_memory:
        return _from_shared(side.shared, value, format_, rows, depth, described.a_transposed)
    if operation.is_pair and rows <= _FOLDED_ROWS:
        raise ValueError("128 rows of a pair with A in tensor memory are not supported")
    bits = format_.bits
    column, count = value & _COLUMN_MASK, depth * bits // _WORD
    side.check(column, column + count)
    lane, columns = _places(rows, count, value, is_folded=False)
    return _codes(np.ascontiguousarray(side.words[lane, columns]).view(np.uint8), bits)


def _from_shared(
    shared: SharedPieces,
    descriptor: int,
    format_: ElementFormat,
    lines: int,
    depth: int,
    transposed: bool,
) -> Array:
    """Codes of shape (lines, depth)."""
    if transposed:
        if format_.bits < 8 or format_ in _PADDED:
            raise ValueError(f".{format_.ptx_name} lies along the depth only")
        found = shared.transposed(descriptor, lines, depth, format_.bits // 8)
        return np.ascontiguousarray(found).view(format_.code_type)[..., 0]
    if (bits := _PADDED.get(format_)) is not None:
        content = shared.rows(descriptor, lines, depth // PIECE_BYTES)
        packed = content.reshape(lines, -1, PIECE_BYTES)[..., : PIECE_BYTES * bits // 8]
        codes = _codes(np.ascontiguousarray(packed), bits).reshape(lines, depth)
        return codes << np.uint8(format_.shift)
    return _codes(shared.rows(descriptor, lines, _DEPTH_BYTES // PIECE_BYTES), format_.bits)


def _codes(content: Array, bits: int) -> Array:
    """Codes of so many bits from bytes, along the last axis."""
    if bits >= 8:
        return content.view(np.dtype(f"u{bits // 8}"))
    flat = np.unpackbits(content, axis=-1, bitorder="little")
    parts = flat.reshape(*content.shape[:-1], -1, bits)
    codes: Array = (parts << np.arange(bits, dtype=np.uint8)).sum(axis=-1, dtype=np.uint8)
    return codes


def _scales(
    operation: TensorProduct,
    described: DescribedProduct,
    addresses: list[int],
    side: ProductSide,
) -> Factors:
    """A row's scales are the bytes of one word: row r of A in lane r % 32 of column r / 32, columns
    of B alike."""
    product, blocks = described.product, operation.scale_blocks
    format_ = described.scale_format
    if (format_ is ScaleFormat.UE4M3) and operation.kind is not ProductKind.MXF4NVF4:
        raise ValueError(f"scales of {operation.kind.value} are ue8m0")
    found = []
    for address, lines, byte in (
        (addresses[0], product.rows, described.a_scale),
        (addresses[1], product.columns, described.b_scale),
    ):
        first = address & _COLUMN_MASK
        side.check(first, first + -(-lines // _SCALE_LANES))
        line = np.arange(lines)
        held = side.words[line % _SCALE_LANES, first + line // _SCALE_LANES]
        shift = 8 * ((byte + np.arange(blocks)) & 3)
        codes = held[:, None] >> shift.astype(np.uint32) & np.uint32(0xFF)
        found.append(np.repeat(codes, product.depth // blocks, axis=1))
    a, b = found[0], found[1].T
    scales, powers = scale_values(format_), scale_powers(format_)
    return Factors(scales[a], scales[b], powers[a], powers[b])


def _negated(factors: Factors | None, a: tuple[int, ...], b: tuple[int, ...]) -> Factors:
    if factors is not None:
        return Factors(-factors.a, factors.b, factors.a_powers, factors.b_powers)
    ones = np.ones(b[::-1])
    return Factors(-np.ones(a), ones, np.ones(a), ones)


def _shifted(words: Array, format_: ElementFormat, shift: int) -> Array:
    """The accumulator's codes; `shift`: it is divided by two so often."""
    codes = words.astype(format_.code_type)
    if not shift:
        return codes
    values = format_.decode(codes) * 2.0**-shift
    if format_ is ElementFormat.F16:
        return values.astype(np.float16).view(np.uint16)
    return values.astype(np.float32).view(np.uint32)


def _is_masked(lane: Array, masks: list[int]) -> Array:
    """Elements whose lanes a mask names; a mask has a bit for each of 32 lanes."""
    words = np.array(masks, np.uint64)
    return np.asarray((words[lane // 32] >> (lane % 32).astype(np.uint64) & np.uint64(1)) != 0)
