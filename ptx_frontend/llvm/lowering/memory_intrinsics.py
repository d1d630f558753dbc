"""`llvm.memcpy`, `llvm.memmove` and `llvm.memset`: short ones written out, others as loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import PointerType
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["copy_memory", "set_memory"]

_MOST_WRITTEN_OUT = 64
"""Accesses of one call."""
_WIDEST_BYTES = 8
_Body = Callable[[Register, int], None]
"""Writes what is done at an offset, with so many bytes."""


def _pointer(value: Value) -> tuple[AddressSpace, Operand]:
    if isinstance(value.type, PointerType) and value.type.address_space is not None:
        return value.type.address_space, value.parts[0]
    raise IrProblem(f"memory of type {value.type} is not supported")


def _pieces(length: int, align: int) -> Iterator[tuple[int, int]]:
    """Offset and size of the accesses that cover so many bytes; sizes only fall."""
    offset, size = 0, min(align, _WIDEST_BYTES)
    while offset < length:
        while offset + size > length:
            size //= 2
        yield offset, size
        offset += size


def _type(size: int) -> ScalarType:
    return ScalarType.named(f"u{8 * size}")


def copy_memory(site: CallSite) -> None:
    """Copies by accesses as wide as both alignments allow; short ones are read first."""
    code = site.code
    (to_space, to), (from_space, source) = map(_pointer, site.arguments[:2])
    align = min(site.alignments[:2])
    length = site.arguments[2].parts[0]
    pieces = _written_out(length, align)
    if pieces is None:

        def copy(offset: Register, size: int) -> None:
            register = code.register(max(16, 8 * size))
            code.load(_type(size), _moved(code, from_space, source, offset), (register,))
            code.store(_type(size), _moved(code, to_space, to, offset), (register,))

        end = _long(code, length)
        unit = min(align, _WIDEST_BYTES)
        if site.name.startswith("llvm.memmove"):
            places = _comparable(code, (to_space, to), (from_space, source))
            if places is not None:
                _either_way(code, places, end, unit, copy)
                return
        _upwards(code, end, unit, copy)
        return
    loaded = [code.register(max(16, 8 * size)) for _, size in pieces]
    for (offset, size), register in zip(pieces, loaded, strict=True):
        code.load(_type(size), code.address(from_space, source, offset), (register,))
    for (offset, size), register in zip(pieces, loaded, strict=True):
        code.store(_type(size), code.address(to_space, to, offset), (register,))


def _comparable(
    code: Code, first: tuple[AddressSpace, Operand], second: tuple[AddressSpace, Operand]
) -> tuple[Operand, Operand] | None:
    """Both addresses as numbers that can be compared; None where nothing can overlap."""
    spaces = first[0], second[0]
    if spaces[0] is spaces[1]:
        return code.in_register(first[1], 64), code.in_register(second[1], 64)
    if AddressSpace.GENERIC not in spaces:
        return None
    one, other = (
        code.in_register(pointer, 64)
        if space is AddressSpace.GENERIC
        else code.compute(f"cvta.{space.value}.u64", 64, code.in_register(pointer, 64))
        for space, pointer in (first, second)
    )
    return one, other


def _either_way(
    code: Code, places: tuple[Operand, Operand], end: Register, unit: int, copy: _Body
) -> None:
    """Upwards where the target lies below the source, else downwards."""
    up, down, after = (code.new_block() for _ in range(3))
    code.branch(code.compute("setp.le.u64", 1, *places), up, down)
    code.place(up)
    _upwards(code, end, unit, copy)
    code.jump(after)
    code.place(down)
    whole = _whole(code, end, unit)
    if unit > 1:
        _loop_down(code, end, whole, 1, copy)
    _loop_down(code, whole, Immediate(0), unit, copy)
    code.place(after)


def set_memory(site: CallSite) -> None:
    """Fills memory with a byte, in wider accesses where the byte is constant."""
    code = site.code
    space, to = _pointer(site.arguments[0])
    byte, length = site.arguments[1].parts[0], site.arguments[2].parts[0]
    is_constant = isinstance(byte, Immediate)
    pieces = _written_out(length, site.alignments[0] if is_constant else 1)
    if pieces is None:

        def fill(offset: Register, size: int) -> None:
            source = _repeated(byte, size)
            code.store(_type(size), _moved(code, space, to, offset), (source,))

        unit = min(site.alignments[0], _WIDEST_BYTES) if is_constant else 1
        _upwards(code, _long(code, length), unit, fill)
        return
    for offset, size in pieces:
        code.store(_type(size), code.address(space, to, offset), (_repeated(byte, size),))


def _repeated(byte: Operand, size: int) -> Operand:
    """A constant byte so many times; any other once."""
    if not isinstance(byte, Immediate):
        return byte
    return Immediate(int.from_bytes(bytes([byte.bits & 0xFF]) * size, "little"))


def _written_out(length: Operand, align: int) -> list[tuple[int, int]] | None:
    """The accesses of a short length that is constant, else None."""
    if not isinstance(length, Immediate) or length.bits > _MOST_WRITTEN_OUT * _WIDEST_BYTES:
        return None
    pieces = list(_pieces(length.bits, align))
    return pieces if len(pieces) <= _MOST_WRITTEN_OUT else None


def _moved(code: Code, space: AddressSpace, pointer: Operand, offset: Register) -> Address:
    base = code.in_register(pointer, 64)
    return Address(space, code.compute("add.s64", 64, base, offset), 0)


def _long(code: Code, length: Operand) -> Register:
    """The length in 64 bits."""
    if isinstance(length, Register) and length.bits != 64:
        return code.compute(f"cvt.u64.u{length.bits}", 64, length)
    return code.in_register(length, 64)


def _whole(code: Code, end: Register, unit: int) -> Register:
    """The end without what is less than a unit."""
    mask = Immediate((1 << 64) - unit)
    return code.compute("and.b64", 64, end, mask) if unit > 1 else end


def _upwards(code: Code, end: Register, unit: int, body: _Body) -> None:
    """Emits a loop over offsets from 0 on: whole units, then the bytes that are left."""
    offset, whole = code.register(64), _whole(code, end, unit)
    code.move(offset, Immediate(0))
    _loop_up(code, offset, whole, unit, body)
    if unit > 1:
        _loop_up(code, offset, end, 1, body)


def _loop_up(code: Code, offset: Register, end: Operand, step: int, body: _Body) -> None:
    head, inside, after = (code.new_block() for _ in range(3))
    code.place(head)
    code.branch(code.compute("setp.lt.u64", 1, offset, end), inside, after)
    code.place(inside)
    body(offset, step)
    code.assign("add.u64", offset, offset, Immediate(step))
    code.jump(head)
    code.place(after)


def _loop_down(code: Code, start: Register, end: Operand, step: int, body: _Body) -> None:
    """Emits a loop over offsets below `start` down to `end`."""
    offset = code.register(64)
    code.move(offset, start)
    head, inside, after = (code.new_block() for _ in range(3))
    code.place(head)
    code.branch(code.compute("setp.gt.u64", 1, offset, end), inside, after)
    code.place(inside)
    code.assign("sub.u64", offset, offset, Immediate(step))
    body(offset, step)
    code.jump(head)
    code.place(after)
