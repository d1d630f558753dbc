"""`tcgen05.mma`: from shared and tensor memory to the latter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.reference.shared_pieces import (
    SharedPieces,
    codes_of_bytes,
    shared_codes,
)
from kernelcast.simcore.isa.matrix.block_scales import ScaleFormat, scale_powers, scale_values
from kernelcast.simcore.isa.matrix.data_paths import DataPath, data_path, metadata_places
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.instruction_descriptors import (
    DescribedProduct,
    described_product,
    stated_product,
)
from kernelcast.simcore.isa.matrix.products import Factors, MatrixProduct, Multiplication
from kernelcast.simcore.isa.matrix.sparsity import dense_codes, slots_per_element
from kernelcast.simcore.isa.matrix.tensor_memory import (
    TENSOR_LANES,
    ProductKind,
    TensorMemoryFault,
    TensorProduct,
)
from kernelcast.simcore.isa.matrix.zero_columns import zero_columns

__all__ = ["ProductSide", "multiply_in_tensor_memory"]

Array = npt.NDArray[Any]
_LANE_AT, _COLUMN_MASK, _LANE_MASK = 16, 0xFFFF, 0x3FFF
_WORD = 32
_SCALE_LANES = 32
_MASKS = 4
_HALF_ROWS = 64
_SHIFT_STEP = 32


@dataclass(frozen=True)
class ProductSide:
    """What a thread block has of a product.

    Has `words` of tensor memory, what descriptors name in shared memory; `check` looks whether
    columns are allocated.
    """

    words: Array
    shared: SharedPieces
    check: Callable[[int, int], None]


@dataclass(frozen=True)
class _Operands:
    """The sources of an instruction by what they are."""

    d: int
    a: int
    b: int
    adds: bool
    metadata: int
    more: tuple[int, ...]
    """Scales, masks, or what says which columns are zero."""


def multiply_in_tensor_memory(
    operation: TensorProduct,
    values: Sequence[int],
    sides: Sequence[ProductSide],
    multiply: Multiplication,
) -> None:
    """One side, or both of a pair. TensorMemoryFault says what does not fit."""
    has_metadata = operation.is_sparse or operation.is_described
    operation = stated_product(operation, values[3])
    described = described_product(operation, values[3])
    whole = described.product
    first = 5 + has_metadata
    metadata = values[5] if has_metadata else 0
    more = tuple(values[first:])
    operands = _Operands(values[0], values[1], values[2], bool(values[4]), metadata, more)
    b = _right(operation, described, operands, sides)
    product = replace(whole, rows=whole.rows // len(sides))
    described = replace(described, product=product)
    for number, side in enumerate(sides):
        masks = operands.more[_MASKS * number : _MASKS * (number + 1)]
        _Side(operation, described, operands, side).multiply(b, masks, multiply)


def _right(
    operation: TensorProduct,
    described: DescribedProduct,
    operands: _Operands,
    sides: Sequence[ProductSide],
) -> Array:
    """Codes of B, (columns, depth)."""
    whole = described.product
    lines, shift = whole.columns // len(sides), 0
    zero = None
    if operation.has_zero_columns:
        zero = zero_columns(operands.more[0], whole.rows, whole.columns)
        shift = zero.shift
    read = lines + -(-shift // _SHIFT_STEP) * _SHIFT_STEP
    parts = [
        shared_codes(side.shared, operands.b, whole.b, read, whole.depth, described.b_transposed)
        for side in sides
    ]
    b = np.concatenate(parts)[shift : shift + whole.columns]
    if zero is not None and zero.mask.any():
        b = np.where(zero.mask[:, None], b.dtype.type(0), b)
    return b


class _Side:
    """A product of one thread block's rows."""

    def __init__(
        self,
        operation: TensorProduct,
        described: DescribedProduct,
        operands: _Operands,
        side: ProductSide,
    ) -> None:
        self._operation = operation
        self._described = described
        self._operands = operands
        self._side = side
        product = described.product
        is_scattered = operation.is_sparse and product.rows <= _HALF_ROWS
        if is_scattered and not operation.is_stationary:
            raise TensorMemoryFault("sparse products of 64 rows a thread block are not supported")
        self._path = data_path(
            product.rows, is_pair=operation.is_pair, is_stationary=operation.is_stationary
        )

    def multiply(self, b: Array, masks: Sequence[int], multiply: Multiplication) -> None:
        """`b`: codes of shape (columns, depth)."""
        product, path, words = self._described.product, self._path, self._side.words
        lane, column = self._place(self._operands.d, path)
        self._side.check(column, column + product.columns // path.banks)
        lefts = self._lefts()
        factors = None
        if self._operation.kind.is_scaled:
            factors = self._scales()
        if self._described.negates:
            factors = _negated(factors, lefts[0].shape, b.shape)
        before = np.zeros((product.rows, product.columns), np.uint32)
        if self._operands.adds:
            before = path.read_all(words, lane, column, product.columns)
        c = _shifted(before, product.accumulator, self._operation.scale_shift)
        codes = _by_bank(multiply, product, lefts, b.T, c, factors)
        kept = _masked_lanes(masks) if self._operation.has_masks else None
        path.write_all(words, lane, column, codes.astype(np.uint32), kept)

    def _place(self, address: int, path: DataPath) -> tuple[int, int]:
        lane = address >> _LANE_AT & _LANE_MASK
        if lane + path.end() > TENSOR_LANES:
            raise TensorMemoryFault(f"lane {lane}: {path.rows} rows do not fit below it")
        return lane, address & _COLUMN_MASK

    def _lefts(self) -> list[Array]:
        """Codes of A, (rows, depth): what all banks have, or each bank for itself."""
        compact = self._stored()
        if not self._operation.is_sparse:
            return compact
        metadata = self._metadata(len(compact[0]))
        count = max(len(compact), len(metadata))
        per_chunk = slots_per_element(self._described.product.a) // 2
        return [
            dense_codes(compact[bank % len(compact)], metadata[bank % len(metadata)], per_chunk)
            for bank in range(count)
        ]

    def _stored(self) -> list[Array]:
        described, path, value = self._described, self._path, self._operands.a
        product, side = described.product, self._side
        depth = product.depth // (2 if self._operation.is_sparse else 1)
        if not self._operation.a_in_tensor_memory:
            rows, turned = product.rows, described.a_transposed
            return [shared_codes(side.shared, value, product.a, rows, depth, turned)]
        if self._operation.is_pair and product.rows <= _HALF_ROWS:
            raise TensorMemoryFault("128 rows of a pair with A in tensor memory are not supported")
        lane, column = self._place(value, path)
        count = depth * product.a.bits // _WORD
        side.check(column, column + count)
        found = []
        for bank in range(path.banks):
            words = np.ascontiguousarray(path.read(side.words, lane, column, count, bank))
            found.append(codes_of_bytes(words.view(np.uint8), product.a.bits))
        return found

    def _metadata(self, rows: int) -> list[Array]:
        """Four bits for each chunk of a row, (rows, chunks), for each bank."""
        product, path = self._described.product, self._path
        chunks = product.depth // slots_per_element(product.a)
        is_narrow = product.a.bits <= 8
        lanes, columns, bits = metadata_places(rows, chunks, is_narrow=is_narrow)
        lane, column = self._place(self._operands.metadata, path)
        column += self._described.selector
        self._side.check(column, column + int(columns.max()) + 1)
        found = []
        for bank in range(path.banks):
            start = lane + bank * path.bank_lanes
            words = self._side.words[start + lanes, column + columns]
            found.append(words >> bits.astype(np.uint32) & np.uint32(15))
        return found

    def _scales(self) -> Factors:
        """The scale factors of A and B; a row's scales are the bytes of one word.

        Row r of A is in lane r % 32 of column r / 32, columns of B alike.
        """
        product, blocks = self._described.product, self._operation.scale_blocks
        format_ = self._described.scale_format
        kind = self._operation.kind
        if (format_ is ScaleFormat.UE4M3) and kind is not ProductKind.MXF4NVF4:
            raise TensorMemoryFault(f"scales of {kind.value} are ue8m0")
        found = []
        for address, lines, byte in (
            (self._operands.more[0], product.rows, self._described.a_scale),
            (self._operands.more[1], product.columns, self._described.b_scale),
        ):
            first = address & _COLUMN_MASK
            self._side.check(first, first + -(-lines // _SCALE_LANES))
            line = np.arange(lines)
            held = self._side.words[line % _SCALE_LANES, first + line // _SCALE_LANES]
            shift = 8 * ((byte + np.arange(blocks)) & 3)
            codes = held[:, None] >> shift.astype(np.uint32) & np.uint32(0xFF)
            found.append(np.repeat(codes, product.depth // blocks, axis=1))
        a, b = found[0], found[1].T
        scales, powers = scale_values(format_), scale_powers(format_)
        return Factors(scales[a], scales[b], powers[a], powers[b])


def _by_bank(
    multiply: Multiplication,
    product: MatrixProduct,
    lefts: Sequence[Array],
    b: Array,
    c: Array,
    factors: Factors | None,
) -> Array:
    """Banks that have an A of their own multiply it by their part of the columns."""
    if len(lefts) == 1:
        return multiply(product, lefts[0], b, c, factors)
    width = product.columns // len(lefts)
    part = replace(product, columns=width)
    found = []
    for bank, left in enumerate(lefts):
        chosen = slice(bank * width, (bank + 1) * width)
        own = None
        if factors is not None:
            own = replace(factors, b=factors.b[:, chosen], b_powers=factors.b_powers[:, chosen])
        found.append(multiply(part, left, b[:, chosen], c[:, chosen], own))
    return np.concatenate(found, axis=1)


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
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        values = format_.decode(codes) * 2.0**-shift
        if format_ is ElementFormat.F16:
            return values.astype(np.float16).view(np.uint16)
        return values.astype(np.float32).view(np.uint32)


def _masked_lanes(masks: Sequence[int]) -> Array:
    """Whether each lane of tensor memory is masked; a mask has a bit for each of 32 lanes."""
    lane = np.arange(TENSOR_LANES)
    words = np.array(masks, np.uint64)[lane // _WORD]
    return np.asarray(words >> (lane % _WORD).astype(np.uint64) & np.uint64(1) != 0)
