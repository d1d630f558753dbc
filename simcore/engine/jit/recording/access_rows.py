"""Access records of compiled code as rows of a trace: compiled, ring by ring."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.runtime_functions import RECORD_WORDS, SPACES
from kernelcast.simcore.engine.jit.recording.repeated_loads import (
    Patterns,
    Repeats,
    is_repeated,
)
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_MASK
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace

__all__ = [
    "SLOTS",
    "CountStore",
    "PatternStore",
    "PcFacts",
    "Rows",
    "Scratch",
    "Stores",
    "decode",
    "key_columns",
    "refill",
]

Ints = npt.NDArray[np.int64]
Column = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

SLOTS = 1 << 10
"""The first capacity of a PatternStore."""
_SLOT_SHIFT = 64 - 10
_PHASES = 16
_MOST_ROWS_A_RECORD = len(WINDOWS) + 1
_LOCAL_FIRST_ADDRESS = 0x6000_0000_0000
_GLOBAL = SPACES[AddressSpace.GLOBAL]
_GENERIC = SPACES[AddressSpace.GENERIC]
_LOCAL = SPACES[AddressSpace.LOCAL]
_SHARED = SPACES[AddressSpace.SHARED]
_WINDOW_SPACES = np.array([SPACES[space] for space in WINDOWS], np.int64)
_WINDOW_STARTS = np.array([WINDOWS[space] for space in WINDOWS], np.int64)
# A count's key is pattern, pc, stage and start: 24 + 17 + 18 + 4 bits.
_PC_BITS, _STAGE_BITS, _START_BITS = 17, 18, 4
_HASH = 0x1E3779B97F4A7C15


class PcFacts(NamedTuple):
    """Facts of instructions by pc.

    `space`: a number of SPACES; `bytes` of one lane's access; `launch_lanes`: lanes of all warps,
    which local memory interleaves.
    """

    space: Ints
    bytes: Ints
    launch_lanes: int


class Rows(NamedTuple):
    """One row per warp access to global or local memory, in the order of the records.

    `address` of the first active lane; `pattern` a row of the pattern store.
    """

    pc: Column
    warp: Column
    time: Column
    stage: Column
    address: Ints
    pattern: Column


class PatternStore(NamedTuple):
    """Patterns, found again by hash as long as no other one of the same `slot` has come.

    Regular kernels thus have few; of an irregular one each access may have its own.
    """

    slot: Column
    hash: Words
    mask: Words
    offsets: Ints


class CountStore(NamedTuple):
    """How often a shared or constant access had a pattern: an open table of keys, -1 empty."""

    key: Ints
    often: Ints


class Scratch(NamedTuple):
    """Working memory for one warp's accesses.

    `lanes`: room for one warp's addresses. `memo`: by listed offsets the last plain access's mask,
    pattern and first lane. `repeats`: what was asked for before.
    """

    lanes: Ints
    memo: Ints
    repeats: Repeats


class Stores(NamedTuple):
    """What accesses become; `used`: rows, patterns and counts so far."""

    patterns: PatternStore
    rows: Rows
    counts: CountStore
    used: Ints


@compiled
def _count_key(pattern: int, pc: int, stage: int, start: int) -> int:
    return ((pattern << _PC_BITS | pc) << _STAGE_BITS | stage) << _START_BITS | start


@compiled
def _add_count(key: int, number: int, store: CountStore, used: Ints) -> None:
    size = len(store.key) - 1
    mixed = np.uint64(key) * np.uint64(_HASH)
    at = np.int64(mixed >> np.uint64(33)) & size
    while store.key[at] != key:
        if store.key[at] < 0:
            store.key[at] = key
            used[2] += 1
            break
        at = (at + 1) & size
    store.often[at] += number


@compiled
def refill(old: CountStore, store: CountStore, used: Ints) -> None:
    """Moves the counts of a store that has become too small."""
    for at in range(len(old.key)):
        if old.key[at] >= 0:
            _add_count(old.key[at], old.often[at], store, used)


def key_columns(keys: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """(pc, stage, start, pattern) of keys of counts."""
    stage = keys >> _START_BITS & ((1 << _STAGE_BITS) - 1)
    pc = keys >> (_START_BITS + _STAGE_BITS) & ((1 << _PC_BITS) - 1)
    pattern = keys >> (_START_BITS + _STAGE_BITS + _PC_BITS)
    return pc, stage, keys & (_PHASES - 1), pattern


@compiled
def _accept(mask: Any, hashed: Any, store: PatternStore, used: Ints) -> int:
    """The row of the pattern that was offered in row `used[1]`.

    `hashed`: its offsets' sum with multipliers by lane, which compilers make vector code of as
    long as the loop over lanes calls no function.
    """
    total = np.uint64(hashed)
    key = np.uint64(mask) + (total ^ (total >> np.uint64(29)))
    at = (key * np.uint64(_HASH)) >> np.uint64(_SLOT_SHIFT)
    row, new = np.int64(store.slot[at]), used[1]
    if row >= 0 and store.hash[row] == key and store.mask[row] == np.uint64(mask):
        known, offered, differ = store.offsets[row], store.offsets[new], np.int64(0)
        for lane in range(len(known)):
            differ |= known[lane] ^ offered[lane]
        if differ == 0:
            return int(row)
    store.slot[at] = new
    store.hash[new] = key
    store.mask[new] = np.uint64(mask)
    used[1] = new + 1
    return int(new)


@compiled
def _window_of(space: int, address: int) -> int:
    """The window's number of a generic address: -1 for global memory; -2: no window asked."""
    if space != _GENERIC:
        return -2
    for number in range(len(_WINDOW_STARTS)):
        far = address - _WINDOW_STARTS[number]
        if 0 <= far < WINDOW_BYTES:
            return number
    return -1


@compiled
def _put(
    pc: int,
    warp: int,
    when: int,
    where: int,
    space: int,
    address: Any,
    pattern: int,
    stores: Stores,
) -> None:
    """Order matters to global and local memory only, the rest is counted."""
    rows, used = stores.rows, stores.used
    stage = (where >> 32) & 0xFFFFFFFF
    if space != _GLOBAL and space != _LOCAL:
        key = _count_key(pattern, pc, stage, address & (_PHASES - 1))
        _add_count(key, 1, stores.counts, used)
        return
    row = used[0]
    used[0] = row + 1
    rows.pc[row] = pc
    rows.warp[row] = warp
    rows.time[row] = when & 0xFFFFFFFF
    rows.stage[row] = stage
    rows.address[row] = address
    rows.pattern[row] = pattern


@compiled
def _first_lane(mask: Any) -> int:
    first = 0
    while (mask >> np.uint64(first)) & np.uint64(1) == np.uint64(0):
        first += 1
    return first


@compiled
def _put_by_window(
    pc: int,
    warp: int,
    when: int,
    where: int,
    mask: int,
    facts: PcFacts,
    lanes: Ints,
    stores: Stores,
) -> None:
    """Records a local or generic access, lane by lane.

    A local access is moved to where hardware interleaves it; the lanes of a generic one are told
    apart by space.
    """
    space, store, used = facts.space[pc], stores.patterns, stores.used
    width = len(lanes)
    rest = np.uint64(mask)
    while rest != np.uint64(0):
        first = _first_lane(rest)
        window = _window_of(space, lanes[first])
        start, to_space = np.int64(0), space
        if window >= 0:
            start, to_space = _WINDOW_STARTS[window], _WINDOW_SPACES[window]
        elif window == -1:
            to_space = _GLOBAL
        taken, base, total = np.uint64(0), np.int64(0), np.int64(0)
        for lane in range(width):
            store.offsets[used[1], lane] = 0
            bit = np.uint64(1) << np.uint64(lane)
            if rest & bit == np.uint64(0) or _window_of(space, lanes[lane]) != window:
                continue
            taken |= bit
            place = lanes[lane] - start
            if to_space == _SHARED:
                place &= OFFSET_MASK
            if to_space == _LOCAL:
                owner = (warp * width + lane) * facts.bytes[pc]
                place = _LOCAL_FIRST_ADDRESS + place * facts.launch_lanes + owner
            if lane == first:
                base = place
            store.offsets[used[1], lane] = place - base
            total += (place - base) * (lane * _HASH + 1)
        rest &= ~taken
        pattern = _accept(taken, total, store, used)
        _put(pc, warp, when, where, to_space, base, pattern, stores)


@compiled
def decode(
    words: Ints,
    start: int,
    warps: int,
    lane_offsets: Ints,
    facts: PcFacts,
    scratch: Scratch,
    stores: Stores,
) -> int:
    """Records from word `start` on; returns where it stopped.

    It stops early when rows, patterns or counts might overflow with the next record. `lane_offsets`
    are those of lanes by their number. Records that no lane made are dropped.
    """
    width = len(scratch.lanes)
    memo, used = scratch.memo, stores.used
    store, rows, counts = stores.patterns, stores.rows, stores.counts
    most_rows = len(rows.pc) - _MOST_ROWS_A_RECORD
    most_patterns = len(store.mask) - _MOST_ROWS_A_RECORD
    most_counts = len(counts.key) // 2 - _MOST_ROWS_A_RECORD
    known = Patterns(store.mask, store.offsets)
    at = start
    while at < len(words):
        if used[0] > most_rows or used[1] > most_patterns or used[2] > most_counts:
            break
        info, when, where, mask = words[at], words[at + 1], words[at + 2], words[at + 3]
        is_listed = info & (1 << 31) != 0
        pc = info & 0xFFFFFF
        space = facts.space[pc]
        warp = (where & 0xFFFFFFFF) * warps + ((when >> 32) & 0xFFFFFFFF)
        at_time = scratch.repeats, pc, warp, warps, when & 0xFFFFFFFF
        first_word = at + 4
        at += RECORD_WORDS if is_listed else 4 + width
        if mask == 0:
            continue
        is_plain = space != _GENERIC and space != _LOCAL
        which = (info >> 32) & 0xFFFFFFFF
        if is_listed and is_plain and memo[which, 0] == mask:
            address = words[first_word] + lane_offsets[which, memo[which, 2]]
            if not is_repeated(*at_time, address, memo[which, 1], known):
                _put(pc, warp, when, where, space, address, memo[which, 1], stores)
            continue
        # slices: an index that might be negative would keep the loops from being vectorised
        places, origin = words[first_word : first_word + width], np.int64(0)
        if is_listed:
            places, origin = lane_offsets[which], words[first_word]
        if not is_plain:
            for lane in range(width):
                scratch.lanes[lane] = places[lane] + origin
            _put_by_window(pc, warp, when, where, mask, facts, scratch.lanes, stores)
            continue
        active, offsets = np.uint64(mask), store.offsets[used[1]]
        first = _first_lane(active)
        kept = np.int64(OFFSET_MASK if space == _SHARED and not is_listed else -1)
        base, total = places[first] & kept, np.int64(0)
        for lane in range(width):
            is_active = -(np.int64(active >> np.uint64(lane)) & 1)
            offset = ((places[lane] & kept) - base) & is_active
            offsets[lane] = offset
            total += offset * (lane * _HASH + 1)
        pattern = _accept(active, total, store, used)
        if is_listed:
            memo[which, 0] = mask
            memo[which, 1] = pattern
            memo[which, 2] = first
        if not is_repeated(*at_time, base + origin, pattern, known):
            _put(pc, warp, when, where, space, base + origin, pattern, stores)
    return at
