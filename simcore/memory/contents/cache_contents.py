"""What the L2 of each device holds between launches, and until when some of it is left in one."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, SupportsInt

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device

if TYPE_CHECKING:
    from kernelcast.simcore.memory.cache import CacheState

__all__ = ["CacheContents", "FirstContents", "Turnover"]

_ACCESSES_PER_LOOK = 1 << 16
_MOST_ACCESSES = 1 << 25
_TURNOVERS = {"lru": 2, "fifo": 2}
_MOST_TURNOVERS = 8
"""Capacities of L2 after whose traffic nothing of its first contents is taken to be left.

Random replacement still has a fifth of them after two, and one in a thousand after eight.
"""


class FirstContents(Enum):
    """What L2 holds when a launch begins: nothing, or what some launch has left there."""

    NOTHING = "cold"
    EQUAL_LAUNCH = "warm"
    LAUNCHES_BEFORE = "kept"


class Turnover:
    """Finds the thread block before which L2 has got other contents than a launch found there.

    It looks after every so many accesses, at the next end of a thread block, and only there: what
    it finds depends on the accesses, not on the batches in which they come.
    """

    def __init__(self, device: Device) -> None:
        turnovers = _TURNOVERS.get(device.l2.replacement, _MOST_TURNOVERS)
        self._enough = turnovers * device.l2.capacity_bytes
        self._accesses = 0
        self._until_look = _ACCESSES_PER_LOOK
        self.end: int | None = None
        """Thread blocks of the launch until then; None as long as more have to come."""
        self.is_complete = True
        """Whether later ones would have told nothing."""

    def next_look(self, ends: npt.NDArray[np.int64], begin: int) -> int:
        """The thread block of a batch before which to look, beyond its last one if there is none.

        `ends`, shape (thread blocks + 1,): accesses of the batch before each of its thread blocks,
        of which those from `begin` on come next.
        """
        if self.end is not None:
            return len(ends)
        return int(np.searchsorted(ends, ends[begin] + self._until_look))

    def pass_by(self, accesses: int) -> None:
        """Counts accesses that have come, up to the next look at most."""
        self._accesses += accesses
        self._until_look -= accesses

    def look(self, thread_blocks: int, moved_bytes: int) -> None:
        """Takes what went to or from DRAM before a later thread block than these can start."""
        self._until_look = _ACCESSES_PER_LOOK
        if moved_bytes >= self._enough:
            self.end = thread_blocks
        elif self._accesses >= _MOST_ACCESSES:
            self.end, self.is_complete = thread_blocks, False


class CacheContents:
    """What launches leave in L2 for the next one: `kernel.run(..., memory=..., caches=contents)`.

    Each device of the runs has an L2 of its own, empty until a launch on it. Lines are known by
    their addresses, so that all launches must be on one DeviceMemory.
    """

    def __init__(self) -> None:
        self._held: dict[Device, CacheState] = {}
        self._memory: weakref.ref[object] | None = None

    def __repr__(self) -> str:
        held = (f"{device.name}: {self.held_bytes(device):,} bytes" for device in self._held)
        return f"<contents of L2: {', '.join(held) or 'nothing'}>"

    def invalidate(self, pointer: SupportsInt, size: int) -> None:
        """The sectors of `size` bytes from an address on leave the L2 of all devices.

        To be called when the host has copied to them and when they are freed. No launch pays for
        what was dirty of them.
        """
        first = int(pointer)
        for cache in self._held.values():
            _drop(cache, first, first + size)

    def held_bytes(self, device: Device) -> int:
        """Bytes of the sectors that the L2 of a device holds, dirty ones included."""
        from kernelcast.simcore.memory.sets.sectors import dirty_sectors, valid_sectors

        cache = self._held.get(device)
        if cache is None:
            return 0
        held = valid_sectors(cache.masks) | dirty_sectors(cache.masks)
        return int(np.bitwise_count(held).sum()) * cache.sector_bytes

    def of(self, device: Device) -> CacheState | None:
        """What the L2 of a device holds; None for nothing. It is not to be changed."""
        return self._held.get(device)

    def keep(self, device: Device, left: CacheState) -> None:
        """Takes what a launch has left in the L2 of a device."""
        self._held[device] = left

    def bind(self, memory: object) -> bool:
        """Makes the memory of the first launch that of all; whether it is `memory`."""
        if self._memory is None:
            self._memory = weakref.ref(memory)
        return self._memory() is memory

    @contextmanager
    def launch(self) -> Iterator[CacheContents]:
        """Contents that a launch may change; these become the same once it has succeeded."""
        changed = CacheContents()
        changed._held = dict(self._held)
        yield changed
        self._held = changed._held


def _drop(cache: CacheState, first: int, end: int) -> None:
    """Takes the sectors of the bytes from `first` to `end` from a cache."""
    # compiled code, which commands that simulate nothing do without
    from kernelcast.simcore.memory.sets.sectors import keep_sectors

    sectors = cache.sectors_per_line
    line_bytes = sectors * cache.sector_bytes
    lines = first // line_bytes, -(-end // line_bytes)
    numbers = cache.tags
    slots = np.flatnonzero((numbers >= lines[0]) & (numbers < lines[1]))
    starts = numbers[slots] * line_bytes
    begin = np.clip((first - starts) // cache.sector_bytes, 0, sectors)
    stop = np.clip(-((starts - end) // cache.sector_bytes), 0, sectors)
    kept = ~((np.int64(1) << stop) - (np.int64(1) << begin))
    keep_sectors(cache.masks, slots, kept)
