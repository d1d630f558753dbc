"""Sections of 64-bit ELF files: objects, libraries, executables (System V ABI, chapter 4)."""

from __future__ import annotations

import struct

from kernelcast.errors import InputError

__all__ = ["elf_sections", "is_elf"]

_MAGIC = b"\x7fELF"
_CLASS_64, _LITTLE_ENDIAN = 2, 1
_HEADER = struct.Struct("<16x2x2x4x8x8xQ4x2x2x2xHHH")
"""Offset of the section headers; size of one, their number, and which one holds the names."""
_SECTION = struct.Struct("<II8x8xQQ")
"""Name, type, offset and size."""
_NO_BITS = 8


def is_elf(content: bytes) -> bool:
    """Whether the content begins as an ELF file does."""
    return content.startswith(_MAGIC)


def elf_sections(content: bytes, name: str, path: str) -> tuple[bytes, ...]:
    """The contents of all sections called `name`; InputError when the file is damaged."""
    if content[4:6] != bytes((_CLASS_64, _LITTLE_ENDIAN)):
        raise InputError(f"{path}: only 64-bit little-endian ELF files are read")
    try:
        offset, size, number, names_at = _HEADER.unpack_from(content)
        headers = [_SECTION.unpack_from(content, offset + i * size) for i in range(number)]
        names = _contents(content, headers[names_at]) if headers else b""
        wanted = name.encode() + b"\0"
        return tuple(
            _contents(content, header)
            for header in headers
            if header[1] != _NO_BITS and names[header[0] :].startswith(wanted)
        )
    except (struct.error, IndexError, OverflowError):
        raise InputError(f"{path}: a damaged ELF file") from None


def _contents(content: bytes, header: tuple[int, ...]) -> bytes:
    _, _, offset, size = header
    if offset + size > len(content):
        raise IndexError(offset)
    return content[offset : offset + size]
