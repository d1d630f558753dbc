"""A cubin: the code, constants, variables and symbols of one architecture."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.sass.container.elf import DAMAGED, machine_of, open_elf
from kernelcast.ptx_frontend.sass.container.kernel_info import (
    FRAME_BYTES,
    REGISTERS,
    STACK_BYTES,
    KernelInfo,
    module_registers,
    read_kernel_info,
)

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection
    from elftools.elf.sections import Section as ElfSection
    from elftools.elf.sections import SymbolTableSection

__all__ = ["CodeSymbol", "Cubin", "CubinFunction", "Relocation", "is_cubin", "read_cubin"]

_MACHINE_CUDA, _MACHINE_NAME = 190, "EM_CUDA"
_NEW_ABI = 8
"""The version of the ABI (CUDA 13) from which on the architecture stands in other flags."""
_ENTRY_FLAG = 0x10
"""The bit in `st_other` of a symbol that says that the function is an entry."""
_OTHER_BYTE = 5
"""Where `st_other` stands in a symbol (System V ABI, chapter 4)."""
_MERCURY = ".nv.merc"
"""Sections with a second form of the code, which nothing here reads."""


@dataclass(frozen=True, slots=True)
class CodeSymbol:
    """A symbol: the section that holds it, its place there, and bytes; no section for externals."""

    name: str
    section: str
    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """A place of a section that the address of a symbol, plus `addend`, goes to."""

    offset: int
    kind: int
    symbol: str
    addend: int


@dataclass(frozen=True, slots=True)
class CubinFunction:
    """A function with a section of code: an entry, or one that others call.

    `banks`: its own constant banks by number. `stack_bytes` per thread with all functions that it
    calls, where the assembler knows them; `frame_bytes` of its own.
    """

    name: str
    is_entry: bool
    code: bytes
    info: KernelInfo
    registers: int
    frame_bytes: int
    stack_bytes: int
    shared_bytes: int
    banks: Mapping[int, bytes]
    relocations: tuple[Relocation, ...] = ()
    symbol: int = 0
    """The number of its symbol in the table."""


@dataclass(frozen=True, slots=True)
class Cubin:
    """`architecture`: 80 for sm_80. `banks`: those that all functions share, by number.

    `variables`: contents of `.nv.global.init` and the like by section; `section_bytes`: the sizes
    of sections; `relocations` by section.
    """

    path: str
    architecture: int
    functions: Mapping[str, CubinFunction]
    symbols: Mapping[str, CodeSymbol]
    banks: Mapping[int, bytes]
    variables: Mapping[str, bytes]
    section_bytes: Mapping[str, int]
    relocations: Mapping[str, tuple[Relocation, ...]] = field(default_factory=dict)


def is_cubin(content: bytes) -> bool:
    """Whether an ELF file holds code of a GPU of NVIDIA's."""
    return machine_of(content) == _MACHINE_CUDA


def read_cubin(content: bytes, path: str) -> Cubin:
    """The functions of a cubin; InputError when the file is damaged."""
    try:
        return _read(open_elf(io.BytesIO(content)), path)
    except DAMAGED as error:
        raise InputError(f"{path}: a damaged cubin: {error or type(error).__name__}") from None


@dataclass(slots=True)
class _Sections:
    """Contents, sizes and relocations by the name of a section; the table of symbols."""

    contents: dict[str, bytes] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    relocations: dict[str, tuple[Relocation, ...]] = field(default_factory=dict)
    symbols: list[tuple[CodeSymbol, int]] = field(default_factory=list)
    """Each symbol with its `st_other`."""


def _read(elf: ELFFile, path: str) -> Cubin:
    if elf["e_machine"] != _MACHINE_NAME:
        raise ValueError(f"it is for {elf['e_machine']}")
    sections = _sections(elf)
    named = {symbol.name: symbol for symbol, _ in sections.symbols}
    shared_banks = {
        int(name.removeprefix(".nv.constant")): content
        for name, content in sections.contents.items()
        if name.startswith(".nv.constant") and name.removeprefix(".nv.constant").isdigit()
    }
    return Cubin(
        path=path,
        architecture=_architecture(elf),
        functions=_functions(sections),
        symbols=named,
        banks=shared_banks,
        variables={n: c for n, c in sections.contents.items() if n.startswith(".nv.global")},
        section_bytes=sections.sizes,
        relocations=sections.relocations,
    )


def _architecture(elf: ELFFile) -> int:
    flags = elf.header["e_flags"]
    is_new = elf.header["e_ident"]["EI_ABIVERSION"] >= _NEW_ABI
    number = flags >> 8 & 0xFF if is_new else flags & 0xFF
    if not 50 <= number <= 0xFF:
        raise ValueError(f"it is for architecture {number}")
    return int(number)


def _sections(elf: ELFFile) -> _Sections:
    from elftools.elf.relocation import RelocationSection
    from elftools.elf.sections import SymbolTableSection

    found = _Sections()
    sections = list(elf.iter_sections())
    names = [section.name for section in sections]
    for section in sections:
        found.sizes[section.name] = section["sh_size"]
        if section["sh_type"] == "SHT_NOBITS" or section.name.startswith(_MERCURY):
            continue
        if isinstance(section, SymbolTableSection):
            found.symbols = list(_symbols(section, names))
        elif not isinstance(section, RelocationSection):
            found.contents[section.name] = _contents(section)
    for section in sections:
        if isinstance(section, RelocationSection) and not section.name.startswith(_MERCURY):
            target = names[section["sh_info"]]
            known = found.relocations.get(target, ())
            found.relocations[target] = (*known, *_relocations(section, found))
    return found


def _contents(section: ElfSection) -> bytes:
    """All that the section says it has: one that ends with the file was cut."""
    if section.compressed:
        raise ValueError(f"section {section.name!r} is compressed")
    content = bytes(section.data())
    if len(content) < section["sh_size"]:
        raise ValueError(f"section {section.name!r} ends behind the file's end")
    return content


def _symbols(section: SymbolTableSection, names: Sequence[str]) -> Iterator[tuple[CodeSymbol, int]]:
    """The symbols with the whole byte `st_other`, of which `elftools` shows parts only."""
    content, size = _contents(section), section["sh_entsize"]
    for number, symbol in enumerate(section.iter_symbols()):
        index = symbol["st_shndx"]
        holder = names[index] if isinstance(index, int) else ""
        found = CodeSymbol(symbol.name, holder, symbol["st_value"], symbol["st_size"])
        yield found, content[number * size + _OTHER_BYTE]


def _relocations(section: RelocationSection, found: _Sections) -> Iterator[Relocation]:
    for item in section.iter_relocations():
        yield Relocation(
            item["r_offset"],
            item["r_info_type"],
            found.symbols[item["r_info_sym"]][0].name,
            item["r_addend"] if section.is_RELA() else 0,
        )


def _functions(sections: _Sections) -> dict[str, CubinFunction]:
    counts = module_registers(sections.contents.get(".nv.info", b""))
    by_name: dict[str, dict[int, int]] = {}
    for attribute, values in counts.items():
        for number, value in values.items():
            by_name.setdefault(sections.symbols[number][0].name, {})[attribute] = value
    entries = {symbol.name for symbol, other in sections.symbols if other & _ENTRY_FLAG}
    numbers = {symbol.name: number for number, (symbol, _) in enumerate(sections.symbols)}
    found: dict[str, CubinFunction] = {}
    for name, code in sections.contents.items():
        if not name.startswith(".text."):
            continue
        function = name.removeprefix(".text.")
        facts = by_name.get(function, {})
        found[function] = CubinFunction(
            name=function,
            is_entry=function in entries,
            code=code,
            info=read_kernel_info(sections.contents.get(f".nv.info.{function}", b"")),
            registers=facts.get(REGISTERS, 0),
            frame_bytes=facts.get(FRAME_BYTES, 0),
            stack_bytes=facts.get(STACK_BYTES, 0),
            shared_bytes=sections.sizes.get(f".nv.shared.{function}", 0),
            banks=_own_banks(sections.contents, function),
            relocations=sections.relocations.get(name, ()),
            symbol=numbers.get(function, 0),
        )
    return found


def _own_banks(contents: Mapping[str, bytes], function: str) -> dict[int, bytes]:
    found = {}
    for number in range(18):
        content = contents.get(f".nv.constant{number}.{function}")
        if content is not None:
            found[number] = content
    return found
