"""Rounding, flushing of subnormals and saturation as LLVM IR: the twin of `rounding`.

f16 is computed in `float`, which rounds every sum, product, quotient and root of two f16 twice
without harm, and `fma` in `double`. No operation calls a library.
"""

from __future__ import annotations

from functools import wraps

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.numerics.packed import TO_ODD
from kernelcast.simcore.isa.opcodes.llvm.packed import element_by_element, in_single_precision
from kernelcast.simcore.isa.opcodes.rounding import directed_mode
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "converted",
    "float_operation",
    "flushed",
    "llvm_float_modes",
    "llvm_modes_of_normal_results",
    "narrowed",
    "rectified",
    "saturated",
    "toward",
    "widened",
]

_SMALLEST_NORMAL = {16: 0x0400, 32: 0x00800000, 64: 0x0010000000000000}
_BITS = {"half": 16, "float": 32, "double": 64}


def widened(code: LaneCode, type_: ScalarType, value: str) -> str:
    """f16 as `float`; other types as they are."""
    return code.cast("fpext", "half", value, "float") if type_ is ScalarType.F16 else value


def narrowed(code: LaneCode, type_: ScalarType, value: str) -> str:
    """The inverse of `widened`, rounded to nearest even."""
    return code.cast("fptrunc", "float", value, "half") if type_ is ScalarType.F16 else value


def _sticky_float(code: LaneCode, value: str) -> str:
    """`double` to `float`, rounded to odd: rounding on to f16 is then as if done once."""
    near = code.cast("fptrunc", "double", value, "float")
    back = code.cast("fpext", "float", near, "double")
    magnitudes = [
        code.intrinsic("fabs", "double", [(code.type("double"), x)]) for x in (back, value)
    ]
    is_above = code.binary("fcmp ogt", "double", *magnitudes)
    is_inexact = code.binary("fcmp one", "double", *magnitudes)
    bits = code.cast("bitcast", "float", near, "i32")
    step = code.cast("zext", "i1", is_above, "i32")
    truncated = code.binary("sub", "i32", bits, step)
    sticky = code.cast("zext", "i1", is_inexact, "i32")
    return code.cast("bitcast", "i32", code.binary("or", "i32", truncated, sticky), "float")


def converted(code: LaneCode, source: str, value: str, target: str, mode: str = "") -> str:
    """Emits a conversion between `half`, `float` and `double`, rounded once as `mode` says."""
    if _BITS[source] <= _BITS[target]:
        if (source, target) == ("half", "double"):
            value, source = code.cast("fpext", source, value, "float"), "float"
        return code.cast("fpext", source, value, target)
    near = value
    if (source, target) == ("double", "half"):
        near = code.cast("fptrunc", "float", _sticky_float(code, value), target)
    else:
        near = code.cast("fptrunc", source, value, target)
    if not mode:
        return near
    back = converted(code, target, near, source)
    is_below = code.binary("fcmp olt", source, back, value)
    is_above = code.binary("fcmp ogt", source, back, value)
    return toward(code, target, near, is_below, is_above, mode)


def toward(code: LaneCode, lane: str, near: str, is_below: str, is_above: str, mode: str) -> str:
    """The neighbour of `near` that `mode` asks for.

    `is_below` and `is_above` compare it with the exact value. Adding one to the bits of a number
    goes away from zero, taking one towards it.
    """
    integer = f"i{_BITS[lane]}"
    bits = code.cast("bitcast", lane, near, integer)
    zero, one, minus_one = (code.splat(integer, x) for x in (0, 1, -1))
    is_negative = code.binary("icmp slt", integer, bits, zero)
    up = code.select(integer, is_negative, minus_one, one)
    down = code.select(integer, is_negative, one, minus_one)
    if mode == TO_ODD:
        is_inside = code.select("i1", is_negative, is_above, is_below)
        is_even = code.binary("icmp eq", integer, code.binary("and", integer, bits, one), zero)
        is_inexact = code.binary("or", "i1", is_below, is_above)
        is_moved = code.binary("and", "i1", is_even, is_inexact)
        step = code.select(integer, is_inside, one, minus_one)
        step = code.select(integer, is_moved, step, zero)
    elif mode == "rp":
        step = code.select(integer, is_below, up, zero)
    elif mode == "rm":
        step = code.select(integer, is_above, down, zero)
    else:
        is_outside = code.select("i1", is_negative, is_below, is_above)
        step = code.select(integer, is_outside, minus_one, zero)
    return code.cast("bitcast", integer, code.binary("add", integer, bits, step), lane)


def float_operation(code: LaneCode, context: Context, operation: str, *operands: str) -> str:
    """`fadd`, `fsub`, `fmul`, `fdiv`, `fma` or `sqrt`, rounded once as the context says."""
    type_, mode = context.type, directed_mode(context)
    if operation == "fma" and TO_ODD in context.modifiers:
        return _fma_to_odd(code, operands)
    if type_ is not ScalarType.F16:
        return _rounded_operation(code, LLVM_TYPES[type_], operation, operands, mode)
    lane = "double" if operation == "fma" else "float"
    wide = [converted(code, "half", operand, lane) for operand in operands]
    if operation == "fma":
        # the product is exact, so that only the sum rounds
        product = code.binary("fmul", lane, wide[0], wide[1])
        operation, wide = "fadd", [product, wide[2]]
    # rounding twice in the same direction is rounding once
    return converted(
        code, lane, _rounded_operation(code, lane, operation, tuple(wide), mode), "half", mode
    )


def _fma_to_odd(code: LaneCode, operands: tuple[str, ...]) -> str:
    """Emits a sum rounded to odd, of a product exact in `double`, from the sum and its error."""

    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "double", x, y)

    a, b, c = (code.cast("fpext", "float", operand, "double") for operand in operands)
    product, zero = op("fmul", a, b), code.real("double", 0.0)
    total = op("fadd", product, c)
    back = op("fsub", total, product)
    # Knuth's exact error of a sum
    error = op("fadd", op("fsub", product, op("fsub", total, back)), op("fsub", c, back))
    signs = (op("fcmp ogt", error, zero), op("fcmp olt", error, zero))
    odd = toward(code, "double", total, *signs, TO_ODD)
    return converted(code, "double", odd, "float", TO_ODD)


def _rounded_operation(
    code: LaneCode, lane: str, operation: str, operands: tuple[str, ...], mode: str
) -> str:
    if mode:
        return code.directed(lane, operation, operands, mode)
    if operation in ("fma", "sqrt"):
        return code.intrinsic(operation, lane, [(code.type(lane), x) for x in operands])
    return code.binary(operation, lane, *operands)


def flushed(code: LaneCode, type_: ScalarType, value: str) -> str:
    """Subnormals become zeros of their sign."""
    integer, width = f"i{type_.bits}", type_.bits
    bits = code.cast("bitcast", type_, value, integer)
    magnitude = code.binary("and", integer, bits, code.splat(integer, (1 << (width - 1)) - 1))
    tiny = code.splat(integer, _SMALLEST_NORMAL[width])
    is_small = code.binary("icmp ult", integer, magnitude, tiny)
    sign = code.binary("and", integer, bits, code.splat(integer, -(1 << (width - 1))))
    return code.cast("bitcast", integer, code.select(integer, is_small, sign, bits), type_)


def saturated(code: LaneCode, type_: ScalarType, value: str) -> str:
    """Clamps to [0, 1]; NaN and -0 become +0."""
    lane = "float" if type_ is ScalarType.F16 else LLVM_TYPES[type_]
    wide = widened(code, type_, value)
    zero, one = code.real(lane, 0.0), code.real(lane, 1.0)
    positive = code.select(lane, code.binary("fcmp ogt", lane, wide, zero), wide, zero)
    clamped = code.select(lane, code.binary("fcmp olt", lane, positive, one), positive, one)
    return narrowed(code, type_, clamped)


def rectified(code: LaneCode, type_: ScalarType, value: str) -> str:
    """`.relu`: negative results become +0, and so does -0; NaN stays."""
    if not type_.is_float:
        kind = code.type(type_)
        return code.intrinsic("smax", type_, [(kind, value), (kind, code.splat(type_, 0))])
    lane = "float" if type_ is ScalarType.F16 else LLVM_TYPES[type_]
    zero = code.real(lane, 0.0)
    is_low = code.binary("fcmp ole", lane, widened(code, type_, value), zero)
    return code.select(type_, is_low, code.real(type_, 0.0), value)


def llvm_float_modes(emit: Emission) -> Emission:
    """Adds packed types, bf16, `.ftz`, `.sat` and `.relu` to an emission.

    `.ftz` applies to floating-point operands and results, `.sat` and `.relu` to results. For
    opcodes whose operands and results all have the instruction's type.
    """
    return _with_modes(emit, may_be_subnormal=True)


def llvm_modes_of_normal_results(emit: Emission) -> Emission:
    """Adds float modes to an emission that makes no subnormal numbers of normal ones."""
    return _with_modes(emit, may_be_subnormal=False)


def _with_modes(emit: Emission, *, may_be_subnormal: bool) -> Emission:
    @element_by_element
    @in_single_precision
    @wraps(emit)
    def with_modes(code: LaneCode, context: Context, *operands: str) -> str | tuple[str, ...]:
        type_, modifiers = context.type, context.modifiers
        if not type_.is_float:
            plain = emit(code, context, *operands)
            assert isinstance(plain, str)
            return rectified(code, type_, plain) if "relu" in modifiers else plain
        flushes = "ftz" in modifiers
        result = emit(code, context, *(flushed(code, type_, x) if flushes else x for x in operands))
        assert isinstance(result, str)
        if flushes and may_be_subnormal:
            result = flushed(code, type_, result)
        if "relu" in modifiers:
            result = rectified(code, type_, result)
        return saturated(code, type_, result) if "sat" in modifiers else result

    return with_modes
