"""Allocations of device memory and the table that finds them by address."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.memory_spaces import ALL_LANES, Addresses

__all__ = ["ROW_WORDS", "Allocation", "AllocationTable", "Host", "flat_bytes"]

Host: TypeAlias = npt.NDArray[np.uint8] | LazyBuffer
Rows: TypeAlias = npt.NDArray[np.int64]
ROW_WORDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """`size` bytes of device memory from `address` on.

    It is a device pointer: `int(allocation)` is its address, `allocation + n` the one n bytes on.
    `host` is the host's memory: flat bytes, or a lazy buffer that makes them when they are needed.
    """

    name: str
    address: int
    size: int
    host: Host

    def __int__(self) -> int:
        return self.address

    def __index__(self) -> int:
        return self.address

    def __add__(self, distance: int) -> int:
        return self.address + distance

    def __repr__(self) -> str:
        return f"<{self.name}: {self.size} bytes at {self.address:#x}>"

    @property
    def end(self) -> int:
        """The first address behind the allocation."""
        return self.address + self.size

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """The contents, read and written in place; LaunchError when they do not fit the memory."""
        if isinstance(self.host, LazyBuffer):
            return flat_bytes(self.host.materialise())
        return self.host

    @property
    def is_materialised(self) -> bool:
        """Whether the contents exist; those of a lazy buffer are made on demand."""
        return not isinstance(self.host, LazyBuffer) or self.host.is_materialised

    @property
    def row(self) -> tuple[int, int, int, int]:
        """Address, bytes, bytes that may be written, and the host's address: ROW_WORDS numbers."""
        if not self.is_materialised:  # slices run without contents
            return self.address, self.size, self.size, 0
        contents = self.bytes
        writable = self.size if contents.flags.writeable else 0
        return self.address, self.size, writable, contents.ctypes.data

    def typed(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The contents as an array of that type, without a copy or an incomplete last element."""
        return self.bytes[: self.size // dtype.itemsize * dtype.itemsize].view(dtype)


class AllocationTable:
    """Allocations in the order of their addresses; none overlaps another.

    With `below` it has all of that table, too, whose addresses are lower, and sees its changes.
    """

    def __init__(self, below: AllocationTable | None = None) -> None:
        self._below = below
        self._addresses: list[int] = []
        self._allocations: list[Allocation] = []
        self._changes = 0
        self._rows: tuple[int, Rows] | None = None
        self._own_rows: Rows | None = None

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """All allocations, in the order of their addresses."""
        below = () if self._below is None else self._below.allocations
        return (*below, *self._allocations)

    @property
    def changes(self) -> int:
        """How often the table has changed."""
        return self._changes + (0 if self._below is None else self._below.changes)

    def add(self, allocation: Allocation) -> None:
        """Adds an allocation; the caller knows that nothing is there (`overlapping`)."""
        position = bisect_left(self._addresses, allocation.address)
        self._addresses.insert(position, allocation.address)
        self._allocations.insert(position, allocation)
        self._changes += 1
        if self._own_rows is not None:
            is_known = allocation.is_materialised
            row = allocation.row
            self._own_rows = np.insert(self._own_rows, position, row, 0) if is_known else None

    def remove(self, address: int) -> Allocation | None:
        """The allocation that began there, taken out; None when none does."""
        position = bisect_left(self._addresses, address)
        if self._addresses[position : position + 1] != [address]:
            return None
        del self._addresses[position]
        self._changes += 1
        if self._own_rows is not None:
            self._own_rows = np.delete(self._own_rows, position, 0)
        return self._allocations.pop(position)

    def find(self, address: int) -> Allocation | None:
        """The allocation that holds the address or ends there."""
        near = self._last_from(address)
        return near if near is not None and address <= near.end else None

    def overlapping(self, address: int, size: int) -> Allocation | None:
        """An allocation that has one of `size` bytes from an address on, or begins there."""
        near = self._last_from(max(address, address + size - 1))
        return (
            near if near is not None and (near.end > address or near.address == address) else None
        )

    def nearest(self, address: int) -> Allocation | None:
        """The allocation whose bytes are fewest away; None in an empty table."""
        near = (self._last_from(address), self._first_behind(address))
        known = [allocation for allocation in near if allocation is not None]
        if not known:
            return None
        return min(known, key=lambda a: max(a.address - address, address - a.end + 1, 0))

    def locate(
        self, address: Addresses, size: int
    ) -> tuple[list[tuple[Allocation, Addresses]], int | None]:
        """(allocation, positions of the lanes that it serves) for accesses of `size` bytes.

        With it the first lane that no allocation serves; None when all are served. ALL_LANES stands
        for all positions.
        """
        low, high = int(address.min()), int(address.max()) + size
        near = self._last_from(low)
        if near is not None and high <= near.end:
            return [(near, ALL_LANES)], None
        known, rows = self.allocations, self.rows()
        number = np.searchsorted(rows[:, 0], address, side="right") - 1
        if not known:
            return [], 0
        within = address - rows[number, 0]
        served = (number >= 0) & (within <= rows[number, 1] - size)
        if not served.all():
            return [], int(np.argmin(served))
        return [(known[n], np.flatnonzero(number == n)) for n in np.unique(number).tolist()], None

    def rows(self) -> Rows:
        """`Allocation.row` of each, shape (allocations, ROW_WORDS), rising addresses.

        The memory has a row of zeros at least, also where there is no allocation.
        """
        if self._rows is not None and self._rows[0] == self.changes:
            return self._rows[1]
        own = self._own_rows
        if own is None:
            rows = [allocation.row for allocation in self._allocations]
            own = np.array(rows, np.int64).reshape(-1, ROW_WORDS)
        found = _rows(own if self._below is None else np.concatenate((self._below.rows(), own)))
        if self._own_rows is not None or self._all_exist():
            self._own_rows = own
            self._rows = (self.changes, found)
        return found

    def _all_exist(self) -> bool:
        """Whether all contents are there; others are made later, elsewhere."""
        return all(allocation.is_materialised for allocation in self._allocations)

    def _last_from(self, address: int) -> Allocation | None:
        """The last allocation that begins at an address or before."""
        position = bisect_right(self._addresses, address)
        if position:
            return self._allocations[position - 1]
        return None if self._below is None else self._below._last_from(address)

    def _first_behind(self, address: int) -> Allocation | None:
        """The first allocation that begins behind an address."""
        if self._below is not None:
            found = self._below._first_behind(address)
            if found is not None:
                return found
        position = bisect_right(self._addresses, address)
        return self._allocations[position] if position < len(self._allocations) else None


def _rows(known: Rows) -> Rows:
    """The rows in memory that has one more, of zeros."""
    found = np.zeros((len(known) + 1, ROW_WORDS), np.int64)
    found[:-1] = known
    return found[:-1]


def flat_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """A view of the array's memory, not a copy, shape (bytes,)."""
    flat = array.reshape(-1)
    return flat.view(np.uint8) if flat.size else _EMPTY


_EMPTY: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
