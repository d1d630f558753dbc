"""Integer and floating-point arithmetic.

Integers wrap around. What PTX leaves open is fixed here: division by zero gives all ones and the
remainder the dividend, as NVIDIA hardware does for unsigned integers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import numpy as np

from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns, Detour, Expansion
from kernelcast.simcore.isa.opcodes.llvm import arithmetic as llvm
from kernelcast.simcore.isa.opcodes.rounding import (
    FLUSH,
    FLUSH_SATURATE,
    ROUNDINGS,
    Array,
    directed_mode,
    divide,
    multiply_add,
    rounding_mode,
    with_float_modes,
)
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import (
    FLOATS,
    HALVES,
    INTEGERS,
    REALS,
    SHORT_PAIRS,
    SIGNED,
    WIDE_FLOATS,
    ScalarType,
)

__all__: list[str] = []

_ROUNDED = (*ROUNDINGS, *FLUSH_SATURATE)
_ORDERED = (*INTEGERS, *SHORT_PAIRS, *FLOATS, *HALVES)
_EXTREMUM_MODES = ("NaN", "xorsign", "abs", "relu", *FLUSH)


def _one(like: Array) -> Array:
    return np.ones((), like.dtype)


@opcode(
    "add",
    "t=tt",
    (*INTEGERS, *SHORT_PAIRS, *REALS),
    modifiers=_ROUNDED,
    columns=Columns(flops=1, algebra=Algebra.SUM, forms=ptx_forms.SUM),
    llvm=llvm.emit_add,
)
@with_float_modes
def _add(context: Context, a: Array, b: Array) -> Array:
    mode = directed_mode(context)
    if mode:
        return multiply_add(a, _one(a), b, mode)
    if "sat" in context.modifiers and context.type.is_integer:
        return _clamped(np.add(a, b, dtype=np.int64), context)
    return np.add(a, b)


@opcode(
    "sub",
    "t=tt",
    INTEGERS + REALS,
    modifiers=_ROUNDED,
    columns=Columns(flops=1, algebra=Algebra.DIFFERENCE, forms=ptx_forms.SUM),
    llvm=llvm.emit_sub,
)
@with_float_modes
def _sub(context: Context, a: Array, b: Array) -> Array:
    mode = directed_mode(context)
    if mode:
        return multiply_add(a, _one(a), -b, mode)
    if "sat" in context.modifiers and context.type.is_integer:
        return _clamped(np.subtract(a, b, dtype=np.int64), context)
    return np.subtract(a, b)


def _clamped(wide: Array, context: Context) -> Array:
    """`.sat` on integers, which PTX has for s32 only; the sum of narrower types is exact in s64."""
    limits = np.iinfo(context.type.dtype)
    return np.clip(wide, limits.min, limits.max).astype(context.type.dtype)


@opcode(
    "mul",
    "t=tt",
    REALS,
    modifiers=_ROUNDED,
    columns=Columns(flops=1, detour=Detour.PRODUCT, forms=ptx_forms.PRODUCT),
    llvm=llvm.emit_mul,
)
@with_float_modes
def _mul(context: Context, a: Array, b: Array) -> Array:
    mode = directed_mode(context)
    if mode:
        # adding a zero must not change the sign of a zero product
        zero = np.asarray(0.0 if mode == "rm" else -0.0, a.dtype)
        return multiply_add(a, b, zero, mode)
    return np.multiply(a, b)


@opcode(
    "fma",
    "t=ttt",
    REALS,
    modifiers=(*_ROUNDED, "relu"),
    columns=Columns(flops=2, forms=ptx_forms.FUSED),
    llvm=llvm.emit_fma,
)
@opcode(
    "mad",
    "t=ttt",
    WIDE_FLOATS,
    modifiers=_ROUNDED,
    columns=Columns(flops=2, forms=ptx_forms.PRODUCT_SUM),
    llvm=llvm.emit_fma,
)
@with_float_modes
def _fma(context: Context, a: Array, b: Array, c: Array) -> Array:
    return multiply_add(a, b, c, rounding_mode(context))


@opcode(
    "div",
    "t=tt",
    (*INTEGERS, *WIDE_FLOATS),
    modifiers=("approx", "full", *ROUNDINGS, "ftz"),
    columns=Columns(
        flops=1,
        algebra=Algebra.QUOTIENT,
        expansion=Expansion.ROUNDED,
        detour=Detour.QUOTIENT,
        forms=ptx_forms.QUOTIENT,
    ),
    llvm=llvm.emit_div,
)
@with_float_modes
def _div(context: Context, a: Array, b: Array) -> Array:
    """`.approx` and `.full` give the correctly rounded quotient, which is within their bounds."""
    if context.type.is_float:
        return divide(a, b, directed_mode(context))
    return _quotient_and_remainder(context, a, b)[0]


@opcode(
    "rem",
    "t=tt",
    INTEGERS,
    columns=Columns(algebra=Algebra.REMAINDER, expansion=Expansion.ROUNDED),
    llvm=llvm.emit_rem,
)
def _rem(context: Context, a: Array, b: Array) -> Array:
    return _quotient_and_remainder(context, a, b)[1]


def _quotient_and_remainder(context: Context, a: Array, b: Array) -> tuple[Array, Array]:
    """Truncated towards zero; the remainder has the sign of the dividend.

    NumPy's quotient is the floor, 0 for a zero divisor, and wraps for the smallest integer by -1.
    """
    quotient = np.floor_divide(a, b)
    remainder = np.subtract(a, np.multiply(quotient, b))
    if context.type.is_signed:
        is_floored = (remainder != 0) & ((a < 0) != (b < 0)) & (b != 0)
        quotient = quotient + is_floored
        remainder = np.where(is_floored, remainder - b, remainder)
    if not np.all(b):
        quotient = np.where(b == 0, np.invert(np.zeros((), context.type.dtype)), quotient)
    return quotient, remainder


@opcode(
    "neg",
    "t=t",
    SIGNED + FLOATS + HALVES,
    modifiers=FLUSH,
    columns=Columns(algebra=Algebra.NEGATION, forms=ptx_forms.FLUSHED),
    llvm=llvm.emit_neg,
)
@with_float_modes
def _neg(_context: Context, a: Array) -> Array:
    return np.negative(a)


@opcode(
    "abs",
    "t=t",
    SIGNED + FLOATS + HALVES,
    modifiers=FLUSH,
    columns=Columns(algebra=Algebra.MAGNITUDE, forms=ptx_forms.FLUSHED),
    llvm=llvm.emit_abs,
)
@with_float_modes
def _abs(_context: Context, a: Array) -> Array:
    return np.abs(a)


@opcode("copysign", "t=tt", WIDE_FLOATS, llvm=llvm.emit_copysign)
def _copysign(_context: Context, a: Array, b: Array) -> Array:
    """The value of b with the sign of a."""
    return np.copysign(b, a)


def _smaller(context: Context, a: Array, b: Array) -> Array:
    if context.type.is_integer:
        return np.minimum(a, b)
    chosen = np.minimum(a, b) if "NaN" in context.modifiers else np.fmin(a, b)
    zeros = (a == 0) & (b == 0)
    # the minimum of a positive and a negative zero is the negative one
    return np.where(zeros, np.where(np.signbit(a), a, b), chosen) if zeros.any() else chosen


def _larger(context: Context, a: Array, b: Array) -> Array:
    if context.type.is_integer:
        return np.maximum(a, b)
    chosen = np.maximum(a, b) if "NaN" in context.modifiers else np.fmax(a, b)
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, np.where(np.signbit(a), b, a), chosen) if zeros.any() else chosen


def _register_extremum(
    name: str, algebra: Algebra, choose: Callable[[Context, Array, Array], Array]
) -> None:
    emission = llvm.extremum_emission(name)

    @opcode(
        name,
        "t=tt",
        _ORDERED,
        modifiers=_EXTREMUM_MODES,
        columns=Columns(algebra=algebra, forms=ptx_forms.EXTREMUM),
        llvm=emission,
    )
    @opcode(
        f"{name}.three",
        "t=ttt",
        (ScalarType.F32,),
        modifiers=_EXTREMUM_MODES,
        columns=Columns(forms=ptx_forms.EXTREMUM_OF_THREE),
        llvm=emission,
    )
    @with_float_modes
    def _extremum(context: Context, *operands: Array) -> Array:
        """The minimum or maximum; `.abs`: of magnitudes, `.xorsign`: with the product's sign."""
        values = [np.abs(x) for x in operands] if "abs" in context.modifiers else operands
        chosen = reduce(partial(choose, context), values)
        if "xorsign" not in context.modifiers:
            return chosen
        is_negative = np.logical_xor(*(np.signbit(x) for x in operands))
        signed = np.where(is_negative, np.negative(np.abs(chosen)), np.abs(chosen))
        return np.where(np.isnan(chosen), chosen, signed)


_register_extremum("min", Algebra.MINIMUM, _smaller)
_register_extremum("max", Algebra.MAXIMUM, _larger)


@opcode("sad", "t=ttt", INTEGERS, llvm=llvm.emit_sad)
def _sad(context: Context, a: Array, b: Array, c: Array) -> Array:
    """c + |a - b|."""
    return np.where(a < b, b - a, a - b) + c
