"""Code in fat binaries: `.fatbin` files, and the sections of objects, libraries and executables.

A container is a header of 16 bytes and entries, each a header and a payload padded to 8 bytes. The
layout is the public one of `fatbinary_section.h` in the CUDA toolkit (magic number, wrapper, and
header), extended by what `fatbinary` writes: offsets of an entry's fields are those below. Of large
files only headers are read, and the payloads that somebody asks for.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO

from kernelcast.errors import InputError
from kernelcast.input_files import MOST_BYTES
from kernelcast.inputs.decompression import decompress_lz4_block, decompress_zstd_frame
from kernelcast.inputs.elf_sections import section_places
from kernelcast.ptx_frontend.sass.container.elf import is_elf
from kernelcast.simcore.host.deadline import watched

__all__ = ["CodeEntry", "CodeKind", "code_entries", "is_fat_binary", "payload"]

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
_FLAG_LZ4 = 1 << 13
_FLAG_ZSTD = 1 << 15
_FLAGS_OF_VARIANTS = ((1 << 20, "a"), (1 << 21, "f"))
"""Set in entries for sm_90a, and for sm_100f."""
_FIRST_CHUNK, _LARGEST_CHUNK = 1 << 6, 1 << 20


class CodeKind(IntEnum):
    """What an entry holds; there are others, of tools, that no kernel is read from."""

    PTX = 1
    CUBIN = 2


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """One PTX text or cubin. `container` counts the containers of the file: translation units."""

    container: int
    kind: CodeKind
    number: int
    """75 for sm_75 and compute_75."""
    variant: str
    """`a` or `f` of sm_90a and sm_100f, else empty; not of PTX, which says so itself."""
    begin: int
    stored_bytes: int
    plain_bytes: int
    flags: int

    @property
    def architecture(self) -> str:
        """`sm_90a`."""
        return f"sm_{self.number}{self.variant}"


def is_fat_binary(beginning: bytes) -> bool:
    """Whether a file that begins so is a fat binary."""
    return beginning.startswith(_MAGIC_BYTES)


def code_entries(stream: BinaryIO, path: str) -> Iterator[CodeEntry]:
    """Every PTX text and cubin of a fat binary, or of an ELF file's sections that hold them.

    InputError when a container is cut short or an entry damaged.
    """
    end = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    holders: tuple[tuple[int, int], ...] = ((0, end),)
    if is_elf(stream.read(4)):
        holders = section_places(stream, _SECTIONS, path)
    containers = (item for begin, end in holders for item in _containers(stream, begin, end, path))
    for number, (begin, end) in enumerate(watched(containers, f"reading {path}")):
        yield from _entries(stream, begin, end, number, path)


def payload(stream: BinaryIO, entry: CodeEntry, path: str) -> bytes:
    """What an entry holds, unpacked; InputError when it is damaged."""
    where = f"{path}: {entry.kind.name} for {entry.architecture}"
    decompress: Callable[[bytes, int], bytes] | None = None
    if entry.flags & _FLAG_ZSTD:
        decompress = decompress_zstd_frame
    elif entry.flags & _FLAG_LZ4:
        decompress = decompress_lz4_block
    if max(entry.plain_bytes, entry.stored_bytes) > MOST_BYTES:
        raise InputError(f"{where} is damaged: {entry.plain_bytes} bytes")
    stream.seek(entry.begin)
    data = stream.read(entry.stored_bytes)
    try:
        return decompress(data, entry.plain_bytes) if decompress else data
    except ValueError as error:
        raise InputError(f"{where} is damaged: {error}") from None


def _containers(stream: BinaryIO, begin: int, end: int, path: str) -> Iterator[tuple[int, int]]:
    """The entries of each container; the linker puts those of all objects behind each other."""
    position = _find_magic(stream, begin, end)
    while position >= 0:
        first, last = position, -1
        header = _bytes_at(stream, position, _CONTAINER.size, end)
        if len(header) == _CONTAINER.size:
            _, _, header_bytes, size = _CONTAINER.unpack(header)
            first, last = position + header_bytes, position + header_bytes + size
        if not position < first <= last <= end:
            raise InputError(f"{path}: the fat binary at byte {position - begin} is cut short")
        yield first, last
        position = _find_magic(stream, last, end)


def _find_magic(stream: BinaryIO, begin: int, end: int) -> int:
    """-1 where there is none. The next container is near, unless something else follows."""
    chunk = _FIRST_CHUNK
    while begin < end:
        content = _bytes_at(stream, begin, chunk + len(_MAGIC_BYTES) - 1, end)
        found = content.find(_MAGIC_BYTES)
        if found >= 0:
            return begin + found
        begin += chunk
        chunk = min(2 * chunk, _LARGEST_CHUNK)
    return -1


def _bytes_at(stream: BinaryIO, position: int, size: int, end: int) -> bytes:
    stream.seek(position)
    return stream.read(min(size, end - position))


def _entries(
    stream: BinaryIO, begin: int, end: int, container: int, path: str
) -> Iterator[CodeEntry]:
    position = begin
    while position + _ENTRY.size <= end:
        fields = _ENTRY.unpack(_bytes_at(stream, position, _ENTRY.size, end))
        kind, _, header, padded, compressed, _, architecture, _, _, flags, size = fields
        payload_begin = position + header
        position = payload_begin + padded
        if header < _ENTRY.size or position > end:
            raise InputError(f"{path}: a damaged entry in fat binary {container + 1}")
        if kind not in iter(CodeKind):
            continue
        is_compressed = bool(flags & (_FLAG_ZSTD | _FLAG_LZ4))
        yield CodeEntry(
            container=container,
            kind=CodeKind(kind),
            number=architecture,
            variant=_variant(flags) if kind == CodeKind.CUBIN else "",
            begin=payload_begin,
            stored_bytes=min(compressed, padded) if is_compressed else padded,
            plain_bytes=size if is_compressed else padded,
            flags=flags,
        )


def _variant(flags: int) -> str:
    return next((letter for flag, letter in _FLAGS_OF_VARIANTS if flags & flag), "")
