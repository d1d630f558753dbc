"""Work of the memory simulator that goes on beside other work: nothing may show it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.memory.passes.line_requests import (
    both_masks,
    pack_lines,
    sector_masks,
    unpack_lines,
)
from kernelcast.simcore.memory.passes.stage import Stage
from kernelcast.simcore.memory.pattern_rows import KEPT_ROWS, PatternRows


def test_calls_are_made_in_their_order_and_not_by_the_caller() -> None:
    made: list[tuple[int, int]] = []
    stage = Stage(2)
    for number in range(50):
        stage.call(lambda number: made.append((number, threading.get_ident())), number)
    stage.wait()
    assert [number for number, _ in made] == list(range(50))
    assert threading.get_ident() not in {thread for _, thread in made}
    assert not [thread for thread in threading.enumerate() if "memory" in thread.name]


def test_only_so_many_calls_wait() -> None:
    go_on, begun = threading.Event(), threading.Event()
    stage = Stage(2)

    def hold() -> None:
        go_on.wait()

    for _ in range(2):
        stage.call(hold)
    third = threading.Thread(target=stage.call, args=(begun.set,))
    third.start()
    assert not begun.is_set()
    go_on.set()
    third.join()
    stage.wait()
    assert begun.is_set()


def test_what_a_call_raises_is_raised_by_a_later_one_or_by_waiting() -> None:
    def fail() -> None:
        raise ValueError("no")

    stage = Stage(2)
    stage.call(fail)
    with pytest.raises(ValueError, match="no"):
        stage.wait()
    stage.wait()
    one_at_a_time = Stage(1)
    one_at_a_time.call(fail)
    with pytest.raises(ValueError, match="no"):
        one_at_a_time.call(print)


@given(
    at=st.integers(0, 2**30),
    l1_lines=st.integers(0, 4095),
    l2_lines=st.integers(0, 4095),
    touched=st.integers(0, 2**32 - 1),
    whole=st.integers(0, 2**32 - 1),
)
@settings(deadline=None)  # the first example compiles
def test_packed_words_hold_what_was_packed(
    at: int, l1_lines: int, l2_lines: int, touched: int, whole: int
) -> None:
    found = unpack_lines(pack_lines(at, l1_lines, l2_lines), 2)
    assert found == (at, l1_lines, at + 2 * l1_lines, l2_lines, at + 2 * (l1_lines + l2_lines))
    shared = unpack_lines(pack_lines(at, l1_lines, l1_lines), 1)
    assert shared == (at, l1_lines, at, l1_lines, at + 2 * l1_lines)
    both = np.uint64(both_masks(touched, whole) & (1 << 64) - 1)
    assert sector_masks(int(both.view(np.int64))) == (touched, whole)


@pytest.mark.parametrize("far", [1 << 20, 1 << 40])
@pytest.mark.parametrize("sorts_lanes", [True, False])
def test_offsets_of_single_uses_are_sorted_where_lanes_do_not_matter(
    far: int, sorts_lanes: bool
) -> None:
    rows = PatternRows(32, sorts_lanes)
    rows.make_room(8)
    random = np.random.default_rng(far)
    offsets = random.integers(-far, far, (8, 32))
    rows.offsets[KEPT_ROWS : KEPT_ROWS + 8] = offsets
    rows.sort_lanes(3, 7)
    expected = offsets.copy()
    if sorts_lanes:
        expected[3:7] = np.sort(expected[3:7], axis=1)
    np.testing.assert_array_equal(rows.offsets[KEPT_ROWS : KEPT_ROWS + 8], expected)
