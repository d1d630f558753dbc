"""Constants of LLVM IR: numbers, aggregates, and expressions over addresses of variables."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.cursor import Cursor, IrProblem
from kernelcast.ptx_frontend.llvm.text.tokens import Token, TokenKind, unquoted
from kernelcast.ptx_frontend.llvm.text.types import (
    ArrayType,
    IntegerIrType,
    IrType,
    PointerType,
    ScalarIrType,
    StructType,
    VectorType,
    component,
    element_offset,
    parts_of,
    size_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["MOST_PARTS", "ConstantReader", "signed"]

MOST_PARTS = 1 << 16
"""The most parts of one constant or variable with contents; no compiler makes more."""
_FLAGS = ("inbounds", "nuw", "nsw", "nusw", "inrange", "exact", "disjoint")
_ZEROS = ("zeroinitializer", "undef", "poison", "null", "none")
_OF_TYPE = ("f0x", "0xH", "0xR")
_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


class ConstantReader:
    """Reads constants after a cursor.

    `address` gives the address of a variable by name; `convert` takes an address from one space to
    another where that needs an instruction, and refuses in initialisers.
    """

    def __init__(
        self,
        cursor: Cursor,
        address: Callable[[str], SymbolAddress],
        convert: Callable[[Operand, PointerType, PointerType], Operand] | None = None,
    ) -> None:
        self.cursor = cursor
        self._address = address
        self._convert = convert

    def typed(self) -> Value:
        """Reads a type and a constant of that type."""
        return self.value(self.cursor.type())

    def value(self, type_: IrType) -> Value:
        """A constant of that type; undefined ones are zero."""
        count = _count(type_)
        token = self.cursor.peek()
        if token.kind is TokenKind.WORD and token.text in _ZEROS:
            self.cursor.take()
            return Value(type_, (Immediate(0),) * count)
        if token.kind is TokenKind.GLOBAL:
            return Value(type_, (self._address(self.cursor.name()),))
        if token.kind is TokenKind.WORD and token.text in _EXPRESSIONS:
            self.cursor.take()
            return Value(type_, (self._expression(token.text, type_),))
        match type_:
            case ScalarIrType():
                return Value(type_, (Immediate(_bits(self.cursor.take(), type_)),))
            case IntegerIrType():
                return Value(type_, self._words(type_))
            case VectorType() | ArrayType() | StructType():
                return self._aggregate(type_)
        raise IrProblem(f"constant {token.text!r} of type {type_} is not supported")

    def _words(self, type_: IntegerIrType) -> tuple[Operand, ...]:
        number = self.cursor.integer() & (1 << type_.bits) - 1
        return tuple(
            Immediate(number >> 64 * index & (1 << 64) - 1) for index in range(type_.words)
        )

    def _aggregate(self, type_: VectorType | ArrayType | StructType) -> Value:
        token = self.cursor.take()
        if token.kind is TokenKind.STRING:
            return Value(type_, tuple(Immediate(byte) for byte in unquoted(token.text)))
        if token.text == "splat" and not isinstance(type_, StructType):
            self.cursor.expect("(")
            element = self.typed()
            self.cursor.expect(")")
            return Value(type_, element.parts * type_.count)
        if token.text not in ("<", "[", "{"):
            raise IrProblem(f"constant {token.text!r} of type {type_} is not supported")
        closing = {"<": ">", "[": "]", "{": "}"}[token.text]
        if token.text == "<" and self.cursor.accept("{"):
            closing = "}>"
        parts: list[Operand] = []
        while not self.cursor.accept(closing[0]):
            if parts:
                self.cursor.expect(",")
            parts.extend(self.typed().parts)
        for sign in closing[1:]:
            self.cursor.expect(sign)
        return Value(type_, tuple(parts))

    def _expression(self, opcode: str, type_: IrType) -> Operand:
        cursor = self.cursor
        while flag := cursor.accept(*_FLAGS):
            if flag == "inrange":
                cursor.skip_group()
        cursor.expect("(")
        if opcode == "getelementptr":
            result = self._element_pointer()
        elif opcode in ("add", "sub", "xor"):
            first = self.typed().parts[0]
            cursor.expect(",")
            result = _combined(opcode, first, self.typed().parts[0], type_)
        else:
            source = self.typed()
            cursor.expect("to")
            target = cursor.type()
            result = self._cast(opcode, source, target)
        cursor.expect(")")
        return result

    def _cast(self, opcode: str, source: Value, target: IrType) -> Operand:
        (operand,) = source.parts
        if isinstance(operand, Immediate):
            bits = 64 if isinstance(target, PointerType) else _width(target)
            return Immediate(operand.bits & (1 << bits) - 1)
        if opcode == "addrspacecast" and isinstance(source.type, PointerType):
            assert isinstance(target, PointerType)
            is_generic = target.address_space is AddressSpace.GENERIC
            if is_generic and source.type.address_space is AddressSpace.GLOBAL:
                return operand
            if self._convert is not None:
                return self._convert(operand, source.type, target)
        elif isinstance(target, PointerType) or target is ScalarIrType.I64:
            return operand
        raise IrProblem(f"constant expression {opcode!r} to {target} is not supported")

    def _element_pointer(self) -> Operand:
        cursor = self.cursor
        type_: IrType = cursor.type()
        cursor.expect(",")
        (base,) = self.typed().parts
        offset, is_first = 0, True
        while cursor.accept(","):
            cursor.skip_words(*_FLAGS)
            index = self.typed()
            number = signed(index.parts[0], _width(index.type))
            if is_first:
                offset += number * size_of(type_)
                is_first = False
                continue
            inner = component(type_, number)
            if inner is None:
                raise IrProblem(f"no element {number} of {type_}", False)
            offset += element_offset(type_, number)
            type_ = inner
        return _moved(base, offset)


_EXPRESSIONS = (
    *("getelementptr", "bitcast", "addrspacecast", "inttoptr", "ptrtoint", "trunc"),
    *("add", "sub", "xor"),
)


def signed(operand: Operand, bits: int) -> int:
    """The number that a constant of so many bits holds."""
    if not isinstance(operand, Immediate):
        raise IrProblem("an index that is no number is not supported in a constant")
    number = operand.bits & (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def _moved(base: Operand, offset: int) -> Operand:
    if isinstance(base, SymbolAddress):
        return SymbolAddress(base.symbol, base.offset + offset)
    if isinstance(base, Immediate):
        return Immediate((base.bits + offset) & (1 << 64) - 1)
    raise IrProblem("a constant expression over a converted address is not supported")


def _combined(opcode: str, first: Operand, second: Operand, type_: IrType) -> Operand:
    if isinstance(second, Immediate) and isinstance(first, SymbolAddress) and opcode != "xor":
        number = signed(second, _width(type_))
        return _moved(first, number if opcode == "add" else -number)
    raise IrProblem(f"constant expression {opcode!r} is not supported")


def _width(type_: IrType) -> int:
    if isinstance(type_, ScalarIrType) and not type_.is_float:
        return type_.bits
    raise IrProblem(f"a constant expression of type {type_} is not supported")


def _count(type_: IrType) -> int:
    """The number of parts, checked before anything of that size is made."""
    count = 1
    inner = type_
    while isinstance(inner, ArrayType | VectorType):
        count *= inner.count
        inner = inner.element
    if count > MOST_PARTS:
        raise IrProblem(f"a value of type {type_} is not supported: it has too many elements")
    return len(parts_of(type_))


def _bits(token: Token, type_: ScalarIrType) -> int:
    text = token.text
    if text in ("true", "false"):
        return int(text == "true")
    try:
        if type_.is_float:
            return _float_bits(text, type_)
        return int(text) & (1 << type_.bits) - 1
    except (ValueError, OverflowError, struct.error):
        raise IrProblem(f"expected a value of type {type_}, found {text!r}", False) from None


def _float_bits(text: str, type_: ScalarIrType) -> int:
    """Hexadecimal numbers are those of a double, or of the type itself after a prefix."""
    if text.startswith(_OF_TYPE):
        return int(text[3:], 16)
    if type_ is ScalarIrType.BFLOAT:
        return _float_bits(text, ScalarIrType.FLOAT) >> 16
    number, as_bits = _FORMATS[type_.bits]
    if text.startswith("0x"):
        raw = int(text[2:], 16)
        if type_ is ScalarIrType.DOUBLE:
            return raw
        (value,) = struct.unpack("<d", struct.pack("<Q", raw))
        if math.isnan(value):
            return _narrow_nan(raw, type_)
    else:
        value = float(text)
    return int(struct.unpack(as_bits, struct.pack(number, value))[0])


def _narrow_nan(raw: int, type_: ScalarIrType) -> int:
    """The NaN with the same upper bits."""
    exponent, fraction = {16: (0x1F, 10), 32: (0xFF, 23)}[type_.bits]
    payload = (raw & (1 << 52) - 1) >> (52 - fraction)
    sign = raw >> 63
    return (sign << (type_.bits - 1)) | (exponent << fraction) | (payload or 1 << (fraction - 1))
