"""Integer multiplication: low, high and wide products, with and without an addend."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns, Detour
from kernelcast.simcore.isa.opcodes.llvm import multiplication as llvm
from kernelcast.simcore.isa.opcodes.rounding import Array
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import INTEGERS, ScalarType

__all__ = ["high_product"]

_WIDENING = (ScalarType.U16, ScalarType.U32, ScalarType.S16, ScalarType.S32)
_TWENTY_FOUR = (ScalarType.U32, ScalarType.S32)
_HIGH = Columns(detour=Detour.PRODUCT)
_HIGH_SUM = Columns(detour=Detour.PRODUCT, forms=ptx_forms.HIGH_SUM)


def _is(algebra: Algebra) -> Columns:
    return Columns(algebra=algebra, detour=Detour.PRODUCT)


@opcode("mul.lo", "t=tt", INTEGERS, columns=_is(Algebra.PRODUCT), llvm=llvm.emit_mul_lo)
def _mul_lo(_context: Context, a: Array, b: Array) -> Array:
    return np.multiply(a, b)


@opcode("mul.hi", "t=tt", INTEGERS, columns=_HIGH, llvm=llvm.emit_mul_hi)
def high_product(context: Context, a: Array, b: Array) -> Array:
    """The upper half of the exact product."""
    if context.type.bits == 64:
        return _high_64(context, a, b)
    return (_wide(context, a, b) >> context.type.bits).astype(context.type.dtype)


@opcode("mul.wide", "w=tt", _WIDENING, columns=_is(Algebra.WIDE_PRODUCT), llvm=llvm.emit_mul_wide)
def _mul_wide(context: Context, a: Array, b: Array) -> Array:
    return _wide(context, a, b)


@opcode("mad.lo", "t=ttt", INTEGERS, columns=_is(Algebra.PRODUCT_SUM), llvm=llvm.emit_mad_lo)
def _mad_lo(_context: Context, a: Array, b: Array, c: Array) -> Array:
    return np.add(np.multiply(a, b), c)


@opcode("mad.hi", "t=ttt", INTEGERS, modifiers=("sat",), columns=_HIGH_SUM, llvm=llvm.emit_mad_hi)
def _mad_hi(context: Context, a: Array, b: Array, c: Array) -> Array:
    """`.sat` clamps the sum; PTX has it for s32 only."""
    high = high_product(context, a, b)
    return _sum(context, high, c)


@opcode(
    "mad.wide",
    "w=ttw",
    _WIDENING,
    columns=_is(Algebra.WIDE_PRODUCT_SUM),
    llvm=llvm.emit_mad_wide,
)
def _mad_wide(context: Context, a: Array, b: Array, c: Array) -> Array:
    return np.add(_wide(context, a, b), c)


@opcode(
    "mul24.lo",
    "t=tt",
    _TWENTY_FOUR,
    columns=_is(Algebra.SHORT_PRODUCT),
    llvm=llvm.emit_mul24_lo,
)
def _mul24_lo(context: Context, a: Array, b: Array) -> Array:
    return _product_24(context, a, b).astype(context.type.dtype)


@opcode("mul24.hi", "t=tt", _TWENTY_FOUR, columns=_HIGH, llvm=llvm.emit_mul24_hi)
def _mul24_hi(context: Context, a: Array, b: Array) -> Array:
    """Bits 47 to 16 of the 48-bit product."""
    return (_product_24(context, a, b) >> 16).astype(context.type.dtype)


@opcode(
    "mad24.lo",
    "t=ttt",
    _TWENTY_FOUR,
    columns=_is(Algebra.SHORT_PRODUCT_SUM),
    llvm=llvm.emit_mad24_lo,
)
def _mad24_lo(context: Context, a: Array, b: Array, c: Array) -> Array:
    return np.add(_mul24_lo(context, a, b), c)


@opcode(
    "mad24.hi",
    "t=ttt",
    _TWENTY_FOUR,
    modifiers=("sat",),
    columns=_HIGH_SUM,
    llvm=llvm.emit_mad24_hi,
)
def _mad24_hi(context: Context, a: Array, b: Array, c: Array) -> Array:
    return _sum(context, _mul24_hi(context, a, b), c)


def _wide(context: Context, a: Array, b: Array) -> Array:
    return np.multiply(a, b, dtype=context.type.doubled.dtype)


def _sum(context: Context, a: Array, b: Array) -> Array:
    if "sat" not in context.modifiers:
        return np.add(a, b)
    limits = np.iinfo(context.type.dtype)
    total = np.add(a, b, dtype=np.int64)
    return np.clip(total, limits.min, limits.max).astype(context.type.dtype)


def _product_24(context: Context, a: Array, b: Array) -> Array:
    """The exact product of the low 24 bits, in 64 bits; signed operands are sign-extended."""
    wide = context.type.doubled.dtype
    low_a: Array = np.right_shift(np.left_shift(a, 8), 8)
    low_b: Array = np.right_shift(np.left_shift(b, 8), 8)
    return np.multiply(low_a, low_b, dtype=wide)


def _high_64(context: Context, a: Array, b: Array) -> Array:
    """The upper half of the 128-bit product, from four products of 32-bit halves."""
    ua, ub = a.view(np.uint64), b.view(np.uint64)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    low_a, high_a, low_b, high_b = ua & mask, ua >> half, ub & mask, ub >> half
    middle = high_a * low_b + ((low_a * low_b) >> half)
    other = low_a * high_b + (middle & mask)
    high = np.asarray(high_a * high_b + (middle >> half) + (other >> half))
    if context.type.is_signed:
        # a negative operand stands for itself plus 2**64: the other one is too much in the result
        high = high - np.where(a < 0, ub, np.uint64(0)) - np.where(b < 0, ua, np.uint64(0))
    return np.asarray(high).view(context.type.dtype)
