"""A set-associative cache of sectored lines: one tag a line, valid bits and dirty bytes a sector.

A capacity that lines * ways do not divide is rounded down to whole sets; the number of sets may be
anything. A cache never holds data, only what is known of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device import CacheFacts
from kernelcast.simcore.memory.bitmask import ZERO, count_groups, low_bits
from kernelcast.simcore.memory.coalescer import MAX_SECTOR_BYTES
from kernelcast.simcore.memory.compiled import compiled
from kernelcast.simcore.memory.replacement import POLICIES, RANDOM_SEED, choose_way

__all__ = [
    "CacheState",
    "empty_cache",
    "fetch",
    "fetched_groups",
    "find",
    "flush",
    "open_line",
    "write",
]

_EMPTY = -1
_INDEXES = ("modulo", "hashed")
_MAX_SECTORS_PER_LINE = 32

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class CacheState(NamedTuple):
    """`instances` equal caches; a slot is (instance * sets + set) * ways + way.

    Arrays of shape (slots,): `tags` (line numbers), `valid` (sector bit masks), `stamps` (last
    use), `is_dirty`; `dirty` (byte masks) is (slots * sectors_per_line,), or empty where nothing
    stays dirty.
    Sectors come from below in aligned groups of `fetch_sectors`, and go back in such groups.
    `clock`, `random`: one word. `written`: groups written back, and of them those that had to be
    read first because they were incomplete.
    """

    sectors_per_line: int
    line_shift: int
    sets: int
    ways: int
    is_hashed: bool
    policy: int
    sector_bytes: int
    fetch_sectors: int
    tags: Ints
    valid: Ints
    stamps: Ints
    is_dirty: npt.NDArray[np.bool_]
    dirty: Words
    clock: Ints
    random: Words
    written: Ints


def empty_cache(
    facts: CacheFacts, sector_bytes: int, fetch_bytes: int, *, instances: int, keeps_dirty: bool
) -> CacheState:
    """A cold cache with sectors of `sector_bytes`, fetched `fetch_bytes` at a time.

    DeviceFileError for sizes that do not fit each other, and for unknown policies.
    """
    _check(facts, sector_bytes, fetch_bytes)
    ways = max(1, min(facts.ways, facts.capacity_bytes // facts.line_bytes))
    sets = max(1, facts.capacity_bytes // (facts.line_bytes * ways))
    slots = instances * sets * ways
    sectors_per_line = facts.line_bytes // sector_bytes
    return CacheState(
        sectors_per_line,
        sectors_per_line.bit_length() - 1,
        sets,
        ways,
        facts.index == "hashed",
        POLICIES[facts.replacement],
        sector_bytes,
        fetch_bytes // sector_bytes,
        np.full(slots, _EMPTY, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.bool_),
        np.zeros(slots * sectors_per_line if keeps_dirty else 0, np.uint64),
        np.zeros(1, np.int64),
        np.full(1, RANDOM_SEED, np.uint64),
        np.zeros(2, np.int64),
    )


def _check(facts: CacheFacts, sector_bytes: int, fetch_bytes: int) -> None:
    line = facts.line_bytes
    if sector_bytes.bit_count() != 1 or sector_bytes > MAX_SECTOR_BYTES:
        raise DeviceFileError(
            f"sectors must be a power of two up to {MAX_SECTOR_BYTES} bytes, got {sector_bytes}"
        )
    if line % fetch_bytes or fetch_bytes % sector_bytes:
        raise DeviceFileError(
            f"a cache line of {line} bytes cannot be fetched {fetch_bytes} bytes at a time "
            f"in sectors of {sector_bytes}"
        )
    sectors = line // sector_bytes
    if sectors > _MAX_SECTORS_PER_LINE or sectors.bit_count() != 1:
        raise DeviceFileError(
            f"a line must have a power of two of sectors up to {_MAX_SECTORS_PER_LINE}, "
            f"got {line} / {sector_bytes} bytes"
        )
    if facts.capacity_bytes < line or facts.ways < 1:
        raise DeviceFileError(
            f"a cache of {facts.capacity_bytes} bytes and {facts.ways} ways holds no line of {line}"
        )
    for name, known, what in (
        (facts.replacement, tuple(POLICIES), "replacement policy"),
        (facts.index, _INDEXES, "cache index"),
    ):
        if name not in known:
            raise DeviceFileError(f"unknown {what} {name!r}; known are {', '.join(known)}")


@compiled
def _first_slot(cache: CacheState, instance: int, line: int) -> int:
    """The first way of the line's set.

    Hashing turns each run of `sets` lines by an amount of its own, so that strides of the cache's
    size spread and contiguous lines still fill all sets evenly.
    """
    index = line % cache.sets
    if cache.is_hashed:
        run = np.uint64(line // cache.sets) * np.uint64(0x9E3779B97F4A7C15)
        index = (index + int(np.int64(run >> np.uint64(32)))) % cache.sets
    return (instance * cache.sets + index) * cache.ways


@compiled
def find(cache: CacheState, instance: int, line: int) -> int:
    """The slot that holds the line, or -1."""
    first = _first_slot(cache, instance, line)
    for slot in range(first, first + cache.ways):
        if cache.tags[slot] == line:
            return slot
    return -1


@compiled
def _write_back(cache: CacheState, slot: int) -> None:
    """Counts the slot's dirty groups, and the incomplete ones among them; cleans it."""
    if not cache.is_dirty[slot]:
        return
    cache.is_dirty[slot] = False
    first = slot * cache.sectors_per_line
    full = low_bits(cache.sector_bytes)
    for group in range(0, cache.sectors_per_line, cache.fetch_sectors):
        is_dirty, is_complete = False, True
        for sector in range(group, group + cache.fetch_sectors):
            dirty = cache.dirty[first + sector]
            is_dirty |= dirty != ZERO
            is_complete &= dirty == full or (cache.valid[slot] >> sector) & 1 == 1
            cache.dirty[first + sector] = ZERO
        if is_dirty:
            cache.written[0] += 1
            if not is_complete:
                cache.written[1] += 1


@compiled
def open_line(cache: CacheState, instance: int, line: int) -> int:
    """The slot of the line, used just now; a line that was absent comes in without sectors."""
    first = _first_slot(cache, instance, line)
    end = first + cache.ways
    cache.clock[0] += 1
    for slot in range(first, end):
        if cache.tags[slot] == line:
            cache.stamps[slot] = cache.clock[0]
            return slot
    if cache.tags[end - 1] == _EMPTY:  # ways fill in order and never empty again
        chosen = first
        while cache.tags[chosen] != _EMPTY:
            chosen += 1
    else:
        chosen = first + choose_way(cache.policy, cache.stamps[first:end], cache.random)
        _write_back(cache, chosen)
    cache.tags[chosen] = line
    cache.valid[chosen] = 0
    cache.stamps[chosen] = cache.clock[0]
    return chosen


@compiled
def fetch(cache: CacheState, slot: int, wanted: int) -> int:
    """Makes the sectors `wanted` valid; the mask of the groups that had to come from below."""
    missing = wanted & ~int(cache.valid[slot])
    if missing == 0:
        return 0
    if cache.fetch_sectors > 1:
        group = (1 << cache.fetch_sectors) - 1
        for first in range(0, cache.sectors_per_line, cache.fetch_sectors):
            if missing & (group << first):
                missing |= group << first
    cache.valid[slot] |= missing
    return missing


@compiled
def write(cache: CacheState, slot: int, sector: int, bytes_: np.uint64) -> bool:
    """Marks bytes of a sector as dirty; True if the sector was clean before."""
    cache.is_dirty[slot] = True
    at = slot * cache.sectors_per_line + sector
    before = cache.dirty[at]
    cache.dirty[at] = before | bytes_
    if cache.dirty[at] == low_bits(cache.sector_bytes):
        cache.valid[slot] |= 1 << sector
    return bool(before == ZERO)


@compiled
def flush(cache: CacheState) -> None:
    """Writes every dirty sector back, as at the end of a kernel."""
    for slot in range(len(cache.tags)):
        _write_back(cache, slot)


@compiled
def fetched_groups(cache: CacheState, fetched: int) -> int:
    """Transactions of the level below that bring the mask `fetched` of `fetch`."""
    return count_groups(fetched, cache.fetch_sectors)
