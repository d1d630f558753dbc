"""Where the kernels and variables of a code object lie, and how its kernels begin.

Formats: LLVM's AMDGPU usage guide, "Kernel Descriptor", "ELF Code Object" and "Code Object V5
Metadata". Addresses are those of the linked file; sections of one that is not linked are told
apart by the upper word.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.amdgcn.code_object import KernelMetadata, read_code_object
from kernelcast.ptx_frontend.sass.container.elf import DAMAGED, open_elf

__all__ = ["CodeImage", "KernelCode", "Variable", "read_image"]

_DESCRIPTOR = struct.Struct("<III4xq20xIIIHH4x")
"""Bytes of local memory, scratch and arguments; distance of the code; registers; properties."""
_PROPERTIES = (
    *("private_segment_buffer", "dispatch_ptr", "queue_ptr", "kernarg_segment_ptr"),
    *("dispatch_id", "flat_scratch_init", "private_segment_size"),
)
"""What scalar registers hold at the start, from bit 0 of the properties on."""
_WAVE32 = 1 << 10
_AXES = (("workgroup_id_x", 7), ("workgroup_id_y", 8), ("workgroup_id_z", 9))
_UNLINKED = "ET_REL"
_MOST_BYTES = 1 << 28
_VERSION = (1, 2)
"""The metadata of code objects from version 5 on, whose hidden arguments are known."""
_RELATIVE = (10, 11)
"""R_AMDGPU_REL32_LO and _HI: what is in the word counts from its own address."""
_WRITTEN, _LOADED = 1, 2
"""SHF_WRITE and SHF_ALLOC."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A stretch of memory; `content` is what it holds at first, zero behind that."""

    name: str
    address: int
    size: int
    content: bytes
    has_addresses: bool = False
    """Whether addresses are in it, which are known only when the file is loaded."""
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The bytes of a kernel at `address`; `settings` are those of its descriptor by name."""

    name: str
    address: int
    content: bytes
    settings: Mapping[str, int]
    metadata: KernelMetadata
    targets: Mapping[int, int | None] = field(default_factory=dict)
    """Words that an unlinked file leaves to its linker, and the addresses that they count to."""


@dataclass(frozen=True, slots=True)
class CodeImage:
    """A code object: its kernels by name, and variables."""

    architecture: str
    kernels: Mapping[str, KernelCode]
    variables: tuple[Variable, ...]
    sections: tuple[Variable, ...] = ()

    def variable_at(self, address: int) -> Variable | None:
        """The variable that begins at an address, else what is constant from there on.

        None where the address is in neither, or it is of something that holds addresses.
        """
        for variable in self.variables:
            if variable.address == address:
                return None if variable.has_addresses else variable
        for section in self.sections:
            if not section.address <= address < section.address + section.size:
                continue
            if section.has_addresses or section.is_written:
                return None
            distance = address - section.address
            name = f"{section.name}_{distance:x}"
            return Variable(name, address, section.size - distance, section.content[distance:])
        return None


def read_image(content: bytes) -> CodeImage:
    """The code object; InputError where it is damaged, or older than version 5."""
    told = read_code_object(content)
    if told.version < _VERSION:
        raise InputError("the code object is older than version 5: -mcode-object-version=5")
    try:
        reader = _Reader(open_elf(io.BytesIO(content)))
        kernels = {item.name: reader.kernel(item) for item in told.kernels}
        data = tuple(reader.variables()), tuple(reader.stretches())
        return CodeImage(told.architecture, kernels, *data)
    except DAMAGED as error:
        raise InputError(f"the code object is damaged: {error}") from None


class _Reader:
    def __init__(self, elf: Any) -> None:
        self._sections: list[Any] = list(elf.iter_sections())
        self._is_linked = elf.header["e_type"] != _UNLINKED
        self._symbols = dict(self._named())
        self._relocations = dict(self._relocated())

    def kernel(self, metadata: KernelMetadata) -> KernelCode:
        descriptor = self._bytes(*self._place(f"{metadata.name}.kd"))
        if len(descriptor) < _DESCRIPTOR.size:
            raise InputError(f"the code object is damaged: the descriptor of {metadata.name}")
        address, size = self._place(metadata.name)
        code = self._bytes(address, size)
        if len(code) < size or not size:
            raise InputError(f"the code object is damaged: the code of {metadata.name}")
        ends = range(address, address + size)
        targets = {at: target for at, target in self._relocations.items() if at in ends}
        return KernelCode(metadata.name, address, code, _settings(descriptor), metadata, targets)

    def variables(self) -> Iterator[Variable]:
        for name, symbol in self._symbols.items():
            size = int(symbol["st_size"])
            is_object = symbol["st_info"]["type"] == "STT_OBJECT"
            if not is_object or not size or name.endswith(".kd"):
                continue
            if size > _MOST_BYTES:
                raise InputError(f"the variable {name} has {size} bytes")
            address, _ = self._place(name)
            content = self._bytes(address, size)
            yield Variable(name, address, size, content, self._has_addresses(address, size))

    def stretches(self) -> Iterator[Variable]:
        """Sections with data, where constants without names are."""
        for number, section in enumerate(self._sections):
            is_data = section["sh_flags"] & _LOADED and section["sh_type"] == "SHT_PROGBITS"
            size = int(section["sh_size"])
            if not is_data or not section.name.startswith((".rodata", ".data")):
                continue
            begin = int(section["sh_addr"]) if self._is_linked else number << 32
            content = section.data()
            is_written = bool(section["sh_flags"] & _WRITTEN)
            has_addresses = self._has_addresses(begin, size)
            yield Variable(section.name, begin, size, content, has_addresses, is_written)

    def _has_addresses(self, address: int, size: int) -> bool:
        ends = range(address, address + size)
        return any(at in ends for at in self._relocations)

    def _named(self) -> Iterator[tuple[str, Any]]:
        for section in self._sections:
            if section["sh_type"] in ("SHT_SYMTAB", "SHT_DYNSYM"):
                for symbol in section.iter_symbols():
                    if symbol.name and isinstance(symbol["st_shndx"], int):
                        yield str(symbol.name), symbol

    def _place(self, name: str) -> tuple[int, int]:
        """Address and size of a symbol."""
        symbol = self._symbols.get(name)
        if symbol is None:
            raise InputError(f"the code object is damaged: it has no symbol {name!r}")
        return self._begin(int(symbol["st_shndx"])) + int(symbol["st_value"]), int(
            symbol["st_size"]
        )

    def _begin(self, section: int) -> int:
        """What is added to values of symbols of a section."""
        return 0 if self._is_linked else section << 32

    def _bytes(self, address: int, size: int) -> bytes:
        """What the file has of a stretch of memory."""
        for number, section in enumerate(self._sections):
            begin = int(section["sh_addr"]) if self._is_linked else number << 32
            is_loaded = section["sh_flags"] & _LOADED
            if not is_loaded or not begin <= address < begin + section["sh_size"]:
                continue
            if section["sh_type"] == "SHT_NOBITS":
                return b""
            data: bytes = section.data()
            return data[address - begin : address - begin + size]
        return b""

    def _relocated(self) -> Iterator[tuple[int, int | None]]:
        """Addresses whose content depends on others, with those that they are for."""
        for section in self._sections:
            if section["sh_type"] != "SHT_RELA":
                continue
            table = self._sections[section["sh_link"]] if section["sh_link"] else None
            begin = self._begin(int(section["sh_info"]))
            for entry in section.iter_relocations():
                yield begin + int(entry["r_offset"]), self._target(table, entry)

    def _target(self, table: Any, entry: Any) -> int | None:
        """What a word that counts from itself counts to; None for any other."""
        if int(entry["r_info_type"]) not in _RELATIVE or not hasattr(table, "get_symbol"):
            return None
        symbol = table.get_symbol(entry["r_info_sym"])
        section = symbol["st_shndx"]
        if not isinstance(section, int):
            return None
        return self._begin(section) + int(symbol["st_value"]) + int(entry["r_addend"])


def _settings(descriptor: bytes) -> dict[str, int]:
    """The facts of a descriptor that say what registers hold at the start."""
    *_, resources, properties, preloaded = _DESCRIPTOR.unpack_from(descriptor)
    found = {f"user_sgpr_{name}": properties >> bit & 1 for bit, name in enumerate(_PROPERTIES)}
    found["user_sgpr_count"] = resources >> 1 & 0x1F
    found["user_sgpr_kernarg_preload_length"] = preloaded & 0x7F
    found["system_sgpr_private_segment_wavefront_offset"] = resources & 1
    found |= {f"system_sgpr_{name}": resources >> bit & 1 for name, bit in _AXES}
    found["system_vgpr_workitem_id"] = axis = resources >> 11 & 3
    if axis >= len(_AXES):
        raise ValueError("a descriptor asks for a fourth axis")
    found["wavefront_size32"] = int(bool(properties & _WAVE32))
    return found
