"""Moves values of any type between registers and memory, by accesses that are aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.memory_place import MemoryPlace
from kernelcast.ptx_frontend.llvm.lowering.packed_memory import (
    has_packed,
    is_packed,
    load_packed,
    store_packed,
)
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import (
    IrType,
    PointerType,
    ScalarIrType,
    leaves_of,
)
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["MemoryPlace", "load_value", "store_value"]

_WIDEST_BYTES = 16
_MOST_ELEMENTS = 4
_Part = ScalarIrType | PointerType


@dataclass(frozen=True, slots=True)
class _Access:
    """Parts `first` to `first + count` of a value, `offset` bytes after its beginning.

    `piece`: for a part that is not aligned, of how many bytes its pieces are; else 0.
    """

    first: int
    count: int
    offset: int
    piece: int = 0


def load_value(
    code: Code, type_: IrType, place: MemoryPlace, counts_as: str = ""
) -> tuple[Operand, ...]:
    """The parts of a value; the first access counts as `counts_as`, if that is given."""
    if is_packed(type_):
        return load_packed(code, type_, place, counts_as)
    leaves = list(leaves_of(type_))
    _check(type_, leaves)
    parts: list[Operand] = []
    for access in _accesses(leaves, place.align):
        address = place.address(code, access.offset)
        part = leaves[access.first][0]
        if counts_as and not access.first:
            code.begin(counts_as)
        if access.piece:
            parts.append(_load_pieces(code, part, address, access.piece))
        else:
            parts.extend(_load(code, part, address, access.count, place.is_volatile))
    return tuple(parts)


def store_value(code: Code, value: Value, place: MemoryPlace, counts_as: str = "") -> None:
    """Writes a value to memory, by accesses that `load_value` would make."""
    if is_packed(value.type):
        store_packed(code, value, place, counts_as)
        return
    leaves = list(leaves_of(value.type))
    _check(value.type, leaves)
    for access in _accesses(leaves, place.align):
        address = place.address(code, access.offset)
        part = leaves[access.first][0]
        sources = value.parts[access.first : access.first + access.count]
        if access.piece:
            pieces = _cut(code, part, sources[0], access.piece)
            type_ = ScalarType.named(f"u{8 * access.piece}")
        else:
            pieces = [tuple(_storable(code, part, source) for source in sources)]
            type_ = _memory_type(part)
        for number, piece in enumerate(pieces):
            if counts_as and not access.first and not number:
                code.begin(counts_as)
            distance = access.offset + number * access.piece
            at = place.address(code, distance) if number else address
            code.store(type_, at, piece, volatile=place.is_volatile)


def _check(type_: IrType, leaves: Sequence[tuple[_Part, int]]) -> None:
    if has_packed(type_):
        raise IrProblem(f"values of type {type_} in memory are not supported")
    if not leaves:
        raise IrProblem(f"values of type {type_} in memory are not supported")


def _accesses(leaves: Sequence[tuple[_Part, int]], align: int) -> Iterator[_Access]:
    """The fewest accesses that alignment, neighbourhood and width allow, in ascending order."""
    position = 0
    while position < len(leaves):
        part, offset = leaves[position]
        size = _bytes(part)
        known = min(align, offset & -offset) if offset else align
        if size > known:
            yield _Access(position, 1, offset, known)
            position += 1
            continue
        count = 1
        most = min(_MOST_ELEMENTS, min(known, _WIDEST_BYTES) // size, len(leaves) - position)
        while 2 * count <= most and _is_run(leaves, position, 2 * count, size):
            count *= 2
        yield _Access(position, count, offset)
        position += count


def _is_run(leaves: Sequence[tuple[_Part, int]], first: int, count: int, size: int) -> bool:
    part, offset = leaves[first]
    return all(leaves[first + number] == (part, offset + number * size) for number in range(count))


def _bytes(part: _Part) -> int:
    return 8 if isinstance(part, PointerType) else part.bytes


def _memory_type(part: _Part) -> ScalarType:
    """A byte is loaded without its sign; a truth value is a byte."""
    if isinstance(part, PointerType):
        return ScalarType.B64
    if part.bytes == 1:
        return ScalarType.U8
    return part.as_scalar("b")


def _load(
    code: Code, part: _Part, address: Address, count: int, volatile: bool
) -> tuple[Register, ...]:
    is_truth = part is ScalarIrType.I1
    width = 16 if is_truth else register_bits(part)
    loaded = tuple(code.register(width) for _ in range(count))
    code.load(_memory_type(part), address, loaded, volatile=volatile)
    return tuple(_truth(code, register) for register in loaded) if is_truth else loaded


def _truth(code: Code, loaded: Register) -> Register:
    lowest = code.compute("and.b16", 16, loaded, Immediate(1))
    return code.compute("setp.ne.u16", 1, lowest, Immediate(0))


def _storable(code: Code, part: _Part, source: Operand) -> Operand:
    if part is not ScalarIrType.I1:
        return source
    return code.compute("selp.b16", 16, Immediate(1), Immediate(0), source)


def _load_pieces(code: Code, part: _Part, address: Address, size: int) -> Register:
    """A number in pieces of so many bytes, joined."""
    bits, width = 8 * size, register_bits(part)
    type_ = ScalarType.named(f"u{bits}")
    joined: Register | None = None
    for number in range(_bytes(part) // size):
        at = Address(address.space, address.base, address.offset + number * size)
        wide = code.register(max(16, bits))
        code.load(type_, at, (wide,))
        if wide.bits != width:
            wide = code.compute(f"cvt.u{width}.u{wide.bits}", width, wide)
        if joined is None:
            joined = wide
        else:
            moved = code.compute(f"shl.b{width}", width, wide, Immediate(number * bits))
            joined = code.compute(f"or.b{width}", width, joined, moved)
    assert joined is not None
    return joined


def _cut(code: Code, part: _Part, source: Operand, size: int) -> list[tuple[Operand, ...]]:
    """A number as pieces of so many bytes, the lowest first."""
    bits, width = 8 * size, register_bits(part)
    narrow = max(16, bits)
    pieces: list[tuple[Operand, ...]] = []
    for number in range(_bytes(part) // size):
        piece = source
        if number:
            piece = code.compute(f"shr.u{width}", width, source, Immediate(number * bits))
        if narrow != width:
            piece = code.compute(f"cvt.u{narrow}.u{width}", narrow, piece)
        pieces.append((piece,))
    return pieces
