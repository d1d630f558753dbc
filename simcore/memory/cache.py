"""A set-associative cache of sectored lines: one tag a line, valid and dirty bits a sector.

A capacity that lines * ways do not divide is rounded down to whole sets; the number of sets may be
anything. A cache never holds data, only what is known of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device import CacheFacts
from kernelcast.simcore.memory.bitmask import ZERO, count_bits, count_groups, low_bits
from kernelcast.simcore.memory.coalescer import MAX_SECTOR_BYTES
from kernelcast.simcore.memory.compiled import compiled
from kernelcast.simcore.memory.replacement import (
    POLICIES,
    RANDOM_SEED,
    choose_way,
    needs_stamps,
)

__all__ = [
    "CacheState",
    "empty_cache",
    "fetch",
    "fetched_groups",
    "find",
    "flush",
    "open_line",
    "write_part",
    "write_whole",
]

_EMPTY = -1
_INDEXES = ("modulo", "hashed")
_MAX_SECTORS_PER_LINE = 32

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
SectorMasks = npt.NDArray[np.uint32]


class CacheState(NamedTuple):
    """`instances` equal caches; a set is instance * sets + index, a slot is set * ways + way.

    Arrays of shape (sets, ways): `tags` (line numbers), `stamps` (last use). Arrays of shape
    (slots,): `valid` and `dirty` (sector bit masks). `written_bytes`, shape
    (slots * sectors_per_line,), or empty where nothing stays dirty: byte masks of the dirty sectors
    that are not valid.
    Sectors come from below in aligned groups of `fetch_sectors`, and go back in such groups.
    `reciprocal` is 1 / sets. `clock`, `random`: one word. `written`: groups written back, and of
    them those that had to be read first because they were incomplete.
    """

    sectors_per_line: int
    line_shift: int
    sets: int
    reciprocal: float
    ways: int
    is_hashed: bool
    policy: int
    sector_bytes: int
    fetch_sectors: int
    tags: Ints
    stamps: Ints
    valid: SectorMasks
    dirty: SectorMasks
    written_bytes: Words
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
        1.0 / sets,
        ways,
        facts.index == "hashed",
        POLICIES[facts.replacement],
        sector_bytes,
        fetch_bytes // sector_bytes,
        np.full((instances * sets, ways), _EMPTY, np.int64),
        np.zeros((instances * sets, ways), np.int64),
        np.zeros(slots, np.uint32),
        np.zeros(slots, np.uint32),
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
def _quotient(number: int, divisor: int, reciprocal: float) -> int:
    """number // divisor: a product that rounding leaves next to it, then steps to the right one.

    Divisions of 64-bit integers take longer than all else that a cache does.
    """
    quotient = int(number * reciprocal)
    while quotient * divisor > number:
        quotient -= 1
    while number - quotient * divisor >= divisor:
        quotient += 1
    return quotient


@compiled
def _set_of(cache: CacheState, instance: int, line: int) -> int:
    """The set that a line belongs to.

    Hashing turns each run of `sets` lines by an amount of its own, so that strides of the cache's
    size spread and contiguous lines still fill all sets evenly.
    """
    run = _quotient(line, cache.sets, cache.reciprocal)
    index = line - run * cache.sets
    if cache.is_hashed:
        turned = np.uint64(run) * np.uint64(0x9E3779B97F4A7C15)
        index += int(np.int64(turned >> np.uint64(32)))
        index -= _quotient(index, cache.sets, cache.reciprocal) * cache.sets
    return instance * cache.sets + index


@compiled
def _way_of(cache: CacheState, at_set: int, line: int) -> int:
    """The way that holds the line, or -1: all tags are compared, so that the loop vectorises."""
    found = -1
    for way in range(cache.tags.shape[1]):
        if cache.tags[at_set, way] == line:
            found = way
    return found


@compiled
def find(cache: CacheState, instance: int, line: int) -> int:
    """The slot that holds the line, or -1."""
    at_set = _set_of(cache, instance, line)
    way = _way_of(cache, at_set, line)
    return way if way < 0 else at_set * cache.ways + way


@compiled
def _write_back(cache: CacheState, slot: int) -> None:
    """Counts the slot's dirty groups, and the incomplete ones among them; cleans it."""
    dirty, size = np.int64(cache.dirty[slot]), cache.fetch_sectors
    if dirty == 0:
        return
    cache.dirty[slot] = 0
    missing = ~np.int64(cache.valid[slot])
    if size == 1:
        cache.written[0] += count_bits(np.uint64(dirty))
        cache.written[1] += count_bits(np.uint64(dirty & missing))
        return
    whole = (1 << size) - 1
    for group in range(0, cache.sectors_per_line, size):
        if (dirty >> group) & whole:
            cache.written[0] += 1
            if (missing >> group) & whole:
                cache.written[1] += 1


@compiled
def _admit(cache: CacheState, at_set: int, line: int) -> int:
    """The way that an absent line takes; the line that had it is written back."""
    way = 0
    if cache.tags[at_set, cache.ways - 1] == _EMPTY:  # ways fill in order and never empty again
        while cache.tags[at_set, way] != _EMPTY:
            way += 1
    else:
        way = choose_way(cache.policy, cache.stamps, at_set, cache.random)
        _write_back(cache, at_set * cache.ways + way)
    cache.tags[at_set, way] = line
    cache.valid[at_set * cache.ways + way] = 0
    return way


@compiled
def open_line(cache: CacheState, instance: int, line: int) -> int:
    """The slot of the line, used just now; a line that was absent comes in without sectors."""
    at_set = _set_of(cache, instance, line)
    way = _way_of(cache, at_set, line)
    if way < 0:
        way = _admit(cache, at_set, line)
    if needs_stamps(cache.policy):
        cache.clock[0] += 1
        cache.stamps[at_set, way] = cache.clock[0]
    return at_set * cache.ways + way


@compiled
def fetch(cache: CacheState, slot: int, wanted: int) -> int:
    """Makes the sectors `wanted` valid; the mask of the groups that had to come from below."""
    missing = wanted & ~np.int64(cache.valid[slot])
    if missing == 0:
        return 0
    if cache.fetch_sectors > 1:
        group = (1 << cache.fetch_sectors) - 1
        for first in range(0, cache.sectors_per_line, cache.fetch_sectors):
            if missing & (group << first):
                missing |= group << first
    cache.valid[slot] |= np.uint32(missing)
    return int(missing)


@compiled
def write_whole(cache: CacheState, slot: int, sectors: int) -> int:
    """Marks all bytes of the mask `sectors` as dirty; how many of them were clean before."""
    dirty = np.int64(cache.dirty[slot])
    cache.dirty[slot] = np.uint32(dirty | sectors)
    cache.valid[slot] |= np.uint32(sectors)
    return count_bits(np.uint64(sectors & ~dirty))


@compiled
def write_part(cache: CacheState, slot: int, sector: int, bytes_: np.uint64) -> int:
    """Marks bytes of one sector as dirty; 1 if the sector was clean before, else 0."""
    at, bit = slot * cache.sectors_per_line + sector, 1 << sector
    was_dirty = np.int64(cache.dirty[slot]) & bit
    known = bytes_ | (cache.written_bytes[at] if was_dirty else ZERO)
    cache.written_bytes[at] = known
    cache.dirty[slot] |= np.uint32(bit)
    if known == low_bits(cache.sector_bytes):
        cache.valid[slot] |= np.uint32(bit)
    return 0 if was_dirty else 1


@compiled
def flush(cache: CacheState) -> None:
    """Writes every dirty sector back, as at the end of a kernel."""
    for slot in range(len(cache.dirty)):
        _write_back(cache, slot)


@compiled
def fetched_groups(cache: CacheState, fetched: int) -> int:
    """Transactions of the level below that bring the mask `fetched` of `fetch`."""
    return count_groups(fetched, cache.fetch_sectors)
