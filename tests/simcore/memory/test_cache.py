"""The sectored cache against an OrderedDict, and its replacement and write-back rules."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device.device import CacheFacts
from kernelcast.simcore.memory.cache import (
    CacheState,
    dirty_groups,
    empty_cache,
    fetch,
    fetched_groups,
    find,
    open_line,
    write_part,
    write_whole,
)

FULL = 2**32 - 1


def facts(lines: int, ways: int, replacement: str = "lru", index: str = "modulo") -> CacheFacts:
    return CacheFacts(
        capacity_bytes=lines * 128,
        line_bytes=128,
        sector_bytes=32,
        ways=ways,
        replacement=replacement,
        index=index,
        caches_global_loads=True,
        caches_read_only_loads=True,
        caches_local=True,
        write_allocate=True,
    )


def cold(shape: CacheFacts, fetch_bytes: int = 32) -> CacheState:
    return empty_cache(shape, 32, fetch_bytes, instances=1, keeps_dirty=True)


def read(cache: CacheState, line: int, wanted: int = 0b1111) -> int:
    """Missing sectors of a read."""
    return fetch(cache, open_line(cache, 0, line), wanted)


def store(cache: CacheState, line: int, sector: int, bytes_: int = FULL) -> int:
    """1 if the sector was clean before."""
    slot = open_line(cache, 0, line)
    if bytes_ == FULL:
        return write_whole(cache, slot, 1 << sector)
    return write_part(cache, slot, sector, np.uint64(bytes_))


def written(cache: CacheState) -> list[int]:
    """What is written back in all, evictions and the end together, and what of it is incomplete."""
    found: list[int] = (cache.written + dirty_groups(cache)).tolist()
    return found


class LruOracle:
    """Sets of lines in the order of their use, each with the sectors that it holds."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets: list[OrderedDict[int, int]] = [OrderedDict() for _ in range(sets)]
        self.ways = ways

    def read(self, line: int, wanted: int) -> int:
        lines = self.sets[line % len(self.sets)]
        held = lines.pop(line, 0)
        if len(lines) == self.ways:
            lines.popitem(last=False)
        lines[line] = held | wanted
        return wanted & ~held


@settings(deadline=None)  # the first example compiles
@given(
    reads=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 15)), max_size=200),
    sets=st.sampled_from([1, 3, 4, 5]),
    ways=st.sampled_from([1, 2, 4]),
)
def test_lru_reads_miss_where_an_ordered_dictionary_misses(
    reads: list[tuple[int, int]], sets: int, ways: int
) -> None:
    cache, oracle = cold(facts(sets * ways, ways)), LruOracle(sets, ways)
    for line, wanted in reads:
        assert read(cache, line, wanted) == oracle.read(line, wanted)


@pytest.mark.parametrize("ways", [16, 17, 48, 64, 65, 130, 255])
def test_lru_of_many_ways_misses_where_an_ordered_dictionary_misses(ways: int) -> None:
    """Sets that one vector holds just so, or not any more; more lines than they have ways."""
    cache, oracle = cold(facts(2 * ways, ways)), LruOracle(2, ways)
    lines = np.random.default_rng(ways).integers(0, 3 * ways, 40 * ways)
    found = [read(cache, int(line)) for line in lines]
    assert found == [oracle.read(int(line), 0b1111) for line in lines]


class FifoOracle(LruOracle):
    """A line keeps the place that it came into, however often it is read."""

    def read(self, line: int, wanted: int) -> int:
        lines = self.sets[line % len(self.sets)]
        if line not in lines and len(lines) == self.ways:
            lines.popitem(last=False)
        held = lines.get(line, 0)
        lines[line] = held | wanted
        return wanted & ~held


class TreeOracle:
    """One set; a node is the range of its ways, cut at the largest power of two that is less."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = [list[int]() for _ in range(sets)], ways
        self.halves: list[dict[tuple[int, int], bool]] = [{} for _ in range(sets)]

    def _walk(self, of_set: int, way: int | None) -> int:
        first, end = 0, 1 << (self.ways - 1).bit_length()
        while end - first > 1:
            middle = (first + end) // 2
            points = self.halves[of_set].get((first, end), False) and middle < self.ways
            is_right = points if way is None else way >= middle
            if way is not None:
                self.halves[of_set][first, end] = not is_right
            first, end = (middle, end) if is_right else (first, middle)
        return first

    def reads(self, line: int) -> bool:
        """Reads a line; whether the line was there."""
        lines = self.sets[line % len(self.sets)]
        of_set, was_there = line % len(self.sets), line in lines
        if not was_there and len(lines) < self.ways:
            lines.append(line)
        elif not was_there:
            lines[self._walk(of_set, None)] = line
        self._walk(of_set, lines.index(line))
        return was_there


@settings(deadline=None)  # the first example compiles
@given(
    reads=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 15)), max_size=200),
    sets=st.sampled_from([1, 3, 4]),
    ways=st.sampled_from([1, 2, 4, 12, 24]),
)
def test_fifo_reads_miss_where_a_queue_misses(
    reads: list[tuple[int, int]], sets: int, ways: int
) -> None:
    cache, oracle = cold(facts(sets * ways, ways, "fifo")), FifoOracle(sets, ways)
    for line, wanted in reads:
        assert read(cache, line, wanted) == oracle.read(line, wanted)


@settings(deadline=None)  # the first example compiles
@given(
    reads=st.lists(st.integers(0, 80), max_size=200),
    sets=st.sampled_from([1, 3]),
    ways=st.sampled_from([1, 2, 4, 6, 12, 32]),
)
def test_pseudo_lru_misses_where_a_tree_of_ranges_misses(
    reads: list[int], sets: int, ways: int
) -> None:
    cache, oracle = cold(facts(sets * ways, ways, "plru")), TreeOracle(sets, ways)
    for line in reads:
        assert (read(cache, line) == 0) == oracle.reads(line)


def test_a_line_that_is_read_again_and_again_goes_first_under_fifo_only() -> None:
    kept = {}
    for policy in ("lru", "plru", "fifo"):
        cache = cold(facts(4, 4, policy))
        for line in (0, 1, 2, 3, 0, 4):
            read(cache, line)
        kept[policy] = find(cache, 0, 0) >= 0
    assert kept == {"lru": True, "plru": True, "fifo": False}


@settings(deadline=None)  # the first example compiles
@given(
    writes=st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 3), st.sampled_from([0xFF, FULL])),
        max_size=100,
    )
)
def test_every_dirty_sector_is_written_back_once(writes: list[tuple[int, int, int]]) -> None:
    """A sector turns dirty as often as it is written back, evictions and the end together."""
    cache = cold(facts(8, 2))
    turned_dirty = sum(store(cache, *item) for item in writes)
    assert written(cache)[0] == turned_dirty
    assert written(cache)[0] == turned_dirty  # to count changes nothing


@pytest.mark.parametrize("index", ["modulo", "hashed"])
@pytest.mark.parametrize("lines", [12, 16, 96])
def test_contiguous_lines_up_to_the_capacity_stay(index: str, lines: int) -> None:
    cache = cold(facts(lines, 4, index=index))
    first = 7 * lines // 4
    for line in range(first, first + lines):
        assert read(cache, line) == 0b1111
    assert [read(cache, line) for line in range(first, first + lines)] == [0] * lines


def test_hashing_spreads_a_stride_of_the_number_of_sets() -> None:
    plain, hashed = cold(facts(64, 4)), cold(facts(64, 4, index="hashed"))
    for cache in (plain, hashed):
        for line in range(0, 16 * 16, 16):
            read(cache, line)
    held = [sum(find(c, 0, line) >= 0 for line in range(0, 16 * 16, 16)) for c in (plain, hashed)]
    assert held[0] == 4
    assert held[1] > 10


def test_one_line_more_than_lru_holds_always_misses() -> None:
    cache = cold(facts(4, 4))
    assert [read(cache, line) for line in [*range(5), *range(5)]] == [0b1111] * 10


def test_random_replacement_keeps_some_of_a_set_that_does_not_fit() -> None:
    """Cyclic reads of W+1 lines: each survives one eviction with probability 1 - 1/W."""
    cache = cold(facts(16, 16, "random"))
    misses = sum(read(cache, line % 17) != 0 for line in range(17 * 400))
    assert 0.05 < misses / (17 * 400) < 0.2


def test_random_replacement_repeats_exactly() -> None:
    lines = np.random.default_rng(1).integers(0, 100, 2000)
    first, second = (cold(facts(16, 4, "random")) for _ in range(2))
    assert [read(first, int(x)) for x in lines] == [read(second, int(x)) for x in lines]


def test_partly_written_sectors_are_incomplete_at_write_back() -> None:
    cache = cold(facts(4, 4))
    store(cache, 0, 0, 0xFF)
    store(cache, 0, 1)
    assert written(cache) == [2, 1]


def test_a_sector_that_was_read_or_written_piece_by_piece_is_complete() -> None:
    cache = cold(facts(4, 4))
    read(cache, 0, 0b0001)
    store(cache, 0, 0, 0xFF)
    store(cache, 1, 0, 0x0000FFFF)
    store(cache, 1, 0, 0xFFFF0000)
    assert read(cache, 1, 0b0001) == 0
    assert written(cache) == [2, 0]


def test_a_new_line_knows_nothing_of_what_was_written_in_its_place() -> None:
    cache = cold(facts(1, 1))
    store(cache, 0, 0, 0x0000FFFF)
    store(cache, 1, 0, 0xFFFF0000)
    assert written(cache) == [2, 2]


def test_a_write_of_many_sectors_counts_those_that_were_clean() -> None:
    cache = cold(facts(4, 4))
    store(cache, 0, 1, 0xFF)
    assert write_whole(cache, open_line(cache, 0, 0), 0b1011) == 2
    assert written(cache) == [3, 0]


def test_sectors_are_fetched_in_groups() -> None:
    cache = cold(facts(4, 4), fetch_bytes=64)
    missing = read(cache, 0, 0b0010)
    assert missing == 0b0011
    assert fetched_groups(cache, missing) == 1
    assert read(cache, 0, 0b0001) == 0
    store(cache, 1, 2)
    assert written(cache) == [1, 1]


def test_a_capacity_that_ways_do_not_divide_is_rounded_down_to_whole_sets() -> None:
    assert cold(facts(23, 4)).sets == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"replacement": "oracle"},
            "unknown replacement policy 'oracle'; known are lru, random, fifo, plru",
        ),
        (
            {"replacement": "plru", "ways": 64, "capacity_bytes": 64 * 128},
            "plru is for sets of up to 32",
        ),
        ({"index": "xor"}, "unknown cache index 'xor'"),
        ({"line_bytes": 96}, "power of two of sectors"),
        ({"line_bytes": 48}, "cannot be fetched 32 bytes at a time"),
        ({"capacity_bytes": 64}, "holds no line"),
        ({"ways": 0}, "holds no line"),
    ],
)
def test_impossible_caches_are_refused(change: dict[str, int | str], message: str) -> None:
    with pytest.raises(DeviceFileError, match=message):
        cold(replace(facts(16, 4), **change))  # type: ignore[arg-type]
