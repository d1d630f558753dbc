"""ELF files, opened so that none of them makes its reader run away (System V ABI, chapter 4).

`elftools` reads them. Sizes and offsets of a damaged file may be anything: what is read ends at the
file's end, and the whole work within a budget that grows with the file.
"""

from __future__ import annotations

import io
import struct
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from elftools.common.exceptions import ELFError

from kernelcast.simcore.host.deadline import check_time

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

__all__ = ["DAMAGED", "MOST_SECTIONS", "is_elf", "machine_of", "open_elf"]

_MAGIC = b"\x7fELF"
_MACHINE = struct.Struct("<18xH")
DAMAGED = (
    *(ELFError, ValueError, IndexError, KeyError, TypeError, AttributeError, AssertionError),
    *(ArithmeticError, RecursionError, struct.error, UnicodeError, NotImplementedError),
)
"""What the reader of ELF files raises for files that are none any more."""
MOST_SECTIONS = 1 << 17
_READINGS = 64
"""How often the bytes of a file may be read; names are, once for each thing of that name."""
_SHORT_FILE = 1 << 24
_BYTES_PER_CALL = 64
"""What a read counts for at least: as many bytes as names are read in."""


class _BudgetedStream(io.BufferedIOBase):
    """A file that is read no further than its end, and not for ever."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._end = stream.seek(0, io.SEEK_END)
        self._left = _READINGS * self._end + _SHORT_FILE

    def read(self, size: int | None = -1, /) -> bytes:
        check_time("reading an ELF file")
        rest = max(0, self._end - self._stream.tell())
        size = rest if size is None or size < 0 else min(size, rest)
        self._left -= max(size, _BYTES_PER_CALL)
        if self._left < 0:
            raise ValueError("it refers to the same bytes again and again")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def is_elf(beginning: bytes) -> bool:
    """Whether a file that begins so is an ELF file."""
    return beginning.startswith(_MAGIC)


def machine_of(beginning: bytes) -> int | None:
    """The number of the machine that an ELF file is for; None for anything else."""
    if not is_elf(beginning) or len(beginning) < _MACHINE.size:
        return None
    return int(_MACHINE.unpack_from(beginning)[0])


def open_elf(stream: BinaryIO) -> ELFFile:
    """The file as `elftools` sees it; one of `DAMAGED` when it is no such file, or is damaged."""
    from elftools.elf.elffile import ELFFile  # most kernels come without any

    elf = ELFFile(cast(IO[bytes], _BudgetedStream(stream)))
    if elf.elfclass != 64 or not elf.little_endian:
        raise ValueError("only 64-bit little-endian ELF files are read")
    if elf.num_sections() > MOST_SECTIONS:
        raise ValueError(f"{elf.num_sections()} sections")
    return elf
