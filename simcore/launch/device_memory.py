"""The memory of a device: allocations whose virtual addresses and contents outlive launches.

Addresses are 256-byte aligned like a device allocator's, and none is given twice, so that traces do
not depend on where the host keeps an array, and memory that was freed is never somebody else's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from kernelcast.errors import DeviceMemoryError
from kernelcast.simcore.host.limits import check_room
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS
from kernelcast.simcore.launch.allocations import (
    Allocation,
    AllocationTable,
    Host,
    Rows,
    flat_bytes,
)
from kernelcast.simcore.launch.heap import Heap
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.memory_spaces import Addresses, OutOfBounds, check_alignment

__all__ = ["FIRST_OF_LAUNCHES", "DeviceMemory", "Pointer"]

Kept = TypeVar("Kept")
Pointer: TypeAlias = Allocation | int
"""A virtual address in device memory."""

_FIRST_ADDRESS = 0x7F00_0000_0000
FIRST_OF_LAUNCHES = 1 << 48
"""Where the arrays of launches begin that have a device memory: behind all of its addresses."""
_ALIGNMENT = 256
# Space between allocations, so that running off one end does not land in a neighbour unnoticed.
_GUARD_BYTES = 4096
_MOST_REMEMBERED = 1 << 16
"""How many freed allocations are known by name."""


class DeviceMemory:
    """Allocations that launches share: `kernel.run(..., memory=memory)`.

    `capacity_bytes` is that of the GPU, such as `kc.device("gtx-480").dram.capacity_bytes`; without
    it the host's memory is the limit. `name` is what messages call it. Contents begin as zeros.
    """

    def __init__(
        self,
        capacity_bytes: int | None = None,
        name: str = "device memory",
        *,
        distance_bytes: int = _GUARD_BYTES,
    ) -> None:
        """`distance_bytes`: what lies between allocations at least."""
        self.capacity_bytes = capacity_bytes
        self._distance = distance_bytes
        self.name = name
        self._base: DeviceMemory | None = None
        self._table = AllocationTable()
        self._next = _FIRST_ADDRESS
        self._used = 0
        self._count = 0
        self._freed: deque[Allocation] = deque(maxlen=_MOST_REMEMBERED)
        self._contents: dict[int, npt.NDArray[np.uint8]] = {}
        self._heap: Heap | None = None
        self._arguments: list[tuple[int, str]] = []
        self._kept: dict[int, tuple[object, object]] = {}

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.allocations)} allocations, {self.used_bytes:,} bytes>"

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """All allocations, in the order of their addresses."""
        return self._table.allocations

    @property
    def changes(self) -> int:
        """How often allocations have come or gone."""
        return self._table.changes

    @property
    def used_bytes(self) -> int:
        """Bytes that are taken, in units of 256."""
        return self._used + (0 if self._base is None else self._base.used_bytes)

    def allocate(
        self, size: int, name: str = "", *, address: int | None = None, is_read_only: bool = False
    ) -> Allocation:
        """Allocates `size` bytes of zeros, at a free place or at an `address`.

        Kernels may not write what `is_read_only`. Raises DeviceMemoryError when the memory is full
        or something is at the address, LaunchError when the host has no room.
        """
        if size < 0:
            raise DeviceMemoryError(f"an allocation of {size} bytes")
        name = name or f"allocation {self._count + 1}"
        self._check_capacity(size, name)
        check_room(size, name)
        try:
            contents = np.zeros(size, np.uint8)
        except MemoryError:
            raise DeviceMemoryError(f"the host has no memory for {name} ({size} bytes)") from None
        host = contents.view()
        host.flags.writeable = not is_read_only
        found = self._placed(name, size, host, address)
        self._contents[found.address] = contents
        return found

    def adopt(
        self, array: npt.NDArray[Any] | LazyBuffer, name: str = "", *, address: int | None = None
    ) -> Allocation:
        """Makes a C-contiguous array itself device memory: it is read and written in place.

        Raises DeviceMemoryError as `allocate` does.
        """
        name = name or f"allocation {self._count + 1}"
        self._check_capacity(array.nbytes, name)
        if isinstance(array, LazyBuffer):
            return self._placed(name, array.nbytes, array, address)
        if not array.flags.c_contiguous:
            raise DeviceMemoryError(f"{name} is not C-contiguous")
        return self._placed(name, array.nbytes, flat_bytes(array), address)

    def free(self, pointer: Pointer) -> None:
        """Gives an allocation back; DeviceMemoryError when none begins there, or not any more."""
        address = int(pointer)
        found = self._table.remove(address)
        if found is None:
            raise DeviceMemoryError(f"free of {address:#x}: {self._why_not_freed(address)}")
        self._contents.pop(address, None)
        self._used -= _in_units(found.size)
        self._freed.append(Allocation(found.name, address, found.size, flat_bytes(_NOTHING)))

    def view(self, pointer: Pointer, size: int) -> npt.NDArray[np.uint8]:
        """The `size` bytes from a pointer on, in place; DeviceMemoryError when they are not there.

        They are those of one allocation.
        """
        address = int(pointer)
        found = self._table.find(address)
        if size < 0 or found is None or address + size > found.end:
            raise DeviceMemoryError(
                f"{size} bytes at address {address:#x}: {self.explain(address, size)}"
            )
        distance = address - found.address
        contents = self._contents.get(found.address, None)
        whole = found.bytes if contents is None else contents
        return whole[distance : distance + size]

    def write(self, pointer: Pointer, values: npt.ArrayLike) -> None:
        """Copies an array, in C order, to the bytes from a pointer on.

        DeviceMemoryError when they are not those of one allocation.
        """
        given = flat_bytes(np.ascontiguousarray(values))
        self.view(pointer, given.size)[:] = given

    def read(
        self, pointer: Pointer, shape: int | tuple[int, ...], dtype: npt.DTypeLike = np.uint8
    ) -> npt.NDArray[Any]:
        """A copy of the elements from a pointer on, of that shape and type.

        DeviceMemoryError when they are not those of one allocation.
        """
        found = np.empty(shape, dtype)
        flat_bytes(found)[:] = self.view(pointer, found.nbytes)
        return found

    def fill(
        self, pointer: Pointer, value: int | float, count: int, dtype: npt.DTypeLike = np.uint8
    ) -> None:
        """Sets `count` elements from a pointer on to a value.

        DeviceMemoryError when they are not those of one allocation.
        """
        kind = np.dtype(dtype)
        self.view(pointer, count * kind.itemsize).view(kind)[:] = value

    def copy(self, destination: Pointer, source: Pointer, size: int) -> None:
        """Copies `size` bytes within the memory; the two places may overlap.

        DeviceMemoryError when either is not within one allocation.
        """
        np.copyto(self.view(destination, size), self.view(source, size))

    def find(self, pointer: Pointer) -> Allocation | None:
        """The allocation that holds a pointer or ends there; None when there is none."""
        return self._table.find(int(pointer))

    def place_of(self, array: npt.NDArray[Any]) -> tuple[Allocation, int] | None:
        """The allocation whose contents an array is a view of, and the address of its first byte.

        None for an array of other memory.
        """
        known, rows = self._table.allocations, self._table.rows()
        distance = array.__array_interface__["data"][0] - rows[:, 3]
        within = (distance >= 0) & (distance + array.nbytes <= rows[:, 1]) & (rows[:, 1] > 0)
        if not array.nbytes or not within.any():
            return None
        number = int(np.argmax(within))
        return known[number], known[number].address + int(distance[number])

    def holds(self, allocation: Allocation) -> bool:
        """Whether the allocation is one of this memory and was not freed."""
        return self._table.find(allocation.address) is allocation

    def locate(
        self, address: Addresses, size: int, count: int
    ) -> list[tuple[Allocation, Addresses]]:
        """(allocation, positions of the lanes that it serves) such that all lanes are served.

        OutOfBounds when some are not, or are misaligned.
        """
        check_alignment(address, size * count)
        found, lane = self._table.locate(address, size * count)
        if lane is not None:
            outside = int(address[lane])
            raise OutOfBounds(lane, outside, self.explain(outside, size * count))
        return found

    def rows(self) -> Rows:
        """A row for each allocation, as `AllocationTable.rows` makes them."""
        return self._table.rows()

    def heap(self, size: int) -> Heap:
        """The heap of `malloc` in kernels, of `size` bytes when it is first asked for."""
        if self._base is not None:
            return self._base.heap(size)
        if self._heap is None:
            self._heap = Heap(self.allocate(size, "the heap of malloc").address, size)
        return self._heap

    def kept(self, owner: object, make: Callable[[DeviceMemory], Kept]) -> Kept:
        """What `make` once made of this memory for `owner`, which lives as long as it."""
        if id(owner) not in self._kept:
            self._kept[id(owner)] = owner, make(self)
        return cast("Kept", self._kept[id(owner)][1])

    def forget(self, owner: object) -> None:
        """Gives up what is kept for `owner`."""
        self._kept.pop(id(owner), None)

    def heap_state(self) -> dict[int, int]:
        """What of the heap is taken: bytes by address."""
        return {} if self._heap is None else dict(self._heap.taken)

    def restore_heap(self, taken: dict[int, int]) -> None:
        """Makes the heap what it was when `heap_state` was asked."""
        if self._heap is not None:
            self._heap.taken = dict(taken)

    def for_launch(self) -> DeviceMemory:
        """Makes room in the memory for what one launch brings itself, which is gone with it."""
        found = DeviceMemory(self.capacity_bytes, self.name, distance_bytes=self._distance)
        found._base, found._next = self, FIRST_OF_LAUNCHES
        found._table = AllocationTable(self._table)
        return found

    def note_argument(self, address: int, name: str) -> None:
        """Makes messages say which argument of a launch points to an allocation."""
        self._arguments.append((address, name))

    def forget_arguments(self, names: Collection[str]) -> None:
        """Makes messages know nothing of the arguments of those names."""
        self._arguments = [known for known in self._arguments if known[1] not in names]

    def explain(self, address: int, size: int) -> str:
        """Why `size` bytes at an address are not those of one allocation, as half a sentence."""
        holder = self._table.find(address)
        freed = self._freed_at(address)
        if freed is not None and (holder is None or address >= holder.end):
            return f"inside {self._described(freed)}, which was freed"
        near = self._table.nearest(address)
        if near is None:
            return "outside: there is no allocation"
        if address >= near.end:
            return f"{address - near.end} bytes past the end of {self._described(near)}"
        if address < near.address:
            return f"{near.address - address} bytes before {near.name}"
        return f"across the end of {self._described(near)}"

    def _described(self, allocation: Allocation) -> str:
        """The name, the size, and the arguments that point into it under other names."""
        names = dict.fromkeys(
            name
            for address, name in self._arguments
            if allocation.address <= address <= allocation.end and name != allocation.name
        )
        passed = f", argument {', '.join(names)}" if names else ""
        return f"{allocation.name} ({allocation.size} bytes{passed})"

    def _freed_at(self, address: int) -> Allocation | None:
        found = (
            a for a in reversed(self._freed) if a.address <= address < max(a.end, a.address + 1)
        )
        latest = next(found, None)
        if latest is None and self._base is not None:
            return self._base._freed_at(address)
        return latest

    def _why_not_freed(self, address: int) -> str:
        freed = self._freed_at(address)
        if freed is not None and freed.address == address:
            return f"{freed.name} was freed before"
        inside = self._table.find(address)
        if inside is not None and address < inside.end:
            return f"that is {address - inside.address} bytes into {self._described(inside)}"
        return "no allocation begins there"

    def _check_capacity(self, size: int, name: str) -> None:
        if self.capacity_bytes is None or self.used_bytes + _in_units(size) <= self.capacity_bytes:
            return
        raise DeviceMemoryError(
            f"{self.name} is full: {name} takes {size:,} bytes, and {self.used_bytes:,} of its "
            f"{self.capacity_bytes:,} are taken"
        )

    def _placed(self, name: str, size: int, host: Host, address: int | None) -> Allocation:
        if address is None:
            address = self._free_place(size)
            self._next = -(-(address + size + self._distance) // _ALIGNMENT) * _ALIGNMENT
        else:
            self._check_place(name, size, address)
        found = Allocation(name, address, size, host)
        self._table.add(found)
        self._used += _in_units(size)
        self._count += 1
        return found

    def _free_place(self, size: int) -> int:
        """The first address behind all that were chosen before, not near one that was given."""
        address = self._next
        while (there := self._table.overlapping(address, size + self._distance)) is not None:
            address = -(-(there.end + self._distance) // _ALIGNMENT) * _ALIGNMENT
        return address

    def _check_place(self, name: str, size: int, address: int) -> None:
        """Raises DeviceMemoryError for an address that cannot be that of an allocation."""
        end = address + size
        lowest = max(WINDOWS.values()) + WINDOW_BYTES
        if not lowest <= address <= end <= FIRST_OF_LAUNCHES:
            raise DeviceMemoryError(
                f"{name} of {size} bytes at {address:#x}: device memory has addresses from "
                f"{lowest:#x} to {FIRST_OF_LAUNCHES:#x}"
            )
        there = self._table.overlapping(address, size)
        if there is not None:
            raise DeviceMemoryError(f"{name} at {address:#x}: {self._described(there)} is there")


_NOTHING: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)


def _in_units(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
