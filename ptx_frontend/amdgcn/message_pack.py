"""Reads MessagePack as far as code objects use it (github.com/msgpack/msgpack, spec.md)."""

from __future__ import annotations

import struct
from typing import TypeAlias

from kernelcast.errors import InputError

__all__ = ["Packed", "unpacked"]

Packed: TypeAlias = "bool | int | float | str | bytes | list[Packed] | dict[Packed, Packed] | None"
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTHS = {1: ">B", 2: ">H", 4: ">I"}
_DEEPEST = 32


def unpacked(data: bytes) -> Packed:
    """The value that the bytes begin with; InputError where they are no MessagePack."""
    try:
        return _Reader(data).value(0)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError):
        raise InputError("the metadata is damaged: no MessagePack") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._next = 0

    def value(self, depth: int) -> Packed:
        if depth > _DEEPEST:
            raise struct.error
        (first,) = self._take(1)
        if first < 0x80 or first >= 0xE0:
            return first if first < 0x80 else first - 0x100
        if first < 0x90:
            return self._map(first & 15, depth)
        if first < 0xA0:
            return self._array(first & 15, depth)
        if first < 0xC0:
            return self._take(first & 31).decode()
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _NUMBERS:
            return self._number(_NUMBERS[first])
        return self._long(first, depth)

    def _long(self, first: int, depth: int) -> Packed:
        """What has its length in front."""
        if first in (0xC4, 0xC5, 0xC6):
            return self._take(self._length(1 << first - 0xC4))
        if first in (0xD9, 0xDA, 0xDB):
            return self._take(self._length(1 << first - 0xD9)).decode()
        if first in (0xDC, 0xDD):
            return self._array(self._length(2 << first - 0xDC), depth)
        if first in (0xDE, 0xDF):
            return self._map(self._length(2 << first - 0xDE), depth)
        raise struct.error

    def _take(self, count: int) -> bytes:
        taken = self._data[self._next : self._next + count]
        if len(taken) < count:
            raise struct.error
        self._next += count
        return taken

    def _number(self, form: str) -> int | float:
        number: int | float = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return number

    def _length(self, width: int) -> int:
        return int(self._number(_LENGTHS[width]))

    def _array(self, count: int, depth: int) -> Packed:
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> Packed:
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}
