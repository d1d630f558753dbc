"""`cvt.rs` as LLVM IR: the twin of `random_rounding`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.narrow_formats import NARROW
from kernelcast.simcore.isa.numerics.packed import BF16_NAN
from kernelcast.simcore.isa.opcodes.llvm.narrow_formats import to_narrow_at_random
from kernelcast.simcore.isa.opcodes.llvm.rounding import rectified
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["emit_four", "emit_pair", "pair_width"]

_F32 = ScalarType.F32
_INFINITY, _BF16_LARGEST = 0x7F80, 0x7F7F


def pair_width(context: Context) -> int:
    """How many random bits an element of a pair takes: as many as it loses of an f32."""
    return 16 if context.type.element is ScalarType.BF16 else 13


def emit_pair(code: LaneCode, context: Context, upper: str, lower: str, random: str) -> str:
    """Emits `cvt.rs` of two values into a packed pair, each with random bits of its own."""
    mask = code.splat("i32", (1 << pair_width(context)) - 1)
    above = code.binary("lshr", "i32", random, code.splat("i32", 16))
    words = []
    for value, bits in ((lower, random), (upper, above)):
        part = _rounded(code, context, value, code.binary("and", "i32", bits, mask))
        words.append(code.cast("zext", "i16", part, "i32"))
    high = code.binary("shl", "i32", words[1], code.splat("i32", 16))
    return code.binary("or", "i32", high, words[0])


def emit_four(code: LaneCode, context: Context, *operands: str) -> str:
    """Emits `cvt.rs` of four values into narrow elements of one word."""
    *values, random = operands
    element, lane = context.type.element, f"i{context.type.bits}"
    word = code.splat(lane, 0)
    for place, value in enumerate(reversed(values)):
        bits = _shared_bits(code, random, place >= 2, element is ScalarType.E2M1)
        part = _rounded(code, context, value, bits)
        wide = code.cast("zext", f"i{element.bits}", part, lane)
        placed = code.binary("shl", lane, wide, code.splat(lane, place * element.bits))
        word = code.binary("or", lane, word, placed)
    return word


def _shared_bits(code: LaneCode, random: str, is_upper: bool, is_by_bytes: bool) -> str:
    def op(name: str, a: str, b: int | str) -> str:
        return code.binary(name, "i32", a, code.splat("i32", b) if isinstance(b, int) else b)

    if not is_by_bytes:
        return op("and", op("lshr", random, 16 * is_upper), 0xFFFF)
    moved = op("lshr", random, 8 * is_upper)
    return op("or", op("and", moved, 0xFF), op("and", op("lshr", moved, 8), 0xFF00))


def _rounded(code: LaneCode, context: Context, value: str, random: str) -> str:
    """The code of one element."""
    if "relu" in context.modifiers:
        value = rectified(code, _F32, value)
    element = context.type.element
    if element is ScalarType.BF16:
        bits, largest, infinity = _to_bf16(code, value, random), _BF16_LARGEST, _INFINITY
    else:
        width = pair_width(context) if element is ScalarType.F16 else 16
        bits = to_narrow_at_random(code, value, element, random, width)
        largest = NARROW[element].largest
        infinity = largest + 1
    if element.bits < 16 or "satfinite" not in context.modifiers:
        return bits
    magnitude = code.binary("and", "i16", bits, code.splat("i16", 0x7FFF))
    is_infinite = code.binary("icmp eq", "i16", magnitude, code.splat("i16", infinity))
    sign = code.binary("and", "i16", bits, code.splat("i16", 0x8000))
    limit = code.binary("or", "i16", sign, code.splat("i16", largest))
    return code.select("i16", is_infinite, limit, bits)


def _to_bf16(code: LaneCode, value: str, random: str) -> str:
    bits = code.cast("bitcast", "float", value, "i32")
    magnitude = code.binary("and", "i32", bits, code.splat("i32", 0x7FFFFFFF))
    infinity = code.splat("i32", _INFINITY << 16)
    is_finite = code.binary("icmp ult", "i32", magnitude, infinity)
    moved = code.select("i32", is_finite, code.binary("add", "i32", bits, random), bits)
    top = code.binary("lshr", "i32", moved, code.splat("i32", 16))
    is_nan = code.binary("fcmp uno", "float", value, value)
    nan = code.splat("i16", BF16_NAN)
    return code.select("i16", is_nan, nan, code.cast("trunc", "i32", top, "i16"))
