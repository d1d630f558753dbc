"""Conversions of one number: between widths, and between whole and floating-point numbers."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.lowering.arithmetic import masked, signed_operand
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import ScalarIrType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["NUMBER_CONVERSIONS", "sign_extend", "truncate", "zero_extend"]

Conversion = Callable[[Code, Operand, ScalarIrType, ScalarIrType], Operand]


def truncate(code: Code, part: Operand, source: ScalarIrType, target: ScalarIrType) -> Operand:
    """Emits an integer truncation; to i1 it keeps the lowest bit."""
    bits = source.register_bits
    if target is ScalarIrType.I1:
        lowest = code.compute(f"and.b{bits}", bits, part, Immediate(1))
        return code.compute(f"setp.ne.u{bits}", 1, lowest, Immediate(0))
    narrow = target.register_bits
    made = part
    if narrow != bits:
        made = code.compute(f"cvt.u{narrow}.u{bits}", narrow, part)
    return masked(code, code.in_register(made, narrow), target)


# From 32 to 64 bits both extensions are instructions of the integer unit in native code, which has
# registers of 32 bits: they are written as the products that PTX compilers make of them.


def zero_extend(code: Code, part: Operand, source: ScalarIrType, target: ScalarIrType) -> Operand:
    """Emits a zero extension; 32 to 64 bits as a product with 1, as compilers of GPUs do."""
    bits, wide = source.register_bits, target.register_bits
    if source is ScalarIrType.I1:
        return code.compute(f"selp.b{wide}", wide, Immediate(1), Immediate(0), part)
    if bits == wide:
        return code.compute(f"mov.b{wide}", wide, part)
    if (bits, wide) == (32, 64):
        return code.compute("mul.wide.u32", 64, part, Immediate(1))
    return code.compute(f"cvt.u{wide}.u{bits}", wide, part)


def sign_extend(code: Code, part: Operand, source: ScalarIrType, target: ScalarIrType) -> Operand:
    """Emits a sign extension; 32 to 64 bits as a product with 1, as compilers of GPUs do."""
    wide = target.register_bits
    if source is ScalarIrType.I1:
        ones = Immediate((1 << target.bits) - 1)
        return code.compute(f"selp.b{wide}", wide, ones, Immediate(0), part)
    if (source.bits, wide) == (32, 64):
        return code.compute("mul.wide.s32", 64, part, Immediate(1))
    return code.compute(f"cvt.s{wide}.s{source.bits}", wide, part)


def float_to_float(
    code: Code, part: Operand, source: ScalarIrType, target: ScalarIrType
) -> Operand:
    """Emits a conversion between floating-point types, to nearest where it narrows."""
    rounding = ".rn" if target.bits < source.bits else ""
    mnemonic = f"cvt{rounding}.{target.float_name}.{source.float_name}"
    return code.compute(mnemonic, target.bits, part)


def _float_to_integer(kind: str) -> Conversion:
    def convert(code: Code, part: Operand, source: ScalarIrType, target: ScalarIrType) -> Operand:
        if target is ScalarIrType.I1:
            raise IrProblem(f"a conversion from {source} to {target} is not supported")
        bits = target.register_bits
        made = code.compute(f"cvt.rzi.{kind}{bits}.{source.float_name}", bits, part)
        return masked(code, made, target)

    return convert


def _integer_to_float(kind: str) -> Conversion:
    def convert(code: Code, part: Operand, source: ScalarIrType, target: ScalarIrType) -> Operand:
        if source is ScalarIrType.I1:
            number = Immediate(0xFFFFFFFF if kind == "s" else 1)
            part = code.compute("selp.b32", 32, number, Immediate(0), part)
            source = ScalarIrType.I32
        if kind == "s":
            part = signed_operand(code, part, source)
        bits = source.register_bits
        return code.compute(f"cvt.rn.{target.float_name}.{kind}{bits}", target.bits, part)

    return convert


NUMBER_CONVERSIONS: dict[str, Conversion] = {
    "trunc": truncate,
    "zext": zero_extend,
    "sext": sign_extend,
    "fptrunc": float_to_float,
    "fpext": float_to_float,
    "fptoui": _float_to_integer("u"),
    "fptosi": _float_to_integer("s"),
    "uitofp": _integer_to_float("u"),
    "sitofp": _integer_to_float("s"),
}
"""Conversions by opcode: (code, number, its type, the wanted type) -> the number."""
