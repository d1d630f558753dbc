"""Access records of native code as the columns of a trace: compiled, ring by ring."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.runtime_code import RECORD_WORDS, SPACES
from kernelcast.simcore.isa.address_windows import WINDOW_BYTES, WINDOWS
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.memory.compiled import compiled

__all__ = ["AccessLog", "PcFacts", "Rows"]

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_FIRST_TABLE = 1 << 12
_LOCAL_FIRST_ADDRESS = 0x6000_0000_0000
_GLOBAL = SPACES[AddressSpace.GLOBAL]
# A count's key is pattern, pc, stage and phase: 24 + 17 + 18 + 4 bits.
_PC_BITS, _STAGE_BITS = 17, 18
_GENERIC = SPACES[AddressSpace.GENERIC]
_LOCAL = SPACES[AddressSpace.LOCAL]
_WINDOW_SPACES = np.array([SPACES[space] for space in WINDOWS], np.int64)
_WINDOW_STARTS = np.array([WINDOWS[space] for space in WINDOWS], np.int64)


@dataclass(frozen=True)
class PcFacts:
    """By pc: `space` (a number of SPACES) and `bytes` of one lane's access; `launch_lanes`: lanes
    of all warps, which local memory interleaves."""

    space: Ints
    bytes: Ints
    launch_lanes: int


class Rows(NamedTuple):
    """One row per warp access to global or local memory, in the order of the records.

    `address` of the first active lane; `pattern` a row of the pattern table.
    """

    pc: Ints
    warp: Ints
    time: Ints
    stage: Ints
    address: Ints
    pattern: Ints


class PatternStore(NamedTuple):
    """Distinct (mask, offsets), found by hash: `slot` is an open table of row numbers, -1 empty."""

    slot: Ints
    hash: Words
    mask: Words
    offsets: Ints
    used: Ints  # one number


class CountStore(NamedTuple):
    """How often a shared or constant access had a pattern: an open table of keys, -1 empty."""

    key: Ints
    often: Ints
    used: Ints  # one number


@compiled
def _count(key: int, number: int, store: CountStore) -> None:
    size = len(store.key) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(mixed >> np.uint64(33)) & size
    while store.key[at] != key:
        if store.key[at] < 0:
            store.key[at] = key
            store.used[0] += 1
            break
        at = (at + 1) & size
    store.often[at] += number


def _new_counts(size: int) -> CountStore:
    return CountStore(np.full(size, -1, np.int64), np.zeros(size, np.int64), np.zeros(1, np.int64))


@compiled
def _hash(mask: Any, offsets: Ints) -> Any:
    mixed = np.uint64(mask) * np.uint64(0x9E3779B97F4A7C15)
    for lane in range(len(offsets)):
        mixed ^= np.uint64(offsets[lane])
        mixed *= np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return mixed


@compiled
def _pattern(mask: Any, offsets: Ints, store: PatternStore) -> int:
    """The row of a pattern, new if need be."""
    key = _hash(mask, offsets)
    size = np.uint64(len(store.slot) - 1)
    at = key & size
    while store.slot[at] >= 0:
        row = store.slot[at]
        if store.hash[row] == key and store.mask[row] == np.uint64(mask):
            same = True
            for lane in range(len(offsets)):
                same &= store.offsets[row, lane] == offsets[lane]
            if same:
                return int(row)
        at = (at + np.uint64(1)) & size
    row = store.used[0]
    store.used[0] = row + 1
    store.slot[at] = row
    store.hash[row] = key
    store.mask[row] = np.uint64(mask)
    for lane in range(len(offsets)):
        store.offsets[row, lane] = offsets[lane]
    return int(row)


@compiled
def _in_space(space: int, address: int) -> int:
    """Of a generic address: its window's number, -1 for global memory; -2: no window asked."""
    if space != _GENERIC:
        return -2
    for number in range(len(_WINDOW_STARTS)):
        far = address - _WINDOW_STARTS[number]
        if 0 <= far < WINDOW_BYTES:
            return number
    return -1


@compiled
def _decode(  # noqa: C901 -- one pass over the records, in compiled code
    words: Ints,
    start: int,
    shapes: Ints,
    facts_space: Ints,
    facts_bytes: Ints,
    launch_lanes: int,
    warps: int,
    lanes: Ints,
    offsets: Ints,
    memo: Ints,
    store: PatternStore,
    counts: CountStore,
    rows: Rows,
    limits: Ints,
) -> int:
    """Records from word `start` on; returns where it stopped, `limits[0]` the rows written.

    It stops early when rows, patterns or counts might overflow with the next record. `memo`:
    by lane shape the last (mask, pattern).
    """
    width = len(lanes)
    at, row = start, 0
    while at < len(words):
        if row + 6 > len(rows.pc) or store.used[0] + 6 > limits[1]:
            break
        if 2 * (counts.used[0] + 6) > len(counts.key):
            break
        info, when, where, mask = words[at], words[at + 1], words[at + 2], words[at + 3]
        is_shape = info & (1 << 31) != 0
        pc = info & 0xFFFFFF
        space = facts_space[pc]
        warp = (where & 0xFFFFFFFF) * warps + ((when >> 32) & 0xFFFFFFFF)
        first_word = at + 4
        at += RECORD_WORDS if is_shape else 4 + width
        if mask == 0:
            continue
        shape = (info >> 32) & 0xFFFFFFFF
        plain = is_shape and space != _GENERIC and space != _LOCAL
        if plain and memo[shape, 0] == mask:
            address = words[first_word] + shapes[shape, memo[shape, 2]]
            row += _put(rows, row, pc, warp, when, where, address, memo[shape, 1], space, counts)
            continue
        for lane in range(width):
            if is_shape:
                lanes[lane] = words[first_word] + shapes[shape, lane]
            else:
                lanes[lane] = words[first_word + lane]
        rest = np.uint64(mask)
        while rest != np.uint64(0):
            first = 0
            while (rest >> np.uint64(first)) & np.uint64(1) == np.uint64(0):
                first += 1
            window = _in_space(space, lanes[first])
            taken = np.uint64(0)
            start_address = np.int64(0)
            to_space = space
            if window >= 0:
                start_address = _WINDOW_STARTS[window]
                to_space = _WINDOW_SPACES[window]
            elif window == -1:
                to_space = 0
            base = np.int64(0)
            for lane in range(width):
                offsets[lane] = 0
                bit = np.uint64(1) << np.uint64(lane)
                if rest & bit == np.uint64(0) or _in_space(space, lanes[lane]) != window:
                    continue
                taken |= bit
                place = lanes[lane] - start_address
                if to_space == _LOCAL:
                    place = (
                        _LOCAL_FIRST_ADDRESS
                        + place * launch_lanes
                        + (warp * width + lane) * facts_bytes[pc]
                    )
                if lane == first:
                    base = place
                offsets[lane] = place - base
            rest &= ~taken
            pattern = _pattern(taken, offsets, store)
            row += _put(rows, row, pc, warp, when, where, base, pattern, to_space, counts)
            if plain:
                memo[shape, 0] = mask
                memo[shape, 1] = pattern
                memo[shape, 2] = first
    limits[0] = row
    return at


@compiled
def _put(
    rows: Rows,
    row: int,
    pc: int,
    warp: int,
    when: int,
    where: int,
    address: Any,
    pattern: int,
    space: int,
    counts: CountStore,
) -> int:
    """Rows written: order matters to global and local memory only, the rest is counted."""
    stage = (where >> 32) & 0xFFFFFFFF
    if space != _GLOBAL and space != _LOCAL:
        key = ((pattern << _PC_BITS | pc) << _STAGE_BITS | stage) << 4 | (address & 15)
        _count(key, 1, counts)
        return 0
    rows.pc[row] = pc
    rows.warp[row] = warp
    rows.time[row] = when & 0xFFFFFFFF
    rows.stage[row] = stage
    rows.address[row] = address
    rows.pattern[row] = pattern
    return 1


class AccessLog:
    """What one worker recorded. `take` empties a ring; parts are kept by thread-block range."""

    def __init__(
        self, width: int, warps: int, facts: PcFacts, lane_shapes: tuple[tuple[int, ...], ...]
    ) -> None:
        self._width = width
        self._warps = warps
        self._facts = facts
        self._shapes = np.array(lane_shapes or ((0,) * width,), np.int64)
        self._memo = np.zeros((len(self._shapes), 3), np.int64)
        self._store = self._new_store(_FIRST_TABLE)
        self.parts: list[tuple[npt.NDArray[np.int64], ...]] = []
        self._counts = _new_counts(_FIRST_TABLE)

    def _new_store(self, size: int) -> PatternStore:
        half = size // 2
        return PatternStore(
            np.full(size, -1, np.int64),
            np.zeros(half, np.uint64),
            np.zeros(half, np.uint64),
            np.zeros((half, self._width), np.int64),
            np.zeros(1, np.int64),
        )

    @property
    def patterns(self) -> tuple[Words, Ints]:
        """Masks and lane offsets."""
        count = int(self._store.used[0])
        return self._store.mask[:count], self._store.offsets[:count]

    def take(self, words: Ints) -> None:
        """Turns the records of a ring into rows."""
        most = len(words) // RECORD_WORDS + 8
        lanes, offsets = np.zeros(self._width, np.int64), np.zeros(self._width, np.int64)
        at = 0
        while at < len(words):
            rows = Rows(*(np.empty(most, np.int64) for _ in Rows._fields))
            limits = np.array([0, len(self._store.mask)], np.int64)
            at = _decode(
                words,
                at,
                self._shapes,
                self._facts.space,
                self._facts.bytes,
                self._facts.launch_lanes,
                self._warps,
                lanes,
                offsets,
                self._memo,
                self._store,
                self._counts,
                rows,
                limits,
            )
            self.parts.append(tuple(column[: limits[0]].astype(np.int64) for column in rows))
            if 2 * (int(self._counts.used[0]) + 8) > len(self._counts.key):
                self._more_counts()
            if int(self._store.used[0]) + 8 > len(self._store.mask):
                self._grow()

    def _more_counts(self) -> None:
        old, self._counts = self._counts, _new_counts(4 * len(self._counts.key))
        for key, number in zip(old.key.tolist(), old.often.tolist(), strict=True):
            if key >= 0:
                _count(key, number, self._counts)

    def _grow(self) -> None:
        masks, offsets = self.patterns
        store = self._new_store(len(self._store.slot) * 4)
        for mask, row in zip(masks, offsets, strict=True):
            _pattern(mask, row, store)
        self._store = store

    @property
    def pattern_counts(self) -> Counter[tuple[int, int, int, int]]:
        """(pc, stage, phase, pattern) -> accesses to shared and constant memory."""
        found: Counter[tuple[int, int, int, int]] = Counter()
        used = self._counts.key >= 0
        for key, number in zip(
            self._counts.key[used].tolist(), self._counts.often[used].tolist(), strict=True
        ):
            stage = key >> 4 & ((1 << _STAGE_BITS) - 1)
            pc = key >> (4 + _STAGE_BITS) & ((1 << _PC_BITS) - 1)
            found[pc, stage, key & 15, key >> (4 + _STAGE_BITS + _PC_BITS)] += number
        return found
