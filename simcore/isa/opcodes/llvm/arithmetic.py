"""Integer and floating-point arithmetic as LLVM IR: the twin of `arithmetic`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.opcodes.llvm.rounding import (
    float_operation,
    llvm_float_modes,
    narrowed,
    widened,
)
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "emit_abs",
    "emit_add",
    "emit_copysign",
    "emit_div",
    "emit_fma",
    "emit_mul",
    "emit_neg",
    "emit_rem",
    "emit_sad",
    "emit_sub",
    "extremum_emission",
    "integer_sum",
]


def integer_sum(code: LaneCode, context: Context, name: str, a: str, b: str) -> str:
    """`add` or `sub`, which wrap around or clamp as `.sat` says."""
    if "sat" not in context.modifiers:
        return code.binary(name, context.type, a, b)
    kind = code.type(context.type)
    sign = "s" if context.type.is_signed else "u"
    return code.intrinsic(f"{sign}{name}.sat", context.type, [(kind, a), (kind, b)])


def _sum(name: str) -> Emission:
    @llvm_float_modes
    def emit(code: LaneCode, context: Context, a: str, b: str) -> str:
        if context.type.is_float:
            return float_operation(code, context, f"f{name}", a, b)
        return integer_sum(code, context, name, a, b)

    return emit


emit_add = _sum("add")
emit_sub = _sum("sub")


@llvm_float_modes
def emit_mul(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `mul` on floating-point operands."""
    return float_operation(code, context, "fmul", a, b)


@llvm_float_modes
def emit_fma(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `fma`."""
    return float_operation(code, context, "fma", a, b, c)


@llvm_float_modes
def emit_div(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `div`; an integer division by zero gives all ones."""
    if context.type.is_float:
        return float_operation(code, context, "fdiv", a, b)
    quotient = _quotient(code, context.type, a, b)
    zero, ones = code.splat(context.type, 0), code.splat(context.type, -1)
    is_zero = code.binary("icmp eq", context.type, b, zero)
    return code.select(context.type, is_zero, ones, quotient)


def emit_rem(code: LaneCode, context: Context, a: str, b: str) -> str:
    """a - quotient*b, which is a itself for a zero divisor, whatever the quotient."""
    product = code.binary("mul", context.type, _quotient(code, context.type, a, b), b)
    return code.binary("sub", context.type, a, product)


def _quotient(code: LaneCode, type_: ScalarType, a: str, b: str) -> str:
    """Truncated towards zero; anything for a zero divisor.

    Vectors of up to 32 bits divide in floating point: the quotient of two integers that are no
    multiple of each other lies further from the next integer than its rounding error.
    """
    kind, one = code.type(type_), code.splat(type_, 1)
    a, b = (code.op(f"freeze {kind} {x}") if x.startswith("%") else x for x in (a, b))
    is_excluded = code.binary("icmp eq", type_, b, code.splat(type_, 0))
    if type_.is_signed:
        # the quotient of the smallest integer by -1 wraps around to itself, as that by 1
        is_minus_one = code.binary("icmp eq", type_, b, code.splat(type_, -1))
        smallest = code.splat(type_, -(1 << (type_.bits - 1)))
        overflows = code.binary(
            "and", "i1", is_minus_one, code.binary("icmp eq", type_, a, smallest)
        )
        is_excluded = code.binary("or", "i1", is_excluded, overflows)
    divisor = code.select(type_, is_excluded, one, b)
    sign = "s" if type_.is_signed else "u"
    if code.lanes == 1 or type_.bits == 64 or not b.startswith("%"):
        return code.binary(f"{sign}div", type_, a, divisor)
    lane = "float" if type_.bits == 16 else "double"
    operands = [code.cast(f"{sign}itofp", type_, x, lane) for x in (a, divisor)]
    return code.cast(f"fpto{sign}i", lane, code.binary("fdiv", lane, *operands), type_)


@llvm_float_modes
def emit_neg(code: LaneCode, context: Context, a: str) -> str:
    """Emits `neg`."""
    type_ = context.type
    if type_.is_float:
        return narrowed(code, type_, _float_unary(code, type_, "fneg", a))
    return code.binary("sub", type_, code.splat(type_, 0), a)


@llvm_float_modes
def emit_abs(code: LaneCode, context: Context, a: str) -> str:
    """Emits `abs`; the smallest signed integer stays as it is."""
    type_, kind = context.type, code.type(context.type)
    if type_.is_float:
        return narrowed(code, type_, _float_unary(code, type_, "fabs", a))
    return code.intrinsic("abs", type_, [(kind, a), ("i1", "false")])


def _float_unary(code: LaneCode, type_: ScalarType, name: str, a: str) -> str:
    """`fneg` or `fabs`, of f16 as `float`."""
    lane = ScalarType.F32 if type_ is ScalarType.F16 else type_
    wide, kind = widened(code, type_, a), code.type(lane)
    return (
        code.op(f"fneg {kind} {wide}")
        if name == "fneg"
        else code.intrinsic(name, lane, [(kind, wide)])
    )


def emit_copysign(code: LaneCode, context: Context, a: str, b: str) -> str:
    """Emits `copysign`: the magnitude of `b` with the sign of `a`, as PTX orders them."""
    kind = code.type(context.type)
    return code.intrinsic("copysign", context.type, [(kind, b), (kind, a)])


def extremum_emission(name: str) -> Emission:
    """`min` or `max` of two or three operands."""

    @llvm_float_modes
    def emit(code: LaneCode, context: Context, *operands: str) -> str:
        type_ = context.type
        if not type_.is_float:
            kind, sign = code.type(type_), "s" if type_.is_signed else "u"
            return code.intrinsic(f"{sign}{name}", type_, [(kind, x) for x in operands])
        lane = "float" if type_ is ScalarType.F16 else LLVM_TYPES[type_]
        kind = code.type(lane)
        wide = [widened(code, type_, operand) for operand in operands]
        values = wide
        if "abs" in context.modifiers:
            values = [code.intrinsic("fabs", lane, [(kind, x)]) for x in wide]
        function = f"{name}imum" if "NaN" in context.modifiers else f"{name}imumnum"
        chosen = values[0]
        for value in values[1:]:
            chosen = code.intrinsic(function, lane, [(kind, chosen), (kind, value)])
        if "xorsign" in context.modifiers:
            chosen = _with_sign_of_product(code, lane, chosen, wide[0], wide[1])
        return narrowed(code, type_, chosen)

    return emit


def _with_sign_of_product(code: LaneCode, lane: str, value: str, a: str, b: str) -> str:
    """Takes the exclusive or of two signs; only its top bit is looked at."""
    integer, kind = {"float": "i32", "double": "i64"}[lane], code.type(lane)
    bits = [code.cast("bitcast", lane, x, integer) for x in (a, b)]
    sign = code.cast("bitcast", integer, code.binary("xor", integer, *bits), lane)
    return code.intrinsic("copysign", lane, [(kind, value), (kind, sign)])


def emit_sad(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `sad`: |a - b| + c."""
    type_ = context.type
    is_less = code.binary(f"icmp {'slt' if type_.is_signed else 'ult'}", type_, a, b)
    differences = [code.binary("sub", type_, x, y) for x, y in ((b, a), (a, b))]
    return code.binary("add", type_, code.select(type_, is_less, *differences), c)
