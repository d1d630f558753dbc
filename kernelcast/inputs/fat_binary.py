"""PTX out of fat binaries: `.fatbin` files, and the sections of objects and executables.

A container is a header of 16 bytes and entries, each a header and a payload padded to 8 bytes. The
layout is the public one of `fatbinary_section.h` in the CUDA toolkit (magic number, wrapper, and
header), extended by what `fatbinary` writes: offsets of an entry's fields are those below.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kernelcast.errors import InputError
from kernelcast.inputs.elf_sections import elf_sections, is_elf
from kernelcast.inputs.lz4_block import decompress_lz4_block
from kernelcast.inputs.zstd_frame import decompress_zstd_frame

__all__ = ["EmbeddedPtx", "embedded_ptx", "is_fat_binary"]

_MAGIC = 0xBA55ED50
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_CONTAINER = struct.Struct("<IHHQ")
"""magic, version, bytes of this header, bytes of the entries."""
_ENTRY = struct.Struct("<HHIQII4xIIIQ8xQ")
"""kind, version, bytes of this header, padded bytes of the payload, bytes of the payload when it is
compressed, unused, (PTX version), architecture, offset and length of the name, flags, bytes when
decompressed."""
_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""The second one is that of relocatable device code."""
_KIND_PTX = 1
_MOST_BYTES = 1 << 30
"""The largest PTX text: decoders take memory for as much as an entry claims."""
_FLAG_LZ4 = 1 << 13
_FLAG_ZSTD = 1 << 15


@dataclass(frozen=True, slots=True)
class EmbeddedPtx:
    """One PTX text. `container` counts the containers of the file: translation units."""

    container: int
    architecture: int
    """75 for compute_75."""
    text: str


def is_fat_binary(content: bytes) -> bool:
    """Whether the content begins as a fat binary does."""
    return content.startswith(_MAGIC_BYTES)


def embedded_ptx(content: bytes, path: str) -> tuple[EmbeddedPtx, ...]:
    """Every PTX text of a fat binary, or of an ELF file's sections that hold fat binaries.

    InputError when a container is cut short or a payload damaged.
    """
    holders: tuple[bytes, ...] = (content,)
    if is_elf(content):
        holders = tuple(part for name in _SECTIONS for part in elf_sections(content, name, path))
    found: list[EmbeddedPtx] = []
    containers = (item for part in holders for item in _containers(part, path))
    for number, entries in enumerate(containers):
        found.extend(_entries(entries, number, path))
    return tuple(found)


def _containers(content: bytes, path: str) -> Iterator[bytes]:
    """The entries of each container; the linker puts those of all objects behind each other."""
    position = content.find(_MAGIC_BYTES)
    while position >= 0:
        begin, end = position, -1
        if position + _CONTAINER.size <= len(content):
            _, _, header, size = _CONTAINER.unpack_from(content, position)
            begin, end = position + header, position + header + size
        if not position < begin <= end <= len(content):
            raise InputError(f"{path}: the fat binary at byte {position} is cut short")
        yield content[begin:end]
        position = content.find(_MAGIC_BYTES, end)


def _entries(entries: bytes, container: int, path: str) -> Iterator[EmbeddedPtx]:
    position = 0
    while position + _ENTRY.size <= len(entries):
        fields = _ENTRY.unpack_from(entries, position)
        kind, _, header, padded, compressed, _, architecture, _, _, flags, size = fields
        begin, end = position + header, position + header + padded
        if header < _ENTRY.size or end > len(entries):
            raise InputError(f"{path}: a damaged entry in fat binary {container + 1}")
        if kind == _KIND_PTX:
            payload = entries[begin:end]
            text = _plain(payload, compressed, size, flags, f"{path}: PTX for sm_{architecture}")
            yield EmbeddedPtx(container, architecture, text)
        position = end


def _plain(payload: bytes, compressed: int, size: int, flags: int, where: str) -> str:
    decompress: Callable[[bytes, int], bytes] | None = None
    if flags & _FLAG_ZSTD:
        decompress = decompress_zstd_frame
    elif flags & _FLAG_LZ4:
        decompress = decompress_lz4_block
    if size > _MOST_BYTES:
        raise InputError(f"{where} is damaged: {size} bytes")
    try:
        data = decompress(payload[:compressed], size) if decompress else payload
        return data.rstrip(b"\0").decode("utf-8")
    except ValueError as error:  # UnicodeDecodeError is one
        raise InputError(f"{where} is damaged: {error}") from None
