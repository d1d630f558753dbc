"""Integer products as LLVM IR: the twin of `multiplication`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.arithmetic import integer_sum
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "emit_mad24_hi",
    "emit_mad24_lo",
    "emit_mad_hi",
    "emit_mad_lo",
    "emit_mad_wide",
    "emit_mul24_hi",
    "emit_mul24_lo",
    "emit_mul_hi",
    "emit_mul_lo",
    "emit_mul_wide",
]


def emit_mul_lo(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `mul.lo`: the lower half of an integer product."""
    return code.binary("mul", context.type, a, b)


def emit_mul_hi(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `mul.hi`: the upper half of an integer product."""
    bits = context.type.bits
    if bits == 64 and code.lanes > 1:
        return _high_64(code, context.type, a, b)
    high = code.binary("lshr", f"i{2 * bits}", _wide(code, context.type, a, b), _count(code, bits))
    return code.cast("trunc", f"i{2 * bits}", high, context.type)


def _count(code: LaneCode, bits: int) -> str:
    return code.splat(f"i{2 * bits}", bits)


def emit_mul_wide(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `mul.wide`: an integer product of twice the width."""
    return _wide(code, context.type, a, b)


def emit_mad_lo(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `mad.lo`: the lower half of a product, plus `c`."""
    return code.binary("add", context.type, code.binary("mul", context.type, a, b), c)


def emit_mad_hi(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `mad.hi`: the upper half of a product plus `c`, saturated with `.sat`."""
    return integer_sum(code, context, "add", emit_mul_hi(code, context, a, b), c)


def emit_mad_wide(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `mad.wide`: a product of twice the width, plus `c` of that width."""
    return code.binary("add", context.type.doubled, _wide(code, context.type, a, b), c)


def emit_mul24_lo(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `mul24.lo`: the lower 32 bits of a product of 24-bit integers."""
    return code.binary("mul", context.type, *_low_24(code, context.type, a, b))


def emit_mul24_hi(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `mul24.hi`: bits 16 to 47 of a product of 24-bit integers."""
    product = _wide(code, context.type, *_low_24(code, context.type, a, b))
    return code.cast(
        "trunc", "i64", code.binary("lshr", "i64", product, code.splat("i64", 16)), "i32"
    )


def emit_mad24_lo(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `mad24.lo`: `mul24.lo` plus `c`."""
    return code.binary("add", context.type, emit_mul24_lo(code, context, a, b), c)


def emit_mad24_hi(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `mad24.hi`: `mul24.hi` plus `c`, saturated with `.sat`."""
    return integer_sum(code, context, "add", emit_mul24_hi(code, context, a, b), c)


def _wide(code: LaneCode, type_: ScalarType, a: str, b: str) -> str:
    """The exact product, twice as wide."""
    extend, wide = "sext" if type_.is_signed else "zext", f"i{2 * type_.bits}"
    return code.binary("mul", wide, *(code.cast(extend, type_, x, wide) for x in (a, b)))


def _low_24(code: LaneCode, type_: ScalarType, *operands: str) -> list[str]:
    """The low 24 bits, extended as the type says."""
    eight, shift = code.splat(type_, 8), "ashr" if type_.is_signed else "lshr"
    tops = [code.binary("shl", type_, operand, eight) for operand in operands]
    return [code.binary(shift, type_, top, eight) for top in tops]


def _high_64(code: LaneCode, type_: ScalarType, a: str, b: str) -> str:
    """The upper half of the 128-bit product from products of 32-bit halves, lane by lane alike."""

    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "i64", x, y)

    mask, half = code.splat("i64", 0xFFFFFFFF), code.splat("i64", 32)
    low_a, low_b = op("and", a, mask), op("and", b, mask)
    high_a, high_b = op("lshr", a, half), op("lshr", b, half)
    lowest = op("lshr", op("mul", low_a, low_b), half)
    middle = op("add", op("mul", high_a, low_b), lowest)
    other = op("add", op("mul", low_a, high_b), op("and", middle, mask))
    carries = op("add", op("lshr", middle, half), op("lshr", other, half))
    high = op("add", op("mul", high_a, high_b), carries)
    if type_.is_signed:
        # a negative operand stands for itself plus 2**64: the other one is too much in the result
        sign = code.splat("i64", 63)
        for negative, excess in ((a, b), (b, a)):
            high = op("sub", high, op("and", op("ashr", negative, sign), excess))
    return high
