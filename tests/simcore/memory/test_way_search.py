"""Vector searches and word arithmetic of the caches against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.simcore.device.device import CacheFacts
from kernelcast.simcore.memory.cache import empty_cache, find, open_line
from kernelcast.simcore.memory.sets.way_search import (
    BYTES_AT_ONCE,
    NOT_FOUND,
    empty_way,
    lowest,
    way_of,
)

WORDS = st.integers(-(2**63), 2**63 - 1)


@given(
    words=st.lists(WORDS, min_size=48, max_size=48),
    wanted=st.integers(0, 60),
    ways=st.sampled_from([1, 5, 8, 16, 17, 32, 40]),
)
def test_the_way_with_a_line_is_found(words: list[int], wanted: int, ways: int) -> None:
    """Ways' prints begin at the eighth one; their tags are every third word."""
    words = list(dict.fromkeys(words))
    words += range(2**62, 2**62 + 48 - len(words))
    line = words[wanted] if wanted < 48 else 7
    tags, prints = np.zeros(3 * 48, np.int64), np.zeros(48 + BYTES_AT_ONCE, np.uint8)
    tags[1::3] = words
    prints[:48] = [_print(word) for word in words]
    expected = words[8 : 8 + ways].index(line) if line in words[8 : 8 + ways] else NOT_FOUND
    assert way_of(prints, 8, ways, tags, 8 * 3 + 1, 3, line) == expected


def _print(line: int) -> int:
    """The top byte of the line's product with the golden ratio, or 1 for 0."""
    return ((line * 0x9E3779B97F4A7C15) % 2**64 >> 56) or 1


@given(words=st.lists(WORDS, min_size=24, max_size=24))
def test_the_least_word_is_found(words: list[int]) -> None:
    assert lowest(np.array(words, np.int64), 8, 16) == min(words[8:])


@given(taken=st.integers(0, 40), ways=st.sampled_from([1, 8, 16, 20, 33]))
def test_ways_fill_in_order(taken: int, ways: int) -> None:
    prints = np.zeros(40 + BYTES_AT_ONCE, np.uint8)
    prints[: min(taken, ways)] = 200
    assert empty_way(prints, 0, ways) == (taken if taken < ways else NOT_FOUND)


@pytest.mark.parametrize("sets", [1, 3, 5, 96, 384, 768, 1 << 11])
@pytest.mark.parametrize("index", ["modulo", "hashed"])
def test_every_line_has_a_set_within_its_instance(sets: int, index: str) -> None:
    """Lines of all magnitudes, next to multiples of the number of sets."""
    facts = CacheFacts(
        capacity_bytes=sets * 128,
        line_bytes=128,
        sector_bytes=32,
        ways=1,
        replacement="lru",
        index=index,
        caches_global_loads=True,
        caches_read_only_loads=True,
        caches_local=True,
        write_allocate=True,
    )
    cache = empty_cache(facts, 32, 32, instances=2, keeps_dirty=False)
    for exponent in range(0, 46, 5):
        for line in ((sets << exponent) + near for near in (-1, 0, 1)):
            slot = open_line(cache, 1, line)
            assert find(cache, 1, line) == slot
            set_number = slot - sets
            assert 0 <= set_number < sets
            if index == "modulo":
                assert set_number == line % sets


@pytest.mark.parametrize("ways", [1, 2, 16, 17, 20, 64, 255, 256])
def test_lru_of_few_and_of_many_ways_evicts_what_was_used_longest_ago(ways: int) -> None:
    lines = ways + 8
    uses = np.random.default_rng(ways).integers(0, lines, 6 * lines).tolist()
    facts = CacheFacts(
        capacity_bytes=ways * 128,
        line_bytes=128,
        sector_bytes=32,
        ways=ways,
        replacement="lru",
        index="modulo",
        caches_global_loads=True,
        caches_read_only_loads=True,
        caches_local=True,
        write_allocate=True,
    )
    cache = empty_cache(facts, 32, 32, instances=1, keeps_dirty=False)
    held: list[int] = []
    for line in uses:
        assert (find(cache, 0, line) >= 0) == (line in held)
        open_line(cache, 0, line)
        held = [*(other for other in held if other != line), line][-ways:]
    assert {line for line in range(lines) if find(cache, 0, line) >= 0} == set(held)
