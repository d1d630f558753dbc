"""OpenCL's mathematical functions as LLVM IR: the twin of `opencl_math`."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.simcore.isa.numerics.double_formulas import Double, Formula, LlvmArithmetic
from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.opcodes.table import Context, Emission

__all__ = ["emit_nextafter", "formula_emission"]


def formula_emission(formula: Callable[[Context], Formula], signature: str) -> Emission:
    """The formula of operands as `double`; `u` stands for an s32, `t` for the type."""
    results, letters = signature.split("=")

    def emit(code: LaneCode, context: Context, *operands: str) -> str | tuple[str, ...]:
        arithmetic = LlvmArithmetic(code)
        values = [
            Double(arithmetic, _double(code, context, operand, letter))
            for operand, letter in zip(operands, letters, strict=True)
        ]
        found = formula(context)(*values)
        parts = found if isinstance(found, tuple) else (found,)
        kept = tuple(
            _result(code, context, part.value, letter)
            for part, letter in zip(parts, results, strict=True)
        )
        return kept if len(kept) > 1 else kept[0]

    return emit


def _double(code: LaneCode, context: Context, value: str, letter: str) -> str:
    if letter == "u":
        return code.cast("sitofp", "i32", value, "double")
    return code.cast("fpext", context.type, value, "double")


def _result(code: LaneCode, context: Context, value: str, letter: str) -> str:
    if letter == "t":
        return code.cast("fptrunc", "double", value, context.type)
    suffix = f"{code.mangle('i32')}.{code.mangle('double')}"
    return code.intrinsic("fptosi.sat", "i32", [(code.type("double"), value)], suffix)


def emit_nextafter(code: LaneCode, context: Context, a: str, b: str) -> str:
    """One more or one less as bits; from zero to the smallest number of the sign of b."""
    lane, integer, width = LLVM_TYPES[context.type], f"i{context.type.bits}", context.type.bits
    bits, other = (code.cast("bitcast", lane, x, integer) for x in (a, b))
    zero, one, minus_one = (code.splat(integer, x) for x in (0, 1, -1))
    is_negative = code.binary("icmp slt", integer, bits, zero)
    rises = code.binary("fcmp olt", lane, a, b)
    grows = code.binary("xor", "i1", rises, is_negative)
    step = code.select(integer, grows, one, minus_one)
    moved = code.binary("add", integer, bits, step)
    sign = code.binary("and", integer, other, code.splat(integer, -(1 << (width - 1))))
    smallest = code.binary("or", integer, sign, one)
    is_zero = code.binary("fcmp oeq", lane, a, code.real(lane, 0.0))
    moved = code.select(integer, is_zero, smallest, moved)
    moved = code.select(integer, code.binary("fcmp oeq", lane, a, b), other, moved)
    result = code.cast("bitcast", integer, moved, lane)
    is_nan = code.binary("fcmp uno", lane, a, b)
    return code.select(lane, is_nan, code.binary("fadd", lane, a, b), result)
