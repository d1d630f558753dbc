"""Bitwise logic and shifts as LLVM IR: the twin of `logic`.

A shift by the width or more is poison in LLVM: amounts are compared first.
"""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "emit_and",
    "emit_cnot",
    "emit_lop3",
    "emit_not",
    "emit_or",
    "emit_shf_l_clamp",
    "emit_shf_l_wrap",
    "emit_shf_r_clamp",
    "emit_shf_r_wrap",
    "emit_shl",
    "emit_shr",
    "emit_xor",
    "lop3_with_emission",
    "shifted_left",
    "shifted_right",
]


def _bitwise(name: str) -> Emission:
    def emit(code: LaneCode, context: Context, a: str, b: str) -> str:
        return code.binary(name, context.type, a, b)

    return emit


emit_and, emit_or, emit_xor = _bitwise("and"), _bitwise("or"), _bitwise("xor")


def emit_not(code: LaneCode, context: Context, a: str) -> str:
    """Emits `not`, of a predicate or of all bits."""
    ones = "true" if context.type is ScalarType.PRED else "-1"
    return code.binary("xor", context.type, a, code.splat(context.type, ones))


def emit_cnot(code: LaneCode, context: Context, a: str) -> str:
    """Emits `cnot`: 1 where the operand is zero, else 0."""
    is_zero = code.binary("icmp eq", context.type, a, code.splat(context.type, 0))
    return code.cast("zext", "i1", is_zero, context.type)


def emit_lop3(code: LaneCode, _context: Context, a: str, b: str, c: str, table: str) -> str:
    """The union of the eight minterms, each in all bits where its row of the table holds 1."""

    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "i32", x, y)

    plain, ones = (a, b, c), code.splat("i32", -1)
    inverted = [op("xor", operand, ones) for operand in plain]
    pairs = [op("and", (b, inverted[1])[x], (c, inverted[2])[y]) for x in (1, 0) for y in (1, 0)]
    result = code.splat("i32", 0)
    for row in range(8):
        # the row's bit, shifted to the sign and spread from there
        top = op("shl", table, code.splat("i32", 31 - row))
        in_table = op("ashr", top, code.splat("i32", 31))
        minterm = op("and", a if row & 4 else inverted[0], pairs[row & 3])
        result = op("or", result, op("and", in_table, minterm))
    return result


def lop3_with_emission(boolean: str) -> Emission:
    """`lop3`, and whether its result is not 0, combined with a predicate."""

    def emit(
        code: LaneCode, context: Context, a: str, b: str, c: str, table: str, q: str
    ) -> tuple[str, str]:
        result = emit_lop3(code, context, a, b, c, table)
        is_set = code.binary("icmp ne", "i32", result, code.splat("i32", 0))
        return result, code.binary(boolean, "i1", is_set, q)

    return emit


def shifted_left(code: LaneCode, lane: str, a: str, amount: str) -> str:
    """0 where the amount, of the type of a and unsigned, is the width or more."""
    in_range = code.binary("icmp ult", lane, amount, code.splat(lane, lane[1:]))
    return code.select(lane, in_range, code.binary("shl", lane, a, amount), code.splat(lane, 0))


def shifted_right(code: LaneCode, lane: str, a: str, amount: str, signed: bool) -> str:
    """0, or the sign in every bit, where the amount is the width or more."""
    if not signed:
        in_range = code.binary("icmp ult", lane, amount, code.splat(lane, lane[1:]))
        shifted = code.binary("lshr", lane, a, amount)
        return code.select(lane, in_range, shifted, code.splat(lane, 0))
    last, kind = code.splat(lane, int(lane[1:]) - 1), code.type(lane)
    clamped = code.intrinsic("umin", lane, [(kind, amount), (kind, last)])
    return code.binary("ashr", lane, a, clamped)


def _amount(code: LaneCode, lane: str, amount: str) -> str:
    """A u32 amount in the type of the shifted value; too large stays too large."""
    if lane == "i16":
        kind = code.type("i32")
        clamped = code.intrinsic("umin", "i32", [(kind, amount), (kind, code.splat("i32", 16))])
        return code.cast("trunc", "i32", clamped, lane)
    return code.cast("zext", "i32", amount, lane)


def emit_shl(code: LaneCode, context: Context, a: str, amount: str) -> str:
    """Emits `shl`; amounts beyond the width shift everything out."""
    lane = LLVM_TYPES[context.type]
    return shifted_left(code, lane, a, _amount(code, lane, amount))


def emit_shr(code: LaneCode, context: Context, a: str, amount: str) -> str:
    """Emits `shr`, arithmetic for signed types; amounts beyond the width are clamped."""
    lane = LLVM_TYPES[context.type]
    return shifted_right(code, lane, a, _amount(code, lane, amount), context.type.is_signed)


def _funnel(direction: str, clamps: bool) -> Emission:
    def emit(code: LaneCode, _context: Context, low: str, high: str, amount: str) -> str:
        kind = code.type("i32")
        operands = [(kind, high), (kind, low), (kind, amount)]
        shifted = code.intrinsic(f"fsh{direction}", "i32", operands)  # takes the amount modulo 32
        if not clamps:
            return shifted
        in_range = code.binary("icmp ult", "i32", amount, code.splat("i32", 32))
        return code.select("i32", in_range, shifted, low if direction == "l" else high)

    return emit


emit_shf_l_wrap, emit_shf_l_clamp = _funnel("l", clamps=False), _funnel("l", clamps=True)
emit_shf_r_wrap, emit_shf_r_clamp = _funnel("r", clamps=False), _funnel("r", clamps=True)
