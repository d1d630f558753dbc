"""Casts from and to integers of widths that registers have not."""

from __future__ import annotations

from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.number_conversions import (
    NUMBER_CONVERSIONS,
    sign_extend,
    truncate,
    zero_extend,
)
from kernelcast.ptx_frontend.llvm.lowering.wide_integers import (
    Words,
    extended_words,
    masked_words,
    sign_extended,
)
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import IntegerIrType, IrType, ScalarIrType
from kernelcast.simcore.isa.ir.kernel import Operand

__all__ = ["converted_words"]

_LONG = ScalarIrType.I64
_FROM_SIGNED = ("sext", "sitofp")
_RESIZING = ("trunc", "zext", "sext")


def converted_words(
    code: Code, opcode: str, source: IrType, parts: Words, target: IrType
) -> tuple[Operand, ...]:
    """The parts of the target; IrProblem for floats from or to more than 64 bits."""
    if opcode in ("fptoui", "fptosi") and isinstance(target, IntegerIrType):
        number = _checked(source, source)
        whole = NUMBER_CONVERSIONS[opcode](code, parts[0], number, _LONG)
        return masked_words(code, (whole,), _checked_words(target, source))
    is_signed = opcode in _FROM_SIGNED
    words = _words(code, source, parts, is_signed)
    if isinstance(target, IntegerIrType):
        return masked_words(code, extended_words(code, words, target.words, is_signed), target)
    wanted = _checked(target, source)
    if opcode in _RESIZING:
        if wanted is _LONG:
            return (words[0],)
        return (truncate(code, words[0], _LONG, wanted),)
    if isinstance(source, IntegerIrType):
        _checked_words(source, target)
    return (NUMBER_CONVERSIONS[opcode](code, words[0], _LONG, wanted),)


def _words(code: Code, type_: IrType, parts: Words, is_signed: bool) -> Words:
    if isinstance(type_, IntegerIrType):
        return sign_extended(code, parts, type_) if is_signed else parts
    number = _checked(type_, type_)
    if number is _LONG:
        return parts
    extend = sign_extend if is_signed else zero_extend
    return (extend(code, parts[0], number, _LONG),)


def _checked(type_: IrType, other: IrType) -> ScalarIrType:
    if not isinstance(type_, ScalarIrType):
        raise IrProblem(f"a conversion from {other} to {type_} is not supported")
    return type_


def _checked_words(type_: IntegerIrType, other: IrType) -> IntegerIrType:
    if type_.words > 1:
        raise IrProblem(f"a conversion between {type_} and {other} is not supported")
    return type_
