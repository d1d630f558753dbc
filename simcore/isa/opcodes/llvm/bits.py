"""Counting, finding, reversing, extracting and permuting bits as LLVM IR: the twin of `bits`."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.opcodes.llvm.logic import shifted_left, shifted_right
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "dp2a_emission",
    "emit_bfe",
    "emit_bfi",
    "emit_bfind",
    "emit_bfind_shiftamt",
    "emit_bmsk_clamp",
    "emit_bmsk_wrap",
    "emit_brev",
    "emit_clz",
    "emit_dp4a",
    "emit_popc",
    "emit_prmt",
    "part_of",
    "permutation_emission",
]


def emit_popc(code: LaneCode, context: Context, a: str) -> str:
    """Emits `popc`: the number of set bits, as a 32-bit value."""
    count = code.intrinsic("ctpop", context.type, [(code.type(context.type), a)])
    return code.cast("trunc", context.type, count, "i32")


def emit_clz(code: LaneCode, context: Context, a: str) -> str:
    """Emits `clz`: the number of leading zeros, as a 32-bit value."""
    operands = [(code.type(context.type), a), ("i1", "false")]
    return code.cast("trunc", context.type, code.intrinsic("ctlz", context.type, operands), "i32")


def emit_bfind(code: LaneCode, context: Context, a: str) -> str:
    """No bit found: as many leading zeros as bits, which leaves -1."""
    leading = emit_clz(code, context, _magnitude_bits(code, context.type, a))
    return code.binary("sub", "i32", code.splat("i32", context.type.bits - 1), leading)


def emit_bfind_shiftamt(code: LaneCode, context: Context, a: str) -> str:
    """Emits `bfind.shiftamt`: how far the leading bit is from the top; all ones for none."""
    magnitude = _magnitude_bits(code, context.type, a)
    is_zero = code.binary("icmp eq", context.type, magnitude, code.splat(context.type, 0))
    leading = emit_clz(code, context, magnitude)
    return code.select("i32", is_zero, code.splat("i32", -1), leading)


def _magnitude_bits(code: LaneCode, type_: ScalarType, a: str) -> str:
    if not type_.is_signed:
        return a
    sign = code.binary("ashr", type_, a, code.splat(type_, type_.bits - 1))
    return code.binary("xor", type_, a, sign)


def emit_brev(code: LaneCode, context: Context, a: str) -> str:
    """Emits `brev`: the bits in reverse order."""
    return code.intrinsic("bitreverse", context.type, [(code.type(context.type), a)])


def emit_bmsk_clamp(code: LaneCode, _context: Context, position: str, length: str) -> str:
    """Emits `bmsk.clamp`: `length` ones from `position` on; amounts beyond 32 are clamped."""
    return shifted_left(code, "i32", _mask(code, "i32", length), position)


def emit_bmsk_wrap(code: LaneCode, _context: Context, position: str, length: str) -> str:
    """Emits `bmsk.wrap`: `length` ones from `position` on; both amounts are taken modulo 32."""
    low = code.splat("i32", 31)
    position, length = (code.binary("and", "i32", x, low) for x in (position, length))
    return shifted_left(code, "i32", _mask(code, "i32", length), position)


def _mask(code: LaneCode, lane: str, length: str) -> str:
    """`length` ones from bit 0; all ones from the width on."""
    ones = code.splat(lane, -1)
    return code.binary("xor", lane, shifted_left(code, lane, ones, length), ones)


def _byte_amounts(code: LaneCode, lane: str, *amounts: str) -> list[str]:
    """u32 operands modulo 256, in the type of the shifted value."""
    low = code.splat("i32", 255)
    return [code.cast("zext", "i32", code.binary("and", "i32", x, low), lane) for x in amounts]


def emit_bfe(code: LaneCode, context: Context, a: str, position: str, length: str) -> str:
    """Emits `bfe`: a field of bits, zero-extended or with its top bit as the sign."""
    type_, lane = context.type, LLVM_TYPES[context.type]
    start, size = _byte_amounts(code, lane, position, length)
    field = shifted_right(code, lane, a, start, type_.is_signed)
    mask = _mask(code, lane, size)
    value = code.binary("and", lane, field, mask)
    if not type_.is_signed:
        return value
    zero, last, kind = code.splat(lane, 0), code.splat(lane, type_.bits - 1), code.type(lane)
    above = code.binary("sub", lane, code.binary("add", lane, start, size), code.splat(lane, 1))
    top = code.intrinsic("umin", lane, [(kind, above), (kind, last)])
    # brings the field's top bit to the sign, then spreads it
    to_sign = code.binary("shl", lane, a, code.binary("sub", lane, last, top))
    sign = code.binary("ashr", lane, to_sign, last)
    extension = code.binary("and", lane, sign, code.binary("xor", lane, mask, code.splat(lane, -1)))
    extended = code.binary("or", lane, value, extension)
    return code.select(lane, code.binary("icmp eq", lane, size, zero), value, extended)


def emit_bfi(code: LaneCode, context: Context, a: str, b: str, position: str, length: str) -> str:
    """Emits `bfi`: `b` with the lowest `length` bits of `a` inserted at `position`."""
    lane = LLVM_TYPES[context.type]
    start, size = _byte_amounts(code, lane, position, length)
    mask = shifted_left(code, lane, _mask(code, lane, size), start)
    inserted = code.binary("and", lane, shifted_left(code, lane, a, start), mask)
    outside = code.binary("xor", lane, mask, code.splat(lane, -1))
    return code.binary("or", lane, code.binary("and", lane, b, outside), inserted)


def emit_prmt(code: LaneCode, _context: Context, a: str, b: str, selector: str) -> str:
    """Each nibble of the selector picks a byte of b:a; its top bit spreads that byte's sign."""

    def op(name: str, x: str, y: int | str) -> str:
        return code.binary(name, "i32", x, code.splat("i32", y) if isinstance(y, int) else y)

    result = code.splat("i32", 0)
    for position in range(4):
        nibble = op("lshr", selector, 4 * position)
        is_low = op("icmp eq", op("and", nibble, 4), 0)
        word = code.select("i32", is_low, a, b)
        # the byte at the top of the word: its sign is the word's
        index = op("and", nibble, 3)
        top = op("shl", word, op("sub", code.splat("i32", 24), op("shl", index, 3)))
        plain = op("lshr", top, 24)
        sign = op("lshr", op("ashr", top, 31), 24)
        byte = code.select("i32", op("icmp eq", op("and", nibble, 8), 0), plain, sign)
        result = op("or", result, op("shl", byte, 8 * position))
    return result


def permutation_emission(selectors: Sequence[int]) -> Emission:
    """`prmt` with the one of four fixed selectors that the operand's low two bits name."""

    def emit(code: LaneCode, context: Context, a: str, b: str, selector: str) -> str:
        constants = [code.splat("i32", value) for value in selectors]
        bits = [code.binary("and", "i32", selector, code.splat("i32", bit)) for bit in (1, 2)]
        zero = code.splat("i32", 0)
        is_even, is_low = (code.binary("icmp eq", "i32", bit, zero) for bit in bits)
        low = code.select("i32", is_even, constants[0], constants[1])
        high = code.select("i32", is_even, constants[2], constants[3])
        return emit_prmt(code, context, a, b, code.select("i32", is_low, low, high))

    return emit


def emit_dp4a(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `dp4a`: the dot product of four bytes, added to `c`."""
    total = c
    for index in range(4):
        operands = ((context.type, a), (context.source_type, b))
        bytes_ = [part_of(code, type_, word, 8, index) for type_, word in operands]
        total = code.binary("add", "i32", total, code.binary("mul", "i32", *bytes_))
    return total


def dp2a_emission(first_byte: int) -> Emission:
    """The two halves of a times the bytes of b from `first_byte` on."""

    def emit(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
        total = c
        for index in range(2):
            half = part_of(code, context.type, a, 16, index)
            byte = part_of(code, context.source_type, b, 8, first_byte + index)
            total = code.binary("add", "i32", total, code.binary("mul", "i32", half, byte))
        return total

    return emit


def part_of(code: LaneCode, type_: ScalarType, word: str, width: int, index: int) -> str:
    """Part `index` of `width` bits of a word, extended as the type says."""
    above = 32 - width
    top = code.binary("shl", "i32", word, code.splat("i32", above - width * index))
    return code.binary("ashr" if type_.is_signed else "lshr", "i32", top, code.splat("i32", above))
