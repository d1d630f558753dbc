"""`llvm.memcpy`, `llvm.memmove` and `llvm.memset`: short ones written out, others as loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernelcast.ptx_frontend.llvm.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.code import Code
from kernelcast.ptx_frontend.llvm.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.types import PointerType
from kernelcast.simcore.isa.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["copy_memory", "set_memory"]

_MOST_WRITTEN_OUT = 64
"""Accesses of one call."""
_WIDEST_BYTES = 8


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
    """By accesses as wide as both alignments allow; everything is read before it is written."""
    code = site.code
    (to_space, to), (from_space, source) = map(_pointer, site.arguments[:2])
    align = min(site.alignments[:2])
    length = site.arguments[2].parts[0]
    pieces = _written_out(length, align)
    if pieces is None:
        if site.name.startswith("llvm.memmove"):
            raise site.unsupported(f"{site.name} of more than {_MOST_WRITTEN_OUT} accesses")

        def copy(offset: Register) -> None:
            register = code.register(16)
            code.load(_type(1), _moved(code, from_space, source, offset), (register,))
            code.store(_type(1), _moved(code, to_space, to, offset), (register,))

        _loop(code, length, copy)
        return
    loaded = [code.register(max(16, 8 * size)) for _, size in pieces]
    for (offset, size), register in zip(pieces, loaded, strict=True):
        code.load(_type(size), code.address(from_space, source, offset), (register,))
    for (offset, size), register in zip(pieces, loaded, strict=True):
        code.store(_type(size), code.address(to_space, to, offset), (register,))


def set_memory(site: CallSite) -> None:
    """As `copy_memory`; the byte is written in wider accesses where it is constant."""
    code = site.code
    space, to = _pointer(site.arguments[0])
    byte, length = site.arguments[1].parts[0], site.arguments[2].parts[0]
    is_constant = isinstance(byte, Immediate)
    pieces = _written_out(length, site.alignments[0] if is_constant else 1)
    if pieces is None:
        _loop(code, length, lambda at: code.store(_type(1), _moved(code, space, to, at), (byte,)))
        return
    for offset, size in pieces:
        value = byte
        if isinstance(byte, Immediate):
            value = Immediate(int.from_bytes(bytes([byte.bits & 0xFF]) * size, "little"))
        code.store(_type(size), code.address(space, to, offset), (value,))


def _written_out(length: Operand, align: int) -> list[tuple[int, int]] | None:
    """The accesses of a short length that is constant, else None."""
    if not isinstance(length, Immediate) or length.bits > _MOST_WRITTEN_OUT * _WIDEST_BYTES:
        return None
    pieces = list(_pieces(length.bits, align))
    return pieces if len(pieces) <= _MOST_WRITTEN_OUT else None


def _moved(code: Code, space: AddressSpace, pointer: Operand, offset: Register) -> Address:
    base = code.in_register(pointer, 64)
    return Address(space, code.result("add.s64", 64, base, offset), 0)


def _loop(code: Code, length: Operand, body: Callable[[Register], None]) -> None:
    """For every offset from 0 below `length`."""
    limit = code.in_register(length, 64)
    if limit.bits != 64:
        limit = code.result(f"cvt.u64.u{limit.bits}", 64, limit)
    offset = code.register(64)
    code.move(offset, Immediate(0))
    head, inside, after = (code.new_block() for _ in range(3))
    code.place(head)
    code.branch(code.result("setp.lt.u64", 1, offset, limit), inside, after)
    code.place(inside)
    body(offset)
    code.compute("add.u64", offset, offset, Immediate(1))
    code.jump(head)
    code.place(after)
