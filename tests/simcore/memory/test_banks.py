"""Bank conflicts and constant serialisation against counts of distinct words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.device.device import ConstantFacts, SharedMemoryFacts
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.banks import (
    Wavefronts,
    banked_wavefronts,
    constant_wavefronts,
    shared_wavefronts,
)
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

WARP = np.arange(32, dtype=np.int64)
ALL = 2**32 - 1


def one_row(offsets: np.ndarray, mask: int, start: int) -> tuple[PatternCounts, PatternTable]:
    zero = np.zeros(1, np.int32)
    rows = PatternCounts(zero, zero, np.array([start], np.int32), zero, np.ones(1, np.int64))
    return rows, PatternTable(np.array([mask], np.uint64), offsets[None].astype(np.int64))


def shared(
    offsets: np.ndarray,
    access_bytes: int = 4,
    *,
    mask: int = ALL,
    start: int = 0,
    banks: int = 32,
    bank_bytes: int = 4,
    alignment: int = -1,
) -> Wavefronts:
    native = NativeAccesses(np.array([access_bytes]), np.array([alignment]))
    return shared_wavefronts(
        *one_row(offsets, mask, start), native, SharedMemoryFacts(banks, bank_bytes)
    )


def passes(words: set[int], banks: int) -> int:
    """The oracle: the most distinct words of one bank."""
    return max(Counter(word % banks for word in words).values(), default=0)


@pytest.mark.parametrize(("banks", "bank_bytes"), [(32, 4), (32, 8), (48, 4)])
def test_accesses_of_few_patterns_are_each_as_if_alone(banks: int, bank_bytes: int) -> None:
    """Patterns come again at other places, with other widths and other groups."""
    random = np.random.default_rng(banks + bank_bytes)
    widths, alignments = np.array([4, 8, 16, 8]), np.array([-1, -1, -1, -8])
    offsets = random.integers(0, 200, (3, 32)).astype(np.int64) * 4
    table = PatternTable(random.integers(1, ALL, 3).astype(np.uint64), offsets)
    count = 400
    pc, pattern = (random.integers(0, most, count).astype(np.int32) for most in (4, 3))
    start = random.integers(0, 40, count).astype(np.int32) * 4
    joined = random.integers(1, 3, count)
    facts, native = SharedMemoryFacts(banks, bank_bytes), NativeAccesses(widths, alignments)

    def found(chosen: slice) -> Wavefronts:
        many = len(pc[chosen])
        ones, stages = np.ones(many, np.int64), np.zeros(many, np.int32)
        rows = PatternCounts(pc[chosen], stages, start[chosen], pattern[chosen], ones)
        return shared_wavefronts(rows, table, native, facts, joined_groups=joined[chosen])

    together = found(slice(count))
    alone = [found(slice(row, row + 1)) for row in range(count)]
    assert together.taken.tolist() == [int(one.taken[0]) for one in alone]
    assert together.ideal.tolist() == [int(one.ideal[0]) for one in alone]
    assert len(set(together.taken.tolist())) > 2


@settings(deadline=None)  # the first example compiles
@given(
    offsets=st.lists(st.integers(-50, 50), min_size=32, max_size=32),
    mask=st.integers(1, ALL),
    access_bytes=st.sampled_from([1, 4, 8, 16]),
    start=st.integers(0, 3),
    banks=st.sampled_from([16, 17, 32]),
    bank_bytes=st.sampled_from([4, 8]),
)
def test_wavefronts_are_the_words_of_the_busiest_bank(
    offsets: list[int], mask: int, access_bytes: int, start: int, banks: int, bank_bytes: int
) -> None:
    def words(lanes: range) -> set[int]:
        starts = (start * 4 + 16 * offsets[lane] for lane in lanes if mask >> lane & 1)
        return {byte // bank_bytes for at in starts for byte in range(at, at + access_bytes)}

    group = 1 << (banks * bank_bytes // access_bytes).bit_length() - 1
    apart = sum(passes(words(range(i, min(i + group, 32))), banks) for i in range(0, 32, group))
    together = passes(words(range(32)), banks)
    found = shared(
        16 * np.array(offsets),
        access_bytes,
        mask=mask,
        start=start * 4,
        banks=banks,
        bank_bytes=bank_bytes,
    )
    assert found.taken.tolist() == [1 if together == 1 else apart]
    assert found.ideal.tolist() == [-(-len(words(range(32))) // banks)]


@pytest.mark.parametrize("stride", [1, 2, 4, 8, 16, 32, 3, 5, 33])
def test_a_stride_of_words_conflicts_by_its_power_of_two(stride: int) -> None:
    assert shared(4 * stride * WARP).taken.tolist() == [np.gcd(stride, 32)]


@pytest.mark.parametrize(("access_bytes", "wavefronts"), [(4, 1), (8, 2), (16, 4)])
def test_wide_accesses_need_as_many_wavefronts_as_they_move_bytes(
    access_bytes: int, wavefronts: int
) -> None:
    found = shared(access_bytes * WARP, access_bytes)
    assert found.taken.tolist() == [wavefronts]
    assert found.degree.tolist() == [1.0]


@pytest.mark.parametrize("access_bytes", [4, 8, 16])
def test_a_broadcast_is_one_wavefront(access_bytes: int) -> None:
    assert shared(0 * WARP, access_bytes).taken.tolist() == [1]


@pytest.mark.parametrize(
    ("lanes", "access_bytes", "h100", "gtx_1060"),
    [
        (0 * WARP, 4, 1, 1),
        (0 * WARP, 8, 1, 1),
        (0 * WARP, 16, 2, 1),  # as simulation/nbody reads, of which 12,620,288 took twice as many
        (WARP % 4, 16, 4, 1),  # sgemm_steps/warps: two of three such loads, 335,585,462 passes
        (WARP // 4 * 2, 16, 2, 4),  # the third of them, of 100,663,296 loads
        (WARP // 2, 8, 1, 1),
        (WARP % 2, 8, 1, 1),  # lanes n and n ^ 2 agree
        (WARP % 4, 8, 2, 1),
    ],
)
def test_since_volta_groups_are_served_together_where_neighbours_ask_for_the_same(
    lanes: np.ndarray, access_bytes: int, h100: int, gtx_1060: int
) -> None:
    """Counted by an H100 (validation/measured/h100-sxm.json); others have each its own address."""
    native = NativeAccesses(np.array([access_bytes]), np.array([-1]))
    for device, expected in (("h100-sxm", h100), ("gtx-1060-6gb", gtx_1060)):
        rows, patterns = one_row(access_bytes * lanes, ALL, 0)
        found = banked_wavefronts(rows, patterns, native, load_device(device))
        assert found.taken.tolist() == [expected]
        assert device != "h100-sxm" or found.ideal.tolist() == [expected]


@pytest.mark.parametrize(("stride", "expected"), [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16)])
def test_seventeen_banks_remove_the_conflicts_of_powers_of_two(stride: int, expected: int) -> None:
    half_warp = 2**16 - 1
    assert shared(4 * stride * WARP, mask=half_warp, banks=16).taken.tolist() == [expected]
    assert shared(4 * stride * WARP, mask=half_warp, banks=17).taken.tolist() == [1]


def test_a_merged_access_has_the_start_of_its_whole_width() -> None:
    """Four 32-bit loads of a row as one of 128 bits, seen from the second of them."""
    assert shared(16 * WARP, 16, start=4, alignment=-16).taken.tolist() == [4]


@pytest.mark.parametrize(
    ("offsets", "access_bytes", "words_per_pass", "expected"),
    [(0 * WARP, 4, 1, 1), (4 * WARP, 4, 1, 32), (4 * WARP, 4, 4, 8), (0 * WARP, 8, 1, 1)],
)
def test_constants_are_served_word_by_word(
    offsets: np.ndarray,
    access_bytes: int,
    words_per_pass: int,
    expected: int,
) -> None:
    native = NativeAccesses(np.array([access_bytes]), np.array([-1]))
    facts = ConstantFacts(words_per_pass, word_bytes=4)
    assert constant_wavefronts(*one_row(offsets, ALL, 0), native, facts).taken.tolist() == [
        expected
    ]
