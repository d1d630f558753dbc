"""Casts: between widths, kinds of numbers, pointers, and readings of the same bits."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.llvm.lowering.arithmetic import FAST_MATH, element_of
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.constant_parts import extended
from kernelcast.ptx_frontend.llvm.lowering.number_conversions import (
    NUMBER_CONVERSIONS,
    truncate,
    zero_extend,
)
from kernelcast.ptx_frontend.llvm.lowering.scope import Site
from kernelcast.ptx_frontend.llvm.lowering.wide_conversions import converted_words
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import (
    IntegerIrType,
    IrType,
    PointerType,
    ScalarIrType,
    parts_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["CONVERSIONS", "from_words", "to_words"]

_FLAGS = ("nuw", "nsw", "nneg", "samesign", *FAST_MATH)
_WORD = 64


def _cast(site: Site) -> tuple[IrType, tuple[Operand, ...], IrType]:
    site.cursor.skip_words(*_FLAGS)
    value = site.argument(site.cursor.type())
    site.cursor.expect("to")
    return value.type, value.parts, site.cursor.type()


def _number(site: Site) -> None:
    type_, parts, target_type = _cast(site)
    if isinstance(type_, IntegerIrType) or isinstance(target_type, IntegerIrType):
        made = converted_words(site.code, site.opcode, type_, parts, target_type)
        site.result(target_type, made)
        return
    source, target = element_of(type_), element_of(target_type)
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        raise IrProblem(f"{site.opcode} of pointers", False)
    is_index = (type_, target_type) == (ScalarIrType.I32, ScalarIrType.I64)
    if is_index and site.opcode in ("sext", "zext") and isinstance(parts[0], Register):
        site.result(target_type, (extended(site, site.opcode, parts[0]),))
        return
    convert = NUMBER_CONVERSIONS[site.opcode]
    site.result(target_type, tuple(convert(site.code, x, source, target) for x in parts))


def _pointer_to_integer(site: Site) -> None:
    type_, parts, target_type = _cast(site)
    target = element_of(target_type)
    if not isinstance(target, ScalarIrType) or target.is_float:
        raise IrProblem(f"a conversion from {type_} to {target_type} is not supported")
    code = site.code
    registers = [code.in_register(part, _WORD) for part in parts]
    if target is ScalarIrType.I64:
        site.result(target_type, tuple(registers))
    else:
        made = (truncate(code, part, ScalarIrType.I64, target) for part in registers)
        site.result(target_type, tuple(made))


def _integer_to_pointer(site: Site) -> None:
    type_, parts, target_type = _cast(site)
    source = element_of(type_)
    if not isinstance(source, ScalarIrType) or source.is_float:
        raise IrProblem(f"a conversion from {type_} to {target_type} is not supported")
    if source is not ScalarIrType.I64:
        parts = tuple(zero_extend(site.code, x, source, ScalarIrType.I64) for x in parts)
    site.result(target_type, parts)


def _address_space(site: Site) -> None:
    type_, parts, target_type = _cast(site)
    source, target = element_of(type_), element_of(target_type)
    if not isinstance(source, PointerType) or not isinstance(target, PointerType):
        raise IrProblem("addrspacecast of numbers", False)
    converted = site.scope.kernel.converted
    site.result(target_type, tuple(converted(part, source, target) for part in parts))


def _reading(site: Site) -> None:
    """`bitcast`: the same bits as another type."""
    type_, parts, target_type = _cast(site)
    sources, targets = parts_of(type_), parts_of(target_type)
    if [_bits(x) for x in sources] == [_bits(x) for x in targets]:
        site.result(target_type, parts)
        return
    words = to_words(site.code, parts, sources)
    site.result(target_type, from_words(site.code, words, targets))


def _bits(type_: ScalarIrType | PointerType) -> int:
    return _WORD if isinstance(type_, PointerType) else type_.bits


def to_words(
    code: Code, parts: Sequence[Operand], types: Sequence[ScalarIrType | PointerType]
) -> list[Operand]:
    """Parts side by side, the first in the lowest bits, as words of 64 bits."""
    words: list[Operand] = []
    filled = _WORD
    for part, type_ in zip(parts, types, strict=True):
        bits = _bits(type_)
        wide = _widened(code, part, type_)
        if filled == _WORD:
            words.append(wide)
            filled = 0
        else:
            moved = code.compute("shl.b64", _WORD, wide, Immediate(filled))
            words[-1] = code.compute("or.b64", _WORD, words[-1], moved)
        filled += bits
    return words


def from_words(
    code: Code, words: Sequence[Operand], types: Sequence[ScalarIrType | PointerType]
) -> tuple[Operand, ...]:
    """The parts that words of 64 bits hold side by side."""
    parts: list[Operand] = []
    position = 0
    for type_ in types:
        word, shift = divmod(position, _WORD)
        if word >= len(words):
            raise IrProblem("a bitcast to another size", False)
        part = words[word]
        if shift:
            part = code.compute("shr.u64", _WORD, part, Immediate(shift))
        position += _bits(type_)
        parts.append(_narrowed(code, part, type_))
    return tuple(parts)


def _widened(code: Code, part: Operand, type_: ScalarIrType | PointerType) -> Operand:
    if _bits(type_) == _WORD:
        return part
    assert isinstance(type_, ScalarIrType)
    return zero_extend(code, part, type_, ScalarIrType.I64)


def _narrowed(code: Code, part: Operand, type_: ScalarIrType | PointerType) -> Operand:
    if _bits(type_) == _WORD:
        return part
    integer = {x.bits: x for x in ScalarIrType if not x.is_float}[_bits(type_)]
    return truncate(code, part, ScalarIrType.I64, integer)


CONVERSIONS = {
    **dict.fromkeys(NUMBER_CONVERSIONS, _number),
    "ptrtoint": _pointer_to_integer,
    "inttoptr": _integer_to_pointer,
    "addrspacecast": _address_space,
    "bitcast": _reading,
}
"""How each of these instructions is lowered, by opcode."""
