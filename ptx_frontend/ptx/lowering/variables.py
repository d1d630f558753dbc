"""Variables with addresses: their sizes, initial data and places in memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.text.literals import packed_float
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import (
    Float,
    Initial,
    Integer,
    SamplerField,
    SymbolReference,
    VariableDeclaration,
)
from kernelcast.simcore.isa.ir.kernel import Symbol
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "OPAQUE_TYPES",
    "MemoryLayout",
    "align_up",
    "is_dynamic",
    "lay_out",
    "references",
    "size_of",
    "type_bytes",
]

_TYPE_BYTES = {
    "f16x2": 4,
    "bf16": 2,
    "bf16x2": 4,
    "b128": 16,
    **{f"{kind}{bits}": bits // 8 for kind in "bus" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": bits // 8 for bits in (16, 32, 64)},
}
_FLOAT_FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
_WIDE_ALIGNMENT = 16
_POINTER_BYTES = 8
_ADDRESS_MASK = (1 << 8 * _POINTER_BYTES) - 1
OPAQUE_TYPES = ("texref", "samplerref", "surfref")
"""Types of variables that a launch sets: their addresses are the numbers of objects."""


def align_up(offset: int, align: int) -> int:
    """The lowest multiple of `align` that is not below `offset`."""
    return -(-offset // align) * align


def type_bytes(type_name: str) -> int | None:
    """Bytes of an element; None for opaque types such as textures."""
    return _TYPE_BYTES.get(type_name)


def size_of(declaration: VariableDeclaration, source: SourceText) -> int:
    """Bytes of a variable; UnsupportedInstruction for textures and their kin."""
    element = type_bytes(declaration.type)
    if element is None:
        raise UnsupportedInstruction(
            f"variables of type .{declaration.type} are not supported",
            source.span(declaration.at, len(declaration.name)),
        )
    return element * (1 if declaration.count is None else declaration.count)


def is_dynamic(declaration: VariableDeclaration) -> bool:
    """Whether the launch gives the size: `.extern .shared`, or shared without a size."""
    return declaration.space == "shared" and (
        declaration.linkage == "extern" or declaration.count == 0
    )


@dataclass(frozen=True, slots=True)
class MemoryLayout:
    """The variables of a kernel, and what they take of shared and local memory, bytes."""

    symbols: Mapping[str, Symbol]
    shared_bytes: int
    local_bytes: int


@dataclass(slots=True)
class _Space:
    end: int = 0
    align: int = 1
    symbols: list[Symbol] = field(default_factory=list)

    def place(self, size: int, align: int) -> int:
        offset = align_up(self.end, align)
        self.end = offset + size
        self.align = max(self.align, align)
        return offset


def lay_out(
    used: Mapping[str, VariableDeclaration],
    functions: Mapping[str, int],
    source: SourceText,
) -> MemoryLayout:
    """Places every variable in its space, in the order of the declarations.

    Shared arrays of 16 bytes or more begin at a multiple of 16, as the vendor's assembler may place
    them; the dynamic array begins after them. `functions`: what pointers to them hold.
    """
    spaces = {space.value: _Space() for space in AddressSpace}
    symbols: dict[str, Symbol] = {}
    for key, variable in sorted(used.items(), key=lambda item: item[1].at):
        if not is_dynamic(variable):
            symbols[key] = _place(key, variable, spaces[variable.space], functions, source)
    shared = spaces["shared"]
    for key, variable in used.items():
        if is_dynamic(variable):
            align = max(variable.align or 1, _WIDE_ALIGNMENT)
            offset = align_up(shared.end, align)
            symbols[key] = Symbol(key, AddressSpace.SHARED, 0, align, offset)
    local = spaces["local"]
    return MemoryLayout(symbols, shared.end, align_up(local.end, local.align))


def _place(
    key: str,
    variable: VariableDeclaration,
    space: _Space,
    functions: Mapping[str, int],
    source: SourceText,
) -> Symbol:
    size = size_of(variable, source)
    align = variable.align or type_bytes(variable.type) or 1
    if variable.space == "shared" and size >= _WIDE_ALIGNMENT:
        align = max(align, _WIDE_ALIGNMENT)
    data, relocations = _initial_data(variable, size, source)
    of_functions = [at for at, name in relocations.items() if name in functions]
    for position in of_functions:
        (addend,) = struct.unpack_from("<q", data, position)
        address = functions[relocations.pop(position)] + addend & _ADDRESS_MASK
        data = data[:position] + struct.pack("<Q", address) + data[position + _POINTER_BYTES :]
    return Symbol(
        key,
        AddressSpace(variable.space),
        size,
        align,
        space.place(size, align),
        data,
        relocations,
        holds_functions=bool(of_functions),
    )


def _initial_data(
    variable: VariableDeclaration, size: int, source: SourceText
) -> tuple[bytes, dict[int, str]]:
    """The bytes and where addresses go; missing items are zero.

    An address is that of the generic space plus the number that `data` holds in its place.
    """
    if not variable.initial:
        return b"", {}
    width = type_bytes(variable.type) or 1
    if len(variable.initial) * width > size:
        raise source.error(
            f"{variable.name!r} has room for {size // width} values, got {len(variable.initial)}",
            variable.at,
            len(variable.name),
        )
    data = bytearray(size)
    relocations: dict[int, str] = {}
    for position, value in zip(range(0, size, width), variable.initial, strict=False):
        if isinstance(value, SymbolReference):
            _relocate(value, position, width, data, relocations, source)
        elif isinstance(value, SamplerField):
            raise source.error(f"{value.name!r} is a field of samplers", value.at, len(value.name))
        else:
            data[position : position + width] = _encoded(value, variable, width, source)
    return bytes(data), relocations


def _relocate(
    value: SymbolReference,
    position: int,
    width: int,
    data: bytearray,
    relocations: dict[int, str],
    source: SourceText,
) -> None:
    """Records one address in a variable's data.

    Written byte by byte, `0xFF(x), 0xFF00(x), ...`, its bytes must follow each other from the least
    significant on.
    """
    start = position
    if value.mask is not None:
        byte = max(value.mask.bit_length() - 1, 0) // 8
        start = position - byte
        is_first = byte == 0
        if (
            width != 1
            or value.mask != 0xFF << (8 * byte)
            or not (is_first or relocations.get(start) == value.name)
        ):
            raise UnsupportedInstruction(
                f"part {value.mask:#x} of an address is not supported", source.span(value.at)
            )
        if not is_first:
            return
    elif width != _POINTER_BYTES:
        raise UnsupportedInstruction(
            f"an address of {width * 8} bits is not supported", source.span(value.at)
        )
    if start + _POINTER_BYTES > len(data):
        raise source.error(f"the address of {value.name!r} does not fit", value.at)
    relocations[start] = value.name
    data[start : start + _POINTER_BYTES] = struct.pack("<Q", value.addend & _ADDRESS_MASK)


def _encoded(
    value: Integer | Float, variable: VariableDeclaration, width: int, source: SourceText
) -> bytes:
    code = _FLOAT_FORMATS.get(variable.type)
    if isinstance(value, Integer):
        if code:
            return packed_float(code, value.value)
        return (value.value & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
    if value.bits == 8 * width:
        return value.raw.to_bytes(width, "little")
    if code is None:
        raise source.error(
            f"a floating-point constant in {variable.name!r} of type .{variable.type}",
            variable.at,
            len(variable.name),
        )
    return packed_float(code, value.value)


def references(initial: Iterable[Initial]) -> list[SymbolReference]:
    """The addresses of other symbols among initial values."""
    return [value for value in initial if isinstance(value, SymbolReference)]
