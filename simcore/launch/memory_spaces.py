"""Flat memories of thread blocks and threads, and what is wrong with an address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["ALL_LANES", "Addresses", "FlatMemory", "OutOfBounds", "check_alignment", "is_all"]

Addresses: TypeAlias = npt.NDArray[np.int64]
ALL_LANES: Addresses = np.zeros(0, np.int64)
"""Stands for every lane: an empty array that callers compare by identity."""


def is_all(lanes: Addresses) -> bool:
    """Whether the lanes are the constant that stands for all of them."""
    return lanes is ALL_LANES


class OutOfBounds(Exception):  # carried to the engine, which knows the line
    """Lane `lane` (a position in the address array) points outside, or is misaligned."""

    def __init__(self, lane: int, address: int, reason: str) -> None:
        super().__init__(reason)
        self.lane = lane
        self.address = address
        self.reason = reason


class FlatMemory:
    """`owners` equal pieces of `size` bytes (thread blocks' shared, threads' local memory)."""

    def __init__(self, name: str, size: int, owners: int = 1, data: bytes | None = None) -> None:
        """Makes zeros, or with `data` memory that begins with it and is only read."""
        self.name = name
        self.size = size
        self.stride = max(16, -(-size // 16) * 16)
        self.bytes = np.zeros(self.stride * owners, np.uint8)
        if data is not None:
            self.bytes[: len(data)] = np.frombuffer(data, np.uint8)
            self.bytes.flags.writeable = False
        self._views: dict[np.dtype[Any], npt.NDArray[Any]] = {}

    def replace(self, content: bytes, ranges: Iterable[tuple[int, int]]) -> None:
        """Makes what is only read hold the bytes [first, end) of a content, in place."""
        given = np.frombuffer(content, np.uint8)
        self.bytes.flags.writeable = True
        for first, end in ranges:
            self.bytes[first:end] = given[first:end]
        self.bytes.flags.writeable = False

    def typed(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The memory as an array of that type, without a copy."""
        view = self._views.get(dtype)
        if view is None:
            view = self._views[dtype] = self.bytes.view(dtype)
        return view

    def elements(
        self, address: Addresses, owner: Addresses | int, size: int, count: int
    ) -> npt.NDArray[np.int64]:
        """Element positions (of `size` bytes) of `count` neighbours at `address` of each owner."""
        check_alignment(address, size * count)
        last = self.size - size * count  # address + size may wrap around
        if address.size and (address.min() < 0 or address.max() > last):
            outside = (address < 0) | (address > last)
            lane = int(np.argmax(outside))
            raise OutOfBounds(
                lane, int(address.flat[lane]), f"outside {self.name} of {self.size} bytes"
            )
        return (address + owner * self.stride) >> (size.bit_length() - 1)


def check_alignment(address: Addresses, size: int) -> None:
    """Raises OutOfBounds for the first address that is no multiple of `size`, a power of two."""
    if size > 1 and address.size and int(np.bitwise_or.reduce(address, axis=None)) & (size - 1):
        lane = int(np.argmax((address & (size - 1)) != 0))
        raise OutOfBounds(lane, int(address.flat[lane]), f"misaligned for {size} bytes")
