"""Bitwise logic and shifts; shift amounts are u32 and clamp at the width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns
from kernelcast.simcore.isa.opcodes.llvm import logic as llvm
from kernelcast.simcore.isa.opcodes.rounding import Array
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import BITS, INTEGERS, ScalarType, Unit

__all__: list[str] = []

_LOGIC = (ScalarType.PRED, *BITS)


def _logic_unit(context: Context) -> Unit:
    return Unit.MOVE if context.type is ScalarType.PRED else Unit.INTEGER


@opcode(
    "and",
    "t=tt",
    _LOGIC,
    unit=_logic_unit,
    columns=Columns(algebra=Algebra.AND),
    llvm=llvm.emit_and,
)
def _and(_context: Context, a: Array, b: Array) -> Array:
    return np.bitwise_and(a, b)


@opcode(
    "or",
    "t=tt",
    _LOGIC,
    unit=_logic_unit,
    columns=Columns(algebra=Algebra.OR),
    llvm=llvm.emit_or,
)
def _or(_context: Context, a: Array, b: Array) -> Array:
    return np.bitwise_or(a, b)


@opcode(
    "xor",
    "t=tt",
    _LOGIC,
    unit=_logic_unit,
    columns=Columns(algebra=Algebra.XOR),
    llvm=llvm.emit_xor,
)
def _xor(_context: Context, a: Array, b: Array) -> Array:
    return np.bitwise_xor(a, b)


@opcode(
    "not",
    "t=t",
    _LOGIC,
    unit=_logic_unit,
    columns=Columns(algebra=Algebra.NOT),
    llvm=llvm.emit_not,
)
def _not(_context: Context, a: Array) -> Array:
    return np.invert(a)


@opcode("cnot", "t=t", BITS, llvm=llvm.emit_cnot)
def _cnot(context: Context, a: Array) -> Array:
    """1 where a is 0, else 0."""
    return np.equal(a, 0).astype(context.type.dtype)


@opcode("lop3", "t=tttu", (ScalarType.B32,), llvm=llvm.emit_lop3)
def _lop3(_context: Context, a: Array, b: Array, c: Array, table: Array) -> Array:
    """Bit (4a + 2b + c) of the truth table, for each bit position."""
    shapes = (np.shape(operand) for operand in (a, b, c, table))
    result: Array = np.zeros(np.broadcast_shapes(*shapes), np.uint32)
    for row in range(8):
        in_table = np.negative((table >> np.uint32(row)) & np.uint32(1))
        if not np.any(in_table):
            continue
        term = in_table
        for weight, operand in ((4, a), (2, b), (1, c)):
            term = term & (operand if row & weight else np.invert(operand))
        result = result | term
    return result


def _register_lop3_with(boolean: str, combine: Callable[[Array, Array], Array]) -> None:
    @opcode(f"lop3.{boolean}", "tp=tttup", (ScalarType.B32,), llvm=llvm.lop3_with_emission(boolean))
    def _lop3_with(
        context: Context, a: Array, b: Array, c: Array, table: Array, q: Array
    ) -> tuple[Array, Array]:
        """The result, and whether it is not 0, combined with q."""
        result = _lop3(context, a, b, c, table)
        return result, combine(np.not_equal(result, 0), q)


_register_lop3_with("and", np.logical_and)
_register_lop3_with("or", np.logical_or)


@opcode("shl", "t=tu", BITS, columns=Columns(algebra=Algebra.SHIFT_LEFT), llvm=llvm.emit_shl)
def _shl(context: Context, a: Array, amount: Array) -> Array:
    return np.left_shift(a, _amount(context, amount))


@opcode(
    "shr",
    "t=tu",
    BITS + INTEGERS,
    columns=Columns(algebra=Algebra.SHIFT_RIGHT),
    llvm=llvm.emit_shr,
)
def _shr(context: Context, a: Array, amount: Array) -> Array:
    """Signed types shift the sign in."""
    return np.right_shift(a, _amount(context, amount))


def _amount(context: Context, amount: Array) -> Array:
    """The amount in the type of the shifted value; NumPy itself clamps at the width.

    An s32 amount of 2**31 and more turns negative, which NumPy takes as too large as well.
    """
    match context.type.bits:
        case 32:
            return amount.view(context.type.dtype)
        case 64:
            return amount.astype(context.type.dtype)
    return np.minimum(amount, np.uint32(context.type.bits)).astype(context.type.dtype)


@opcode("shf.l.wrap", "t=ttu", (ScalarType.B32,), llvm=llvm.emit_shf_l_wrap)
def _shf_l_wrap(_context: Context, low: Array, high: Array, amount: Array) -> Array:
    return _funnel_left(low, high, amount & np.uint32(31))


@opcode("shf.l.clamp", "t=ttu", (ScalarType.B32,), llvm=llvm.emit_shf_l_clamp)
def _shf_l_clamp(_context: Context, low: Array, high: Array, amount: Array) -> Array:
    return _funnel_left(low, high, np.minimum(amount, np.uint32(32)))


@opcode("shf.r.wrap", "t=ttu", (ScalarType.B32,), llvm=llvm.emit_shf_r_wrap)
def _shf_r_wrap(_context: Context, low: Array, high: Array, amount: Array) -> Array:
    return _funnel_right(low, high, amount & np.uint32(31))


@opcode("shf.r.clamp", "t=ttu", (ScalarType.B32,), llvm=llvm.emit_shf_r_clamp)
def _shf_r_clamp(_context: Context, low: Array, high: Array, amount: Array) -> Array:
    return _funnel_right(low, high, np.minimum(amount, np.uint32(32)))


def _funnel_left(low: Array, high: Array, amount: Array) -> Array:
    """The upper word of high:low shifted left, amount at most 32."""
    return (high << amount) | (low >> (np.uint32(32) - amount))


def _funnel_right(low: Array, high: Array, amount: Array) -> Array:
    """The lower word of high:low shifted right, amount at most 32."""
    return (high << (np.uint32(32) - amount)) | (low >> amount)
