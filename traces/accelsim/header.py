"""The header of an Accel-Sim kernel trace: lines `-key = value` before the first thread block."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import TraceFormatError

__all__ = ["AccelSimHeader", "read_accelsim_header"]

_OLDEST_VERSION = 3
_DIMENSIONS = re.compile(r"\(\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)$")
_MOST_DIGITS = 10
_MOST_WARPS = 1 << 26
_MOST_THREADS = 1024
"""The most threads of a thread block on any GPU."""


@dataclass(frozen=True)
class AccelSimHeader:
    """`shared_window` and `local_window`: where generic addresses begin to mean these spaces."""

    kernel: str
    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]
    registers: int
    shared_bytes: int
    has_line_numbers: bool
    shared_window: int | None
    local_window: int | None

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the grid."""
        x, y, z = self.grid
        return x * y * z

    def warps_per_thread_block(self, width: int) -> int:
        """Warps of a thread block; the last one may be partly filled."""
        x, y, z = self.thread_block
        return -(-x * y * z // width)


def read_accelsim_header(
    path: Path, values: Mapping[str, tuple[int, str]], width: int
) -> AccelSimHeader:
    """The header from (line number, text) by key; TraceFormatError for a bad or missing entry."""
    reader = _Values(path, values)
    version = reader.number("accelsim tracer version", _OLDEST_VERSION)
    if version < _OLDEST_VERSION:
        raise reader.error(
            "accelsim tracer version",
            f"traces of version {version} are not read, only {_OLDEST_VERSION} and newer",
        )
    header = AccelSimHeader(
        kernel=reader.text("kernel name"),
        grid=reader.dimensions("grid dim"),
        thread_block=reader.dimensions("block dim"),
        registers=reader.number("nregs"),
        shared_bytes=reader.number("shmem"),
        has_line_numbers=bool(reader.number("enable lineinfo", 0)),
        shared_window=reader.address("shmem base_addr"),
        local_window=reader.address("local mem base_addr"),
    )
    if math.prod(header.thread_block) > _MOST_THREADS:
        raise reader.error("block dim", f"no GPU has thread blocks above {_MOST_THREADS} threads")
    if header.thread_blocks * header.warps_per_thread_block(width) > _MOST_WARPS:
        raise reader.error("grid dim", f"the launch has more than {_MOST_WARPS} warps")
    return header


class _Values:
    """The header's values by key, with errors that name the line."""

    def __init__(self, path: Path, values: Mapping[str, tuple[int, str]]) -> None:
        self._path = path
        self._values = values

    def text(self, key: str) -> str:
        if key not in self._values or not self._values[key][1]:
            raise TraceFormatError(f"{self._path}: no `-{key} = ...` before the thread blocks")
        return self._values[key][1]

    def number(self, key: str, default: int | None = None) -> int:
        if default is not None and key not in self._values:
            return default
        text = self.text(key)
        if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
            raise self.error(key, f"{text[:60]!r} is no number")
        return int(text)

    def address(self, key: str) -> int | None:
        """A hexadecimal address; None when it is not given, or 0."""
        if key not in self._values:
            return None
        try:
            return int(self.text(key), 16) or None
        except ValueError:
            raise self.error(key, f"{self.text(key)!r} is no address") from None

    def dimensions(self, key: str) -> tuple[int, int, int]:
        match = _DIMENSIONS.match(self.text(key))
        sizes = tuple(map(int, match.groups())) if match else ()
        if not sizes or min(sizes) < 1:
            raise self.error(key, f"{self.text(key)!r} is not (x,y,z) with sizes of 1 and more")
        return sizes[0], sizes[1], sizes[2]

    def error(self, key: str, message: str) -> TraceFormatError:
        return TraceFormatError(f"{self._path}:{self._values[key][0]}: {message}")
