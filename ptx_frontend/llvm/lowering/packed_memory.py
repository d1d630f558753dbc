"""Values in memory whose parts are no whole bytes: vectors of bits, integers of odd widths.

Their bits lie one after the other, in as few bytes as hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.memory_place import MemoryPlace
from kernelcast.ptx_frontend.llvm.lowering.wide_integers import masked_words
from kernelcast.ptx_frontend.llvm.text.types import (
    ArrayType,
    IntegerIrType,
    IrType,
    ScalarIrType,
    StructType,
    VectorType,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["has_packed", "is_packed", "load_packed", "store_packed"]

_WORD, _WORD_BYTES = 64, 8


def is_packed(type_: IrType) -> bool:
    """Whether values of the type have parts that are no whole bytes."""
    if isinstance(type_, VectorType):
        return type_.element is ScalarIrType.I1
    return isinstance(type_, IntegerIrType)


def has_packed(type_: IrType) -> bool:
    """Whether there is such a value in an aggregate."""
    match type_:
        case ArrayType():
            return has_packed(type_.element)
        case StructType():
            return any(map(has_packed, type_.fields))
    return is_packed(type_)


def load_packed(
    code: Code, type_: IrType, place: MemoryPlace, counts_as: str
) -> tuple[Operand, ...]:
    """The parts; the first access counts as `counts_as`, if that is given."""
    integer = _integer(type_)
    words: list[Register] = []
    if counts_as:
        code.begin(counts_as)
    for offset, size in _pieces(integer.bytes, place.align):
        piece = code.register(max(16, 8 * size))
        kind = ScalarType.named(f"u{8 * size}")
        code.load(kind, place.address(code, offset), (piece,), volatile=place.is_volatile)
        wide = piece
        if size < _WORD_BYTES:
            wide = code.compute(f"cvt.u64.u{8 * size}", _WORD, piece)
        shift = 8 * (offset % _WORD_BYTES)
        if shift:
            moved = code.compute("shl.b64", _WORD, wide, Immediate(shift))
            words[-1] = code.compute("or.b64", _WORD, words[-1], moved)
        else:
            words.append(wide)
    parts = masked_words(code, words, integer)
    return parts if isinstance(type_, IntegerIrType) else _truths(code, integer.bits, parts)


def store_packed(code: Code, value: Value, place: MemoryPlace, counts_as: str) -> None:
    """Writes a packed value to memory, in pieces as aligned as `load_packed` reads them."""
    integer, words = _integer(value.type), value.parts
    if not isinstance(value.type, IntegerIrType):
        words = _gathered(code, words)
    pieces = []
    for offset, size in _pieces(integer.bytes, place.align):
        piece = words[offset // _WORD_BYTES]
        shift = 8 * (offset % _WORD_BYTES)
        if shift:
            piece = code.compute("shr.u64", _WORD, piece, Immediate(shift))
        if size < _WORD_BYTES:
            width = max(16, 8 * size)
            piece = code.compute(f"cvt.u{width}.u64", width, piece)
        pieces.append((offset, size, piece))
    if counts_as:
        code.begin(counts_as)
    for offset, size, piece in pieces:
        kind = ScalarType.named(f"u{8 * size}")
        code.store(kind, place.address(code, offset), (piece,), volatile=place.is_volatile)


def _integer(type_: IrType) -> IntegerIrType:
    """The integer with the same bits."""
    if isinstance(type_, IntegerIrType):
        return type_
    assert isinstance(type_, VectorType)
    return IntegerIrType(type_.count)


def _pieces(size: int, align: int) -> Iterator[tuple[int, int]]:
    """Offset and size of the accesses that cover so many bytes."""
    offset, piece = 0, min(align, _WORD_BYTES)
    while offset < size:
        while offset + piece > size:
            piece //= 2
        yield offset, piece
        offset += piece


def _truths(code: Code, count: int, words: Sequence[Operand]) -> tuple[Operand, ...]:
    found = []
    for number in range(count):
        mask = Immediate(1 << number % _WORD)
        bit = code.compute("and.b64", _WORD, words[number // _WORD], mask)
        found.append(code.compute("setp.ne.u64", 1, bit, Immediate(0)))
    return tuple(found)


def _gathered(code: Code, truths: Sequence[Operand]) -> tuple[Operand, ...]:
    words: list[Register] = []
    for number, truth in enumerate(truths):
        bit = code.compute("selp.b64", _WORD, Immediate(1 << number % _WORD), Immediate(0), truth)
        if number % _WORD:
            words[-1] = code.compute("or.b64", _WORD, words[-1], bit)
        else:
            words.append(bit)
    return tuple(words)
