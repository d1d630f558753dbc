"""One hash for values that are equal, in whatever process they are made.

It takes what launches, kernels and devices consist of: dataclasses, enumerations, arrays, buffers
that are not made yet, containers and plain values. Opcodes count by their names, or by what they
are made from, for the sources that define them are part of every key (`code_version`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import numpy as np

from kernelcast.simcore.isa.opcodes.table import Opcode
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer

__all__ = ["NotDigestible", "digest"]

_Feed = Callable[[bytes], None]
_LARGEST_PIECE = 1 << 24


class NotDigestible(Exception):
    """A value whose contents cannot be told, such as a function."""


def digest(*values: object) -> str:
    """A SHA-256 of the values as hexadecimal digits; NotDigestible for what it does not know."""
    found = hashlib.sha256()
    pending = bytearray()

    def feed(data: bytes) -> None:
        pending.extend(data)
        if len(pending) > _LARGEST_PIECE:
            found.update(pending)
            pending.clear()

    def flush(array: Any) -> None:
        found.update(pending)
        pending.clear()
        found.update(array)

    _Walk(feed, flush).add(values)
    found.update(pending)
    return found.hexdigest()


class _Walk:
    """Feeds values to a hash, each with its type and length, so that no two run together."""

    def __init__(self, feed: _Feed, feed_array: Callable[[Any], None]) -> None:
        self._feed = feed
        self._feed_array = feed_array
        self._sets: dict[frozenset[Any], bytes] = {}
        self._takes: dict[type, Callable[[Any], None]] = {
            type(None): lambda _none: feed(b"N"),
            bool: lambda value: feed(b"T" if value else b"F"),
            int: lambda value: self._text(b"i", repr(value)),
            float: lambda value: self._text(b"f", value.hex()),
            str: lambda value: self._text(b"s", value),
            bytes: lambda value: self._bytes(b"b", value),
            tuple: lambda value: self._items(b"(", value),
            list: lambda value: self._items(b"[", value),
            frozenset: self._set,
            dict: self._mapping,
            MappingProxyType: self._mapping,
            np.ndarray: self._array,
            LazyBuffer: self._buffer,
            Opcode: lambda value: self._text(b"o", value.name),
            WarpOpcode: lambda value: self._text(b"w", value.name),
        }

    def add(self, value: Any) -> None:
        """Feeds one value."""
        kind = type(value)
        take = self._takes.get(kind)
        if take is None:
            take = self._takes[kind] = self._way(kind)
        take(value)

    def _way(self, kind: type) -> Callable[[Any], None]:
        """How values of a type that is none of the usual ones are fed."""
        name = f"{kind.__module__}.{kind.__qualname__}"
        if issubclass(kind, Enum):
            return lambda value: self._text(b"e", f"{name}.{value.name}")
        if issubclass(kind, np.generic):
            return lambda value: self._array(np.asarray(value))
        if issubclass(kind, PurePath):
            return lambda value: self._text(b"p", str(value))
        if issubclass(kind, WarpOpcode) and kind.__reduce__ is not object.__reduce__:
            return lambda value: self._made(name, value)
        if is_dataclass(kind):
            return self._way_of_dataclass(kind, name)
        if issubclass(kind, tuple):
            return lambda value: self._items(b"t" + name.encode(), value)
        if issubclass(kind, (int, float, str)):
            raise NotDigestible(name)
        if issubclass(kind, Mapping):
            return self._mapping
        raise NotDigestible(name)

    def _way_of_dataclass(self, kind: Any, name: str) -> Callable[[Any], None]:
        names = _field_names(kind)
        head = b"d%d " % len(names) + name.encode() + b"\0"

        def take(value: Any) -> None:
            self._feed(head)
            for field in names:
                self.add(getattr(value, field))

        return take

    def _made(self, name: str, opcode: WarpOpcode) -> None:
        """Feeds what an opcode in no table is made from: its functions follow from that."""
        made: Any = opcode.__reduce__()
        self._items(b"O" + name.encode(), made[1])

    def _text(self, tag: bytes, text: str) -> None:
        self._bytes(tag, text.encode(errors="surrogatepass"))

    def _bytes(self, tag: bytes, data: bytes) -> None:
        self._feed(b"%b%d:" % (tag, len(data)))
        self._feed(data)

    def _items(self, tag: bytes, items: Any) -> None:
        self._feed(b"%b%d," % (tag, len(items)))
        for item in items:
            self.add(item)

    def _set(self, items: frozenset[Any]) -> None:
        if items not in self._sets:
            self._sets[items] = "".join(sorted(map(digest, items))).encode()
        self._bytes(b"{", self._sets[items])

    def _mapping(self, items: Mapping[Any, Any]) -> None:
        """Feeds items in the order of the mapping, which may decide where things are placed."""
        self._feed(b"m%d," % len(items))
        for key, value in items.items():
            self.add(key)
            self.add(value)

    def _array(self, array: Any) -> None:
        if array.dtype.hasobject:
            raise NotDigestible(f"an array of {array.dtype}")
        self._text(b"a", f"{array.dtype.str}{array.shape}")
        if array.nbytes:
            self._feed_array(np.ascontiguousarray(array).reshape(-1).view(np.uint8))

    def _buffer(self, buffer: LazyBuffer) -> None:
        """Feeds how a buffer is filled, until it is made and could have been changed."""
        if buffer.is_materialised:
            self._array(buffer.materialise())
            return
        if buffer.recipe is None:
            raise NotDigestible("a buffer filled by a function")
        self._text(b"l", f"{buffer.dtype.str}{buffer.shape}{buffer.recipe}")


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))
