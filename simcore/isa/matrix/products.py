"""The product of two matrices with an accumulator: result = a b + c, on codes of elements.

The one definition of the arithmetic, whatever holds the operands: fragments in registers, or tiles
in memory. Shapes are (..., rows, depth), (..., depth, columns) and (..., rows, columns).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.accumulation import Accumulation, Summation
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.opcodes.rounding import multiply_add

__all__ = [
    "LEAST_EXPONENT",
    "ZERO_EXPONENT",
    "Combination",
    "Factors",
    "MatrixProduct",
    "Multiplication",
    "multiply",
]

Array = npt.NDArray[Any]
ZERO_EXPONENT, LEAST_EXPONENT = -600, -300
"""What a zero counts as when the largest exponent is looked for, and what that is at least."""
_NAN32, _NAN16 = np.uint32(0x7FFFFFFF), np.uint16(0x7FFF)
_SINGLE_OVERFLOW = 2.0**128
_PIECE = 1 << 16
"""Terms of sums that are handled at a time."""


class Combination(Enum):
    """What a product adds up over the depth: products, or bits in common."""

    PRODUCT = "product"
    XOR = "xor.popc"
    AND = "and.popc"


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """`batches` products of (rows x depth) by (depth x columns). For B1 the depth counts words."""

    rows: int
    columns: int
    depth: int
    a: ElementFormat
    b: ElementFormat
    accumulator: ElementFormat
    result: ElementFormat
    accumulation: Accumulation
    combination: Combination = Combination.PRODUCT
    saturates: bool = False
    batches: int = 1

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of the product; of B1, one for each bit."""
        bits = 32 if self.a is ElementFormat.B1 else 1
        return self.batches * self.rows * self.columns * self.depth * bits


@dataclass(frozen=True)
class Factors:
    """What elements of A and B are multiplied by: their block scales.

    Holds the factors and the powers of two in them, each of the shape of its operand.
    """

    a: Array
    b: Array
    a_powers: Array
    b_powers: Array


Multiplication: TypeAlias = Callable[[MatrixProduct, Array, Array, Array, Factors | None], Array]
"""A product of codes of A, B and C, as `multiply` computes it."""


def multiply(
    product: MatrixProduct, a: Array, b: Array, c: Array, factors: Factors | None = None
) -> Array:
    """The codes of the result from the codes of the operands."""
    x, y = product.a.decode(a), product.b.decode(b)
    z = product.accumulator.decode(c)
    if factors is not None and product.accumulation.summation is Summation.WIDE:
        x, y = x * factors.a, y * factors.b
    with np.errstate(all="ignore"):
        match product.accumulation.summation:
            case Summation.INTEGER:
                return _integer(product, x, y, z)
            case Summation.FUSED:
                return _fused(x, y, z)
            case Summation.WIDE:
                return _encode_nearest(product.result, *_wide(x, y, z))
        return _aligned(product, x, y, z, factors)


def _integer(product: MatrixProduct, x: Array, y: Array, z: Array) -> Array:
    if product.combination is Combination.PRODUCT:
        total = x @ y
    else:
        join = np.bitwise_xor if product.combination is Combination.XOR else np.bitwise_and
        words = join(x[..., :, :, None], y[..., None, :, :])
        total = np.bitwise_count(words).astype(np.int64).sum(axis=-2)
    total = total + z
    if product.saturates:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return (total & 0xFFFFFFFF).astype(np.uint32)


def _fused(x: Array, y: Array, z: Array) -> Array:
    total = z
    for k in range(x.shape[-1]):
        left, right = np.broadcast_arrays(x[..., :, k, None], y[..., None, k, :])
        total = multiply_add(np.ascontiguousarray(left), np.ascontiguousarray(right), total, "")
    return np.asarray(total, np.float64).view(np.uint64)


def _wide(x: Array, y: Array, z: Array) -> tuple[Array, Array]:
    """The sum and its rest (Knuth's two-sum)."""
    total, rest = z, np.zeros_like(z)
    for k in range(x.shape[-1]):
        term = x[..., :, k, None] * y[..., None, k, :]
        after = total + term
        before = after - total
        rest = rest + ((total - (after - before)) + (term - before))
        total = after
    whole = np.where(np.isfinite(total), total + rest, total)
    return whole, np.where(np.isfinite(whole), (total - whole) + rest, 0.0)


def _exponents(values: Array, format_: ElementFormat) -> Array:
    """The power of two that each value is a multiple of between 1 and 2, as float64."""
    bits = np.ascontiguousarray(values).view(np.uint64) & np.uint64(0x7FF0000000000000)
    powers = np.maximum(bits.view(np.float64), 2.0**format_.least_exponent)
    return np.where(values == 0, 2.0**ZERO_EXPONENT, powers)


def _aligned(
    product: MatrixProduct, x: Array, y: Array, z: Array, factors: Factors | None
) -> Array:
    powers_x, powers_y = _exponents(x, product.a), _exponents(y, product.b)
    if factors is not None:
        x, y = x * factors.a, y * factors.b
        powers_x, powers_y = powers_x * factors.a_powers, powers_y * factors.b_powers
    left = np.stack((x, powers_x), axis=-3).reshape(-1, 2, *x.shape[-2:])
    right = np.stack((y, powers_y), axis=-3).reshape(-1, 2, *y.shape[-2:])
    start = z.reshape(-1, *z.shape[-2:])
    codes = np.empty(start.shape, product.result.code_type)
    for part, rows in _pieces(product, start.shape):
        codes[part, rows] = _aligned_piece(
            product, left[part, :, rows], right[part], start[part, rows]
        )
    return codes.reshape(z.shape)


def _pieces(product: MatrixProduct, shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Parts of products and of their rows that are small enough for a fast memory."""
    count, rows, columns = shape
    of_row = product.accumulation.terms * columns
    at_once = max(1, _PIECE // (of_row * rows))
    step = max(1, min(rows, _PIECE // of_row))
    for first in range(0, count, at_once):
        for row in range(0, rows, step):
            yield slice(first, first + at_once), slice(row, row + step)


def _aligned_piece(product: MatrixProduct, left: Array, right: Array, total: Array) -> Array:
    """`left`, `right`: values and the powers of their exponents, (products, 2, ...)."""
    rule, codes = product.accumulation, np.zeros(0)
    for first in range(0, left.shape[-1], rule.terms):
        part = slice(first, first + rule.terms)
        both = left[..., :, part, None] * right[..., None, part, :]
        terms = both[:, 0]
        top = np.maximum(both[:, 1].max(axis=-2), _exponents(total, ElementFormat.F32))
        top = np.maximum(top, 2.0**LEAST_EXPONENT)
        scale = 2.0**rule.fraction_bits / top
        special = terms.sum(axis=-2) + total if np.isinf(top).any() else total
        terms *= scale[..., None, :]
        kept = np.trunc(terms, out=terms).sum(axis=-2) + np.trunc(total * scale)
        added = np.where(np.isinf(top), special, kept / scale)
        codes = _encode_aligned(product.result, added)
        total = product.result.decode(codes)
    return codes


def _encode_aligned(format_: ElementFormat, values: Array) -> Array:
    """Encodes results: single precision is rounded towards zero, half precision to nearest."""
    if format_ is ElementFormat.F16:
        codes = values.astype(np.float16).view(np.uint16)
        return np.where(np.isnan(values), _NAN16, codes)
    return np.where(np.isnan(values), _NAN32, _cut(values))


def _cut(values: Array) -> Array:
    """The bits of single precision, rounded towards zero; what is too large is an infinity."""
    nearest = values.astype(np.float32)
    is_past = (np.abs(nearest.astype(np.float64)) > np.abs(values)) & (
        np.abs(values) < _SINGLE_OVERFLOW
    )
    return nearest.view(np.uint32) - is_past


def _encode_nearest(format_: ElementFormat, values: Array, rest: Array) -> Array:
    """Encodes values plus rests that are smaller than the values' last places.

    The rests make values odd, so that rounding to nearest sees them.
    """
    bits = np.ascontiguousarray(values).view(np.uint64)
    is_even = (rest != 0) & ((bits & np.uint64(1)) == 0)
    is_away = np.signbit(values) == np.signbit(rest)
    odd = np.where(is_away, bits + np.uint64(1), bits - np.uint64(1))
    nudged = np.where(is_even, odd, bits).view(np.float64)
    if format_ is ElementFormat.F16:
        return np.where(np.isnan(values), _NAN16, nudged.astype(np.float16).view(np.uint16))
    return np.where(np.isnan(values), _NAN32, nudged.astype(np.float32).view(np.uint32))
