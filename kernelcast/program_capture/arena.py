"""The memory that a program and the server share: a file without a name, mapped by both.

Its first part stands for the memory of the GPU, which the program's own code cannot touch; the
second one for what host and GPU see alike: managed and page-locked memory. The program maps it at
the addresses that kernels see, so that pointers mean one thing everywhere.
"""

from __future__ import annotations

import mmap
import os
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import DeviceMemoryError
from kernelcast.program_capture.protocol import Space, Status
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory, Pointer

__all__ = ["ARENA_BASE", "ARENA_BYTES", "HOST_BASE", "Arena", "CallError"]

ARENA_BASE = 0x2000_0000_0000
_ZONE_BYTES = 1 << 39
HOST_BASE = ARENA_BASE + _ZONE_BYTES
ARENA_BYTES = 2 * _ZONE_BYTES
_ALIGNMENT = 256
_GUARD_BYTES = 4096
"""What lies between two allocations, as between those of a DeviceMemory."""
_FAR_BYTES = 1 << 28
"""What lies between two allocations that are to be far apart."""
_PAGE_BYTES = mmap.PAGESIZE
_GIVEN_BACK_BYTES = 1 << 20
"""Freed memory of at least that size goes back to the host at once."""


class CallError(Exception):
    """A call of the program fails with a status; the text is for people."""

    def __init__(self, status: Status, text: str = "") -> None:
        super().__init__(text or status.name.lower().replace("_", " "))
        self.status = status


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an allocation is in the file, in units that are not given to another one."""

    offset: int
    units: int
    size: int
    space: Space


class _ProgramMemory(DeviceMemory):
    """What is allocated for variables of modules lies in the file, where copies reach it."""

    def __init__(self, arena: Arena, device: str) -> None:
        super().__init__(name=device)
        self._arena = arena
        self.managed: set[str] = set()
        """Variables that the host reaches, too."""
        self.variables: dict[int, _Place] = {}

    def allocate(
        self, size: int, name: str = "", *, address: int | None = None, is_read_only: bool = False
    ) -> Allocation:
        """Allocates as any DeviceMemory, at a place in the file unless an address is given."""
        if address is not None:
            return super().allocate(size, name, address=address, is_read_only=is_read_only)
        space = Space.MANAGED if name in self.managed else Space.DEVICE
        place, contents = self._arena.take(size, space)
        host = contents.view()
        host.flags.writeable = not is_read_only
        found = self.adopt(host, name, address=ARENA_BASE + place.offset)
        self._contents[found.address] = contents
        self.variables[found.address] = place
        return found

    def free(self, pointer: Pointer) -> None:
        """Frees as any DeviceMemory; the place in the file can be taken again."""
        super().free(pointer)
        place = self.variables.pop(int(pointer), None)
        if place is not None:
            self._arena.give_back(place)


class Arena:
    """Allocations of one program in a `DeviceMemory` of its own.

    `is_spacious`: they are far apart, and no place is taken twice.
    """

    def __init__(self, capacity_bytes: int, device: str, *, is_spacious: bool = False) -> None:
        self._is_spacious = is_spacious
        self._memory = _ProgramMemory(self, device)
        self.memory: DeviceMemory = self._memory
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        """Of the GPU's memory."""
        self.most_used_bytes = 0
        self.file = os.memfd_create("kernelcast")
        os.truncate(self.file, ARENA_BYTES)
        self._map = mmap.mmap(self.file, ARENA_BYTES)
        self._bytes: npt.NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        self._next = {False: 0, True: _ZONE_BYTES}
        self._free: dict[tuple[bool, int], list[int]] = defaultdict(list)
        self._places: dict[int, _Place] = {}
        self._registered: dict[int, _Place] = {}
        self._count = 0

    def close(self) -> None:
        """Gives the memory back to the host; what still looks at it sees zeros."""
        self._map.madvise(mmap.MADV_REMOVE)
        os.close(self.file)

    def allocate(self, size: int, space: Space) -> int:
        """The address of `size` bytes of zeros; CallError when the GPU has no room."""
        if space is not Space.HOST:
            if self.used_bytes + _in_units(size) > self.capacity_bytes:
                raise CallError(
                    Status.OUT_OF_MEMORY,
                    f"{self.memory.name} is full: {size:,} bytes are asked for, and "
                    f"{self.used_bytes:,} of its {self.capacity_bytes:,} are taken",
                )
            self.used_bytes += _in_units(size)
            self.most_used_bytes = max(self.most_used_bytes, self.used_bytes)
        place = self._taken(size, space)
        address = ARENA_BASE + place.offset
        self._count += 1
        self._adopt(address, place, f"allocation {self._count}")
        self._places[address] = place
        return address

    def free(self, address: int) -> None:
        """Gives an allocation back; CallError when none begins there."""
        place = self._places.pop(address, None)
        if place is None:
            try:
                if not self._is_of_others(address):
                    self.memory.free(address)
            except DeviceMemoryError as error:
                raise CallError(Status.INVALID_VALUE, str(error)) from None
            raise CallError(Status.INVALID_VALUE, f"{address:#x} was not allocated by the program")
        self.memory.free(address)
        if place.space is not Space.HOST:
            self.used_bytes -= _in_units(place.size)
        self.give_back(place)

    def free_all(self) -> None:
        """Gives all allocations of the program back."""
        for address in list(self._places):
            self.free(address)

    def _is_of_others(self, address: int) -> bool:
        """Whether a variable or memory of the host begins there."""
        found = self.memory.find(address)
        return found is not None and found.address == address

    def register(self, address: int, size: int) -> int:
        """A place in the file for pages of the program, which kernels see at their address."""
        if any(
            known < address + size and address < known + it.size
            for known, it in self._registered.items()
        ):
            raise CallError(Status.ALREADY_REGISTERED, f"{address:#x} was registered before")
        place = self._taken(size, Space.HOST)
        self._adopt(address, place, f"host memory at {address:#x}")
        self._registered[address] = place
        return place.offset

    def unregister(self, address: int) -> tuple[int, int]:
        """Ends that: place and size, whose contents the program takes back."""
        place = self._registered.pop(address, None)
        if place is None:
            raise CallError(Status.NOT_REGISTERED, f"{address:#x} was not registered")
        self.memory.free(address)
        return place.offset, place.size

    def space_of(self, address: int) -> Space | None:
        """What the allocation is for that holds an address; None outside of all of them."""
        found = self.memory.find(address)
        if found is None or address >= max(found.end, found.address + 1):
            return None
        if found.address in self._registered:
            return Space.HOST
        place = self._places.get(found.address, self._memory.variables.get(found.address))
        return Space.DEVICE if place is None else place.space

    def host_visible(self) -> list[tuple[int, int]]:
        """Address and size of all that host and GPU see alike."""
        places = {**self._places, **self._memory.variables}
        found = [(address, it) for address, it in places.items() if _is_shared(it.space)]
        found += self._registered.items()
        return [(address, it.size) for address, it in found if it.size]

    def check(self, address: int, size: int, what: str) -> None:
        """Checks that bytes are of one allocation, or all of the host's own: else CallError."""
        if not ARENA_BASE <= address < ARENA_BASE + ARENA_BYTES:
            return
        try:
            self.memory.view(address, size)
        except DeviceMemoryError as error:
            raise CallError(Status.INVALID_VALUE, f"{what}: {error}") from None

    def share(self, variable: str) -> None:
        """Puts a variable, when it is made, where the host reaches it, too."""
        self._memory.managed.add(variable)

    def take(self, size: int, space: Space) -> tuple[_Place, npt.NDArray[np.uint8]]:
        """A place for what is no allocation of the program, and its bytes."""
        place = self._taken(size, space)
        return place, self._bytes[place.offset : place.offset + size]

    def _adopt(self, address: int, place: _Place, name: str) -> None:
        contents = self._bytes[place.offset : place.offset + place.size]
        try:
            self.memory.adopt(contents, name, address=address)
        except DeviceMemoryError as error:
            raise CallError(Status.INVALID_VALUE, str(error)) from None

    def _taken(self, size: int, space: Space) -> _Place:
        """A free place: that of the last allocation of this size that was freed, or a new one."""
        is_host = _is_shared(space)
        units = max(_in_units(size), _ALIGNMENT)
        known = self._free[is_host, units]
        if known:
            offset = known.pop()
            self._bytes[offset : offset + size] = 0
            return _Place(offset, units, size, space)
        step = _PAGE_BYTES if is_host else _ALIGNMENT
        offset = -(-self._next[is_host] // step) * step
        end = offset + units + self._guard_bytes(offset)
        if end > (2 if is_host else 1) * _ZONE_BYTES:
            raise CallError(Status.OUT_OF_MEMORY, "the program has used up all addresses")
        self._next[is_host] = end
        return _Place(offset, units, size, space)

    def _guard_bytes(self, offset: int) -> int:
        """The distance to the next allocation, as long as there is room for it."""
        has_room = self._is_spacious and offset % _ZONE_BYTES < _ZONE_BYTES // 2
        return _FAR_BYTES if has_room else _GUARD_BYTES

    def give_back(self, place: _Place) -> None:
        """Lets a place be taken again."""
        is_host = _is_shared(place.space)
        if not self._is_spacious:
            self._free[is_host, place.units].append(place.offset)
        first = -(-place.offset // _PAGE_BYTES) * _PAGE_BYTES
        whole = (place.offset + place.units - first) // _PAGE_BYTES * _PAGE_BYTES
        if whole >= _GIVEN_BACK_BYTES:
            self._map.madvise(mmap.MADV_REMOVE, first, whole)


def _is_shared(space: Space) -> bool:
    return space in (Space.HOST, Space.MANAGED)


def _in_units(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
