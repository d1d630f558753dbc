"""Thread blocks on SMs in overlapping waves, and the order of accesses that follows."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.memory.schedule import (
    DISPATCH_CYCLES,
    Schedule,
    access_order,
    deal_thread_blocks,
)
from kernelcast.traces.trace import (
    AccessTable,
    PatternCounts,
    PatternTable,
    ResourceNeeds,
    ThreadBlockClasses,
    Trace,
)


def trace_of(warp_time: list[list[int]], accesses: list[tuple[int, int]] = []) -> Trace:  # noqa: B006
    """`warp_time` by thread block and warp; `accesses` are (warp, time)."""
    none: npt.NDArray[np.int32] = np.zeros(0, np.int32)
    zero = np.zeros(len(accesses), np.int32)
    warp, time = np.array(accesses, np.int32).reshape(-1, 2).T
    counts = np.zeros((1, 0), np.int64)
    return Trace(
        kernel="k",
        grid=(len(warp_time), 1, 1),
        thread_block=(32 * len(warp_time[0]), 1, 1),
        warp_width=32,
        resources=ResourceNeeds(16, 0),
        instructions=(),
        classes=ThreadBlockClasses(np.zeros(len(warp_time), np.int32), counts, counts),
        stage_warp_issues=counts,
        warp_time=np.array(warp_time, np.int32).reshape(-1),
        patterns=PatternTable(np.zeros(0, np.uint64), np.zeros((0, 32), np.int64)),
        accesses=AccessTable(zero, warp, time, zero, zero.astype(np.int64), zero),
        pattern_counts=PatternCounts(none, none, none, none, none.astype(np.int64)),
        engine="none",
        elapsed_s=0.0,
    )


def test_equal_thread_blocks_run_in_waves_round_the_sms() -> None:
    dealt = deal_thread_blocks(trace_of([[1000]] * 14), 3, 2, warp_schedulers=2)
    assert dealt.cycles_per_instruction == 1
    assert dealt.sm.tolist() == [0, 1, 2, 0, 1, 2] * 2 + [0, 1]
    wave, place = np.divmod(np.arange(14), 6)
    assert dealt.start_cycle.tolist() == (1000 * wave + DISPATCH_CYCLES * place).tolist()


def test_a_free_place_takes_the_next_thread_block_before_the_wave_ends() -> None:
    dealt = deal_thread_blocks(trace_of([[1000], [10], [10], [10]]), 2, 1, warp_schedulers=1)
    assert dealt.sm.tolist() == [0, 1, 1, 1]
    assert dealt.start_cycle.tolist() == [0, 1, 11, 21]


def test_the_longest_warp_decides_how_long_a_thread_block_lasts() -> None:
    dealt = deal_thread_blocks(trace_of([[5, 90], [5, 5]]), 1, 1, warp_schedulers=2)
    assert dealt.start_cycle.tolist() == [0, 90]


def test_many_resident_warps_take_turns() -> None:
    dealt = deal_thread_blocks(trace_of([[10] * 8] * 4), 1, 2, warp_schedulers=2)
    assert dealt.cycles_per_instruction == 8
    assert dealt.start_cycle.tolist() == [0, 1, 80, 81]


@settings(deadline=None)  # the first example compiles
@given(
    lengths=st.lists(st.integers(1, 50), min_size=1, max_size=60),
    sms=st.integers(1, 5),
    resident=st.integers(1, 4),
)
def test_dealing_agrees_with_a_priority_queue(lengths: list[int], sms: int, resident: int) -> None:
    dealt = deal_thread_blocks(trace_of([[x] for x in lengths]), sms, resident, 100)
    free = [(0, place) for place in range(sms * resident)]
    last, expected = -DISPATCH_CYCLES, []
    for length in lengths:
        end, place = heapq.heappop(free)
        last = max(end, last + DISPATCH_CYCLES)
        heapq.heappush(free, (last + length, place))
        expected.append((place % sms, last))
    assert list(zip(dealt.sm.tolist(), dealt.start_cycle.tolist(), strict=True)) == expected


def test_resident_warps_interleave_by_progress_and_ties_go_by_warp() -> None:
    trace = trace_of([[9], [9]], [(0, 0), (0, 4), (0, 8), (1, 0), (1, 4), (1, 8)])
    together = Schedule(np.array([0, 1]), np.array([0, 0]), 1)
    assert access_order(trace, together).tolist() == [0, 3, 1, 4, 2, 5]
    apart = Schedule(np.array([0, 0]), np.array([0, 9]), 1)
    assert access_order(trace, apart).tolist() == [0, 1, 2, 3, 4, 5]


def test_times_too_long_for_a_combined_key_sort_the_same() -> None:
    trace = trace_of([[9], [9]], [(0, 0), (0, 4), (1, 0), (1, 4)])
    late = Schedule(np.array([0, 1]), np.array([2**62 + 1, 2**62]), 1)
    assert access_order(trace, late).tolist() == [2, 0, 3, 1]
