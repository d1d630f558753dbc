"""Batches of a launch, collected: the tables of the whole launch, however it was cut."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import TraceFormatError
from kernelcast.traces.collector import AccessCollector
from kernelcast.traces.key_numbers import KeyNumbers
from kernelcast.traces.pattern_numbers import PatternNumbers
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import (
    AccessTable,
    PatternCounts,
)

WIDTH, WARPS, THREAD_BLOCKS = 8, 2, 60
SHAPES = 5
ROWS_PER_THREAD_BLOCK = 7


def ints(values: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.asarray(values, np.int32)


def shapes() -> PatternTable:
    """A few masks, and offsets that are round numbers."""
    random = np.random.default_rng(5)
    offsets = random.integers(-4, 5, (SHAPES, WIDTH)) << 20
    return PatternTable(np.arange(200, 200 + SHAPES, dtype=np.uint64), offsets.astype(np.int64))


def launch(cuts: Sequence[int], seed: int = 1) -> list[AccessBatch]:
    """A launch in batches that begin at the cuts.

    Each has a pattern table of its own, in an order of its own, with every shape twice.
    """
    random = np.random.default_rng(seed)
    table, rows = shapes(), ROWS_PER_THREAD_BLOCK * THREAD_BLOCKS
    thread_block = np.repeat(np.arange(THREAD_BLOCKS), ROWS_PER_THREAD_BLOCK)
    warp = thread_block * WARPS + random.integers(0, WARPS, rows)
    shape, address = random.integers(0, SHAPES, rows), random.integers(0, 1 << 40, rows)
    counted, often = random.integers(0, SHAPES, rows), random.integers(1, 9, rows)
    batches = []
    bounds = sorted({0, *cuts, THREAD_BLOCKS})
    for first, end in itertools.pairwise(bounds):
        chosen = np.flatnonzero((thread_block >= first) & (thread_block < end))
        order = np.random.default_rng(first).permutation(2 * SHAPES)
        place = np.argsort(order)
        twin = np.random.default_rng(end).integers(0, 2, rows) * SHAPES
        number = ints(place[shape + twin])
        zeros = ints(np.zeros(len(chosen)))
        batches.append(
            AccessBatch(
                first,
                end - first,
                AccessTable(
                    zeros, ints(warp[chosen]), ints(chosen), zeros, address[chosen], number[chosen]
                ),
                PatternTable(table.mask[order % SHAPES], table.offsets[order % SHAPES]),
                ints(np.full((end - first) * WARPS, 9)),
                PatternCounts(
                    zeros,
                    zeros,
                    ints(address[chosen] % 16),
                    ints(place[counted + twin])[chosen],
                    often[chosen],
                ),
            )
        )
    return batches


def collected(batches: Sequence[AccessBatch]) -> AccessCollector:
    collector = AccessCollector()
    for batch in batches:
        collector.accept(batch)
    return collector


def assert_equal(found: Any, expected: Any) -> None:
    for field in fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, field.name)


@given(st.lists(st.integers(1, THREAD_BLOCKS - 1), max_size=8))
def test_tables_do_not_depend_on_how_batches_were_cut(cuts: list[int]) -> None:
    whole, pieces = collected(launch([])), collected(launch(cuts))
    for found, expected in zip(pieces.tables(), whole.tables(), strict=True):
        assert_equal(found, expected)
    assert_equal(pieces.pattern_counts(), whole.pattern_counts())


def test_collected_accesses_are_those_of_the_batches() -> None:
    batches = launch([7, 8, 30])
    patterns, accesses = collected(batches).tables()
    assert len(patterns.mask) == SHAPES
    assert accesses.pattern[0] == 0
    start = 0
    for batch in batches:
        piece = slice(start, start + len(batch.accesses))
        start = piece.stop
        for name in ("pc", "warp", "time", "stage", "address"):
            expected = getattr(batch.accesses, name)
            np.testing.assert_array_equal(getattr(accesses, name)[piece], expected)
        own = batch.accesses.pattern
        np.testing.assert_array_equal(
            patterns.mask[accesses.pattern[piece]], batch.patterns.mask[own]
        )
        np.testing.assert_array_equal(
            patterns.offsets[accesses.pattern[piece]], batch.patterns.offsets[own]
        )
    assert start == len(accesses)


def test_counts_of_equal_patterns_are_added_up() -> None:
    def by_content(counts: PatternCounts, patterns: PatternTable) -> Counter[Any]:
        found: Counter[Any] = Counter()
        rows = zip(counts.pc, counts.stage, counts.start, counts.pattern, counts.count, strict=True)
        for pc, stage, start, pattern, count in rows:
            content = int(patterns.mask[pattern]), *patterns.offsets[pattern].tolist()
            found[int(pc), int(stage), int(start), content] += int(count)
        return found

    batches = launch([7, 8, 30])
    expected: Counter[Any] = Counter()
    for batch in batches:
        expected += by_content(batch.pattern_counts, batch.patterns)
    collector = collected(batches)
    counts = collector.pattern_counts()
    assert by_content(counts, collector.tables()[0]) == expected
    assert len(counts) == len(expected)


def test_rows_of_later_thread_blocks_wait_for_earlier_ones() -> None:
    patterns = PatternTable(np.array([1], np.uint64), np.zeros((1, WIDTH), np.int64))
    zeros = ints([0, 0, 0, 0])
    table = AccessTable(
        zeros, ints([2, 0, 3, 1]), ints([5, 6, 7, 8]), zeros, np.arange(4, dtype=np.int64), zeros
    )
    batch = AccessBatch(0, 2, table, patterns, ints([9, 9, 9, 9]))
    _, accesses = collected([batch]).tables()
    assert accesses.warp.tolist() == [0, 1, 2, 3]
    assert accesses.time.tolist() == [6, 8, 5, 7]


def test_batches_out_of_turn_are_refused() -> None:
    first, second = launch([20])
    collector = AccessCollector()
    collector.accept(first)
    with pytest.raises(TraceFormatError, match="thread block 0 where those of 20 were expected"):
        collector.accept(first)
    collector.accept(second)


def test_a_launch_without_accesses_has_empty_tables() -> None:
    empty = AccessBatch(0, 4, AccessTable.empty(), PatternTable.empty(WIDTH), ints([1] * 4))
    for batches in ([], [empty]):
        patterns, accesses = collected(batches).tables()
        assert len(patterns.mask) == len(accesses) == len(collected(batches).pattern_counts()) == 0


def test_patterns_of_another_width_are_refused() -> None:
    numbers, row = PatternNumbers(), ints([0])
    numbers.of(PatternTable(np.array([1], np.uint64), np.zeros((1, 8), np.int64)), row)
    with pytest.raises(TraceFormatError, match="patterns of 16 lanes after those of 8"):
        numbers.of(PatternTable(np.array([1], np.uint64), np.zeros((1, 16), np.int64)), row)


@given(st.lists(st.lists(st.integers(-20, 20) | st.sampled_from([2**40, 2**41, -(2**62)]))))
def test_keys_are_numbered_as_a_dictionary_would(arrays: list[list[int]]) -> None:
    numbers, known = KeyNumbers(), dict[int, int]()
    for keys in arrays:
        before = len(known)
        expected = [known.setdefault(key, len(known)) for key in keys]
        found, new = numbers.of(np.array(keys, np.int64))
        assert found.tolist() == expected
        assert [keys[i] for i in new] == list(known)[before:]


def test_many_keys_are_numbered_as_a_dictionary_would() -> None:
    random = np.random.default_rng(8)
    numbers, known = KeyNumbers(), dict[int, int]()
    for _ in range(4):
        keys = random.integers(0, 20_000, 9_000) << 9  # so that slots collide
        expected = [known.setdefault(key, len(known)) for key in keys.tolist()]
        np.testing.assert_array_equal(numbers.of(keys)[0], expected)
