"""A set-associative cache of sectored lines: one tag a line, valid and dirty bits a sector.

A capacity that lines * ways do not divide is rounded down to whole sets; the number of sets may be
anything. A cache never holds data, only what is known of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device.device import CacheFacts
from kernelcast.simcore.host.compiled import compiled, inlined
from kernelcast.simcore.memory.bitmask import ZERO, count_bits, count_groups, low_bits
from kernelcast.simcore.memory.coalescer import MAX_SECTOR_BYTES
from kernelcast.simcore.memory.dram_pieces import none_begun
from kernelcast.simcore.memory.replacement.policies import (
    POLICIES,
    cold_recency,
    insert,
    policy_number,
    touch,
    victim,
)
from kernelcast.simcore.memory.replacement.role import MAX_WAYS, RANDOM_SEED
from kernelcast.simcore.memory.sets.sectors import (
    Masks,
    add_dirty,
    add_valid,
    dirty_of,
    drop_all,
    no_sectors,
    valid_of,
)
from kernelcast.simcore.memory.sets.way_search import (
    BYTES_AT_ONCE,
    EMPTY_PRINT,
    NOT_FOUND,
    empty_way,
    high_product,
    padded,
    print_of,
    way_of,
)

__all__ = [
    "CacheState",
    "copied",
    "dirty_groups",
    "empty_cache",
    "fetch",
    "fetched_groups",
    "find",
    "home",
    "line_bytes",
    "open_line",
    "write_part",
    "write_whole",
]

_NO_LINE = -1
_LONG_AGO = -(1 << 62)
_INDEXES = ("modulo", "hashed")
_MAX_SECTORS_PER_LINE = 32

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


class CacheState(NamedTuple):
    """`instances` equal caches; a slot is (instance * ways + way) * sets + index of the set.

    So neighbouring lines, which mostly take the same way, lie beside each other.

    Arrays of shape (slots,): `tags`, the line numbers; `masks` of their sectors (`sets.sectors`);
    `arrivals`, when sectors came last, and `stores`, the last store (`on_the_way`), the latter
    empty where nothing stays dirty.
    `prints`: a byte of each line's number (`sets.way_search`). `recency`: what the policy knows of
    past uses. Both are by sets, instance * sets + index, with `stride` places for the ways of each.
    `written_bytes`, shape (slots * sectors_per_line,), or empty where nothing
    stays dirty: byte masks of the dirty sectors that are not valid.
    `partitions` of the instances are one cache; `home` is the partition that a line belongs to.
    Sectors come from below in aligned groups of `fetch_sectors`; one transaction brings
    `transaction_sectors` of them, and takes as many back.
    `reciprocal` is 2^64 / sets, rounded up; `set_mask` is sets - 1 for a power of two, else
    negative.
    `begun`: pieces of DRAM that were asked for lately (`dram_pieces`).
    `clock`, `random`: one word. `written`: groups written back, and of them those that had to be
    read first because they were incomplete.
    """

    sectors_per_line: int
    partitions: int
    line_shift: int
    sets: int
    set_mask: int
    reciprocal: np.uint64
    ways: int
    stride: int
    is_hashed: bool
    policy: int
    sector_bytes: int
    fetch_sectors: int
    transaction_sectors: int
    tags: Ints
    masks: Masks
    arrivals: Ints
    stores: Ints
    prints: Bytes
    recency: Ints
    written_bytes: Words
    clock: Ints
    random: Words
    written: Ints
    begun: Ints


def empty_cache(
    facts: CacheFacts,
    sector_bytes: int,
    fetch_bytes: int,
    *,
    instances: int,
    keeps_dirty: bool,
    transaction_bytes: int | None = None,
) -> CacheState:
    """A cold cache with sectors of `sector_bytes`, fetched `fetch_bytes` at a time.

    Transactions are of `transaction_bytes`, or as long as what is fetched. DeviceFileError for
    sizes that do not fit each other, and for unknown policies.
    """
    _check(facts, sector_bytes, fetch_bytes)
    ways = max(1, min(facts.ways, facts.capacity_bytes // facts.line_bytes))
    sets = max(1, facts.capacity_bytes // (facts.line_bytes * ways))
    stride = padded(ways)
    slots, places = instances * sets * ways, instances * sets * stride
    sectors_per_line = facts.line_bytes // sector_bytes
    chosen = policy_number(facts.replacement, ways)
    return CacheState(
        sectors_per_line=sectors_per_line,
        partitions=facts.partitions,
        line_shift=sectors_per_line.bit_length() - 1,
        sets=sets,
        set_mask=sets - 1 if sets.bit_count() == 1 else -1,
        reciprocal=np.uint64(_reciprocal(sets)),
        ways=ways,
        stride=stride,
        is_hashed=facts.index == "hashed" and sets > 1,
        policy=chosen,
        sector_bytes=sector_bytes,
        fetch_sectors=fetch_bytes // sector_bytes,
        transaction_sectors=(transaction_bytes or fetch_bytes) // sector_bytes,
        tags=np.full(slots, _NO_LINE, np.int64),
        masks=no_sectors(slots, sectors_per_line),
        arrivals=np.full(slots, _LONG_AGO, np.int64),
        stores=np.full(slots if keeps_dirty else 0, _LONG_AGO, np.int64),
        prints=np.full(places + BYTES_AT_ONCE, EMPTY_PRINT, np.uint8),
        recency=cold_recency(chosen, ways, stride, instances * sets),
        written_bytes=np.zeros(slots * sectors_per_line if keeps_dirty else 0, np.uint64),
        clock=np.zeros(1, np.int64),
        random=np.full(1, RANDOM_SEED, np.uint64),
        written=np.zeros(2, np.int64),
        begun=none_begun(),
    )


def _reciprocal(sets: int) -> int:
    """2^64 / sets, rounded up; 0 for one set, which needs none."""
    return -(-(1 << 64) // sets) & 0xFFFFFFFFFFFFFFFF


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
    if facts.ways > MAX_WAYS:
        raise DeviceFileError(f"a cache of {facts.ways} ways; at most {MAX_WAYS} are possible")
    for name, known, what in (
        (facts.replacement, POLICIES, "replacement policy"),
        (facts.index, _INDEXES, "cache index"),
    ):
        if name not in known:
            raise DeviceFileError(f"unknown {what} {name!r}; known are {', '.join(known)}")


@inlined
def _divided(number: int, divisor: int, reciprocal: np.uint64) -> tuple[int, int]:
    """number // divisor and number % divisor; by the reciprocal the quotient may be one too large.

    Divisions of 64-bit integers take longer than all else that a cache does.
    """
    if divisor == 1:
        return number, 0
    quotient = np.int64(high_product(np.uint64(number), reciprocal))
    left = number - quotient * divisor
    if left < 0:
        return int(quotient - 1), int(left + divisor)
    return int(quotient), int(left)


def copied(cache: CacheState) -> CacheState:
    """A cache with equal contents in arrays of its own, which has written nothing back yet."""
    return cache._replace(
        tags=cache.tags.copy(),
        masks=cache.masks.copy(),
        arrivals=np.full_like(cache.arrivals, _LONG_AGO),
        stores=np.full_like(cache.stores, _LONG_AGO),
        prints=cache.prints.copy(),
        recency=cache.recency.copy(),
        written_bytes=cache.written_bytes.copy(),
        clock=cache.clock.copy(),
        random=cache.random.copy(),
        written=np.zeros_like(cache.written),
        begun=none_begun(),
    )


@compiled
def line_bytes(cache: CacheState) -> int:
    """Bytes of a line."""
    return cache.sectors_per_line * cache.sector_bytes


@compiled
def home(cache: CacheState, line: int) -> int:
    """The partition that reads a line from below and writes it back.

    Neighbouring lines go round the partitions, so that each has an equal share of every set.
    """
    if cache.partitions == 1:
        return 0
    turn = line + _divided(line, cache.sets, cache.reciprocal)[0]
    if cache.partitions == 2:
        return turn & 1
    return int(turn % cache.partitions)


@compiled
def _set_of(cache: CacheState, line: int) -> int:
    """The set of an instance that a line belongs to.

    Hashing turns each run of `sets` lines by an amount of its own, so that strides of the cache's
    size spread and contiguous lines still fill all sets evenly.
    """
    if cache.set_mask >= 0 and not cache.is_hashed:
        return line & cache.set_mask
    run, index = _divided(line, cache.sets, cache.reciprocal)
    if cache.is_hashed:
        turned = np.uint64(run) * np.uint64(0x9E3779B97F4A7C15)
        index += int(np.int64(turned >> np.uint64(32)))
        index = _divided(index, cache.sets, cache.reciprocal)[1]
    return index


@compiled
def find(cache: CacheState, instance: int, line: int) -> int:
    """The slot that holds the line, or -1."""
    index = _set_of(cache, line)
    ways = (instance * cache.sets + index) * cache.stride
    slots = instance * cache.ways * cache.sets + index
    way = way_of(cache.prints, ways, cache.ways, cache.tags, slots, cache.sets, line)
    return way if way == NOT_FOUND else slots + way * cache.sets


@compiled
def _count_dirty(cache: CacheState, slot: int, counts: Ints) -> None:
    """Adds the slot's dirty groups, and the incomplete ones among them, to two counts."""
    dirty = dirty_of(cache.masks, slot)
    if dirty == 0:
        return
    valid = valid_of(cache.masks, slot)
    if cache.transaction_sectors == 1:
        counts[0] += count_bits(np.uint64(dirty))
        counts[1] += count_bits(np.uint64(dirty & ~valid))
        return
    first, whole = 0, (1 << cache.transaction_sectors) - 1
    while first < cache.sectors_per_line:
        if (dirty >> first) & whole:
            counts[0] += 1
            if (~valid >> first) & whole:
                counts[1] += 1
        first += cache.transaction_sectors


@compiled
def _admit(cache: CacheState, ways: int, slots: int, line: int) -> int:
    """The way that an absent line takes; the line that had it is written back."""
    last = np.uint64(ways + cache.ways - 1)
    if cache.prints[last] == EMPTY_PRINT:  # ways fill in order, for good
        way = empty_way(cache.prints, ways, cache.ways)
    else:
        way = victim(cache.policy, cache.recency, ways, cache.stride, cache.ways, cache.random)
    slot = slots + way * cache.sets
    if len(cache.stores):  # something may be dirty
        _count_dirty(cache, slot, cache.written)
    cache.tags[np.uint64(slot)] = line
    drop_all(cache.masks, slot)
    cache.prints[np.uint64(ways + way)] = np.uint8(print_of(line))
    return int(way)


@compiled
def open_line(cache: CacheState, instance: int, line: int) -> int:
    """The slot of the line, used just now; a line that was absent comes in without sectors."""
    index = _set_of(cache, line)
    ways = (instance * cache.sets + index) * cache.stride
    slots = instance * cache.ways * cache.sets + index
    way = way_of(cache.prints, ways, cache.ways, cache.tags, slots, cache.sets, line)
    if way == NOT_FOUND:
        way = _admit(cache, ways, slots, line)
        insert(cache.policy, cache.recency, ways, cache.stride, cache.ways, way, cache.clock)
    else:
        touch(cache.policy, cache.recency, ways, cache.stride, cache.ways, way, cache.clock)
    return slots + way * cache.sets


@compiled
def fetch(cache: CacheState, slot: int, wanted: int) -> int:
    """Makes the sectors `wanted` valid; the mask of the groups that had to come from below."""
    missing = int(wanted & ~valid_of(cache.masks, slot))
    if missing == 0:
        return 0
    if cache.fetch_sectors == cache.sectors_per_line:
        missing = (1 << cache.sectors_per_line) - 1
    elif cache.fetch_sectors > 1:
        group, first = (1 << cache.fetch_sectors) - 1, 0
        while first < cache.sectors_per_line:
            if missing & (group << first):
                missing |= group << first
            first += cache.fetch_sectors
    add_valid(cache.masks, slot, missing)
    return int(missing)


@compiled
def write_whole(cache: CacheState, slot: int, sectors: int) -> int:
    """Marks all bytes of the mask `sectors` as dirty; how many of them were clean before."""
    dirty = dirty_of(cache.masks, slot)
    add_dirty(cache.masks, slot, sectors)
    add_valid(cache.masks, slot, sectors)
    return count_bits(np.uint64(sectors & ~dirty))


@compiled
def write_part(cache: CacheState, slot: int, sector: int, bytes_: np.uint64) -> int:
    """Marks bytes of one sector as dirty; 1 if the sector was clean before, else 0."""
    place, bit = np.uint64((slot << cache.line_shift) + sector), 1 << sector
    was_dirty = dirty_of(cache.masks, slot) & bit
    known = bytes_ | (cache.written_bytes[place] if was_dirty else ZERO)
    cache.written_bytes[place] = known
    add_dirty(cache.masks, slot, bit)
    if known == low_bits(cache.sector_bytes):
        add_valid(cache.masks, slot, bit)
    return 0 if was_dirty else 1


@compiled
def _count_all_dirty(cache: CacheState, counts: Ints) -> None:
    for slot in range(len(cache.tags)):
        _count_dirty(cache, slot, counts)


def dirty_groups(cache: CacheState) -> Ints:
    """What a write-back of everything would add to `written`, shape (2,)."""
    counts = np.zeros(2, np.int64)
    _count_all_dirty(cache, counts)
    return counts


@compiled
def fetched_groups(cache: CacheState, fetched: int) -> int:
    """Transactions of the level below that bring the mask `fetched` of `fetch`."""
    return count_groups(fetched, cache.transaction_sectors)
