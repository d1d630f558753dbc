"""Where the sections of objects, libraries and executables lie, however large the files are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.sass.container.elf import DAMAGED, open_elf

__all__ = ["section_places"]


def section_places(
    stream: BinaryIO, names: Sequence[str], path: str
) -> tuple[tuple[int, int], ...]:
    """(begin, end) in the file of all sections called one of `names`, in the names' order.

    InputError when the file is damaged. No section's contents are read.
    """
    found: list[tuple[int, int, int]] = []
    try:
        elf = open_elf(stream)
        size = stream.seek(0, 2)
        for section in elf.iter_sections():
            if section.name not in names or section["sh_type"] == "SHT_NOBITS":
                continue
            begin, end = section["sh_offset"], section["sh_offset"] + section["sh_size"]
            if end > size:
                raise ValueError(f"section {section.name!r} ends behind the file's end")
            found.append((names.index(section.name), begin, end))
    except DAMAGED as error:
        raise InputError(f"{path}: a damaged ELF file: {error}") from None
    return tuple((begin, end) for _, begin, end in sorted(found))
