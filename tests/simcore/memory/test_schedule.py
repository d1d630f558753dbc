"""Thread blocks on SMs in overlapping waves, and the order of accesses that follows."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.memory import pending
from kernelcast.simcore.memory.pending import PendingAccesses, rows_by_warp
from kernelcast.simcore.memory.schedule import (
    DISPATCH_CYCLES,
    Dispatch,
    WorkDistributor,
    cycles_per_instruction,
)
from kernelcast.simcore.memory.traversal import ADDRESS, RECORD_WORDS
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable

_LOAD = np.ones(1, np.int8)


def deal(cycles: list[int], sms: int, resident: int) -> Dispatch:
    return WorkDistributor(sms, resident).dispatch(np.array(cycles, np.int64))


def order(accesses: list[tuple[int, int]], start_cycle: list[int]) -> list[tuple[int, int]]:
    """(warp, time) in the order of simulation; each warp is a thread block of its own."""
    warp, time = np.array(accesses, np.int32).reshape(-1, 2).T.copy()
    zero = np.zeros(len(accesses), np.int32)
    address = np.arange(len(accesses), dtype=np.int64)
    held = PendingAccesses(32)
    held.use_patterns(PatternTable(np.ones(1, np.uint64), np.zeros((1, 32), np.int64)), zero)
    table = AccessTable(zero, warp, time, zero, address, zero)
    rows, ends = rows_by_warp(table, 0, len(start_cycle))
    dispatch = Dispatch(np.zeros(len(start_cycle), np.int64), np.array(start_cycle, np.int64))
    held.append(table, rows, ends, 1, dispatch, 1, _LOAD)
    items, row_mask = held.order(None)
    return [accesses[i] for i in held.records.words[(items & row_mask) * RECORD_WORDS + ADDRESS]]


def test_equal_thread_blocks_run_in_waves_round_the_sms() -> None:
    dealt = deal([1000] * 14, 3, 2)
    assert dealt.sm.tolist() == [0, 1, 2, 0, 1, 2] * 2 + [0, 1]
    wave, place = np.divmod(np.arange(14), 6)
    assert dealt.start_cycle.tolist() == (1000 * wave + DISPATCH_CYCLES * place).tolist()


def test_a_free_place_takes_the_next_thread_block_before_the_wave_ends() -> None:
    dealt = deal([1000, 10, 10, 10], 2, 1)
    assert dealt.sm.tolist() == [0, 1, 1, 1]
    assert dealt.start_cycle.tolist() == [0, 1, 11, 21]


@pytest.mark.parametrize(
    ("resident_warps", "schedulers", "turn"), [(16, 2, 8), (1, 2, 1), (48, 0, 48), (7, 2, 3)]
)
def test_resident_warps_share_the_schedulers(
    resident_warps: int, schedulers: int, turn: int
) -> None:
    assert cycles_per_instruction(resident_warps, schedulers) == turn


@given(lengths=st.lists(st.integers(0, 50), max_size=30), cut=st.integers(0, 30))
def test_dealing_in_two_parts_is_dealing_at_once(lengths: list[int], cut: int) -> None:
    whole, parts = deal(lengths, 2, 3), WorkDistributor(2, 3)
    first = parts.dispatch(np.array(lengths[:cut], np.int64))
    promised = parts.next_start
    second = parts.dispatch(np.array(lengths[cut:], np.int64))
    assert [*first.sm, *second.sm] == whole.sm.tolist()
    assert [*first.start_cycle, *second.start_cycle] == whole.start_cycle.tolist()
    assert second.start_cycle.tolist()[:1] in ([], [promised])


@settings(deadline=None)  # the first example compiles
@given(
    lengths=st.lists(st.integers(1, 50), min_size=1, max_size=60),
    sms=st.integers(1, 5),
    resident=st.integers(1, 4),
)
def test_dealing_agrees_with_a_priority_queue(lengths: list[int], sms: int, resident: int) -> None:
    dealt = deal(lengths, sms, resident)
    free = [(0, place) for place in range(sms * resident)]
    last, expected = -DISPATCH_CYCLES, []
    for length in lengths:
        end, place = heapq.heappop(free)
        last = max(end, last + DISPATCH_CYCLES)
        heapq.heappush(free, (last + length, place))
        expected.append((place % sms, last))
    assert list(zip(dealt.sm.tolist(), dealt.start_cycle.tolist(), strict=True)) == expected


def test_resident_warps_interleave_by_progress_and_ties_go_by_warp() -> None:
    accesses = [(0, 0), (0, 4), (0, 8), (1, 0), (1, 4), (1, 8)]
    assert order(accesses, [0, 0]) == [(0, 0), (1, 0), (0, 4), (1, 4), (0, 8), (1, 8)]
    assert order(accesses, [0, 9]) == accesses


def test_a_table_in_the_order_of_instructions_is_taken_by_warp() -> None:
    accesses = [(1, 0), (0, 0), (0, 4), (1, 4)]
    assert order(accesses, [0, 0]) == [(0, 0), (1, 0), (0, 4), (1, 4)]


@pytest.mark.parametrize("key_bits", [63, 36])
def test_times_too_long_for_a_combined_key_sort_the_same(
    key_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "_KEY_BITS", key_bits)
    accesses = [(0, 0), (0, 4), (1, 0), (1, 4), (2, 0)]
    late = [2**38 + 1, 2**38, 0]
    assert order(accesses, late) == [(2, 0), (1, 0), (0, 0), (1, 4), (0, 4)]
