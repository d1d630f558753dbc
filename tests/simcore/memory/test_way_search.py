"""Vector searches and word arithmetic of the caches against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.simcore.device.device import CacheFacts
from kernelcast.simcore.memory.cache import empty_cache, find, open_line
from kernelcast.simcore.memory.way_search import (
    NOT_FOUND,
    WAYS_AT_ONCE,
    lowest,
    way_of,
)

WORDS = st.integers(-(2**63), 2**63 - 1)


@given(words=st.lists(WORDS, min_size=24, max_size=24), wanted=st.integers(0, 30))
def test_the_first_way_with_a_line_is_found(words: list[int], wanted: int) -> None:
    line = words[wanted] if wanted < 24 else 7
    inside = words[WAYS_AT_ONCE:]
    expected = inside.index(line) if line in inside else NOT_FOUND
    tags = np.array(words, np.int64)
    assert way_of(tags, WAYS_AT_ONCE, 2 * WAYS_AT_ONCE, line) == expected
    assert lowest(tags, WAYS_AT_ONCE, 2 * WAYS_AT_ONCE) == min(inside)


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
            set_number = slot // cache.stride - sets
            assert 0 <= set_number < sets
            if index == "modulo":
                assert set_number == line % sets


@given(uses=st.lists(st.integers(0, 23), max_size=120), ways=st.sampled_from([1, 2, 16, 17, 20]))
def test_lru_of_few_and_of_many_ways_evicts_what_was_used_longest_ago(
    uses: list[int], ways: int
) -> None:
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
    assert {line for line in range(24) if find(cache, 0, line) >= 0} == set(held)
