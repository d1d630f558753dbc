"""What the L2 of each device holds between launches."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, SupportsInt

import numpy as np

from kernelcast.simcore.device.device import Device

if TYPE_CHECKING:
    from kernelcast.simcore.memory.cache import CacheState

__all__ = ["CacheContents", "FirstContents"]


class FirstContents(Enum):
    """What L2 holds when a launch begins: nothing, or what some launch has left there."""

    NOTHING = "cold"
    EQUAL_LAUNCH = "warm"
    LAUNCHES_BEFORE = "kept"


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
        cache = self._held.get(device)
        if cache is None:
            return 0
        return int(np.bitwise_count(cache.valid | cache.dirty).sum()) * cache.sector_bytes

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
    sectors = cache.sectors_per_line
    line_bytes = sectors * cache.sector_bytes
    lines = first // line_bytes, -(-end // line_bytes)
    slots = np.flatnonzero((cache.tags >= lines[0]) & (cache.tags < lines[1]))
    starts = cache.tags[slots] * line_bytes
    begin = np.clip((first - starts) // cache.sector_bytes, 0, sectors)
    stop = np.clip(-((starts - end) // cache.sector_bytes), 0, sectors)
    kept = ~((np.int64(1) << stop) - (np.int64(1) << begin))
    cache.valid[slots] &= kept.astype(np.uint32)
    cache.dirty[slots] &= kept.astype(np.uint32)
