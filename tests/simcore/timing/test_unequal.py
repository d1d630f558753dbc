"""Thread blocks that differ in work, fewer for an SM than were recorded; those that are alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.simcore.timing.launch.unequal_shares import unequal_shares
from kernelcast.simcore.timing.walk.event_rows import EventRows, event_rows, turn_of_paths
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import WarpPaths

LONG, SHORT = 2000, 20
DEVICES = ["gtx-480", "v100-pcie", "a100-40gb", "mi210"]
CHAIN = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry chain(.param .u64 trips, .param .u64 out)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [trips]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];
    mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000;
L:  fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2;
    fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2;
    sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
    add.s64 %rd4, %rd2, %rd3; st.global.f32 [%rd4], %f1; ret;
}
"""


def _timing(trips: list[int], device: str) -> LaunchTiming:
    """The timing of one warp a thread block, with so many rounds of a chain in each."""
    args = [np.array(trips, np.uint32), np.zeros(len(trips), np.float32)]
    trace = kc.load_ptx(CHAIN)["chain"].run(grid=len(trips), block=32, args=args, devices=[device])
    profile = trace.profile(device)
    timed = profile.derived(timed_warps)
    assert timed is not None
    return launch_timing(timed, kc.device(device))


@cache
def _alone(device: str) -> float:
    """Cycles of one thread block with many rounds."""
    return _timing([LONG], device).cycles


@pytest.mark.drawn(4)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_launch_lasts_as_long_as_its_longest_thread_block(device: str, place: int) -> None:
    """Whichever of fewer thread blocks than SMs that is; a chain does not notice the others."""
    trips = [SHORT] * 7
    trips[place] = LONG
    assert _timing(trips, device).cycles == pytest.approx(_alone(device), rel=0.02)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("device", DEVICES)
def test_the_longest_thread_block_counts_in_a_launch_of_two_an_sm(device: str) -> None:
    """Both of an SM are there at once, so that neither waits for the other."""
    sms = kc.device(device).architecture.sm_count
    trips = [SHORT] * (2 * sms)
    trips[-8:] = [LONG] * 8  # recorded thread blocks stand for their neighbours
    assert _timing(trips, device).cycles == pytest.approx(_alone(device), rel=0.05)


def test_the_order_of_unlike_thread_blocks_does_not_matter() -> None:
    """Long ones at the end of the grid take as long as long ones at its start."""
    sms = kc.device("v100-pcie").architecture.sm_count
    rising = [SHORT] * sms + [LONG] * sms
    assert _timing(rising, "v100-pcie").cycles == pytest.approx(
        _timing(rising[::-1], "v100-pcie").cycles, rel=0.02
    )


def test_every_slot_of_the_average_sm_is_issued_or_lost_once() -> None:
    """The average of 20, 500 and 80 rounds is 200, nearest to the last SM's."""
    sms = kc.device("v100-pcie").architecture.sm_count
    timing = _timing(([20, 500, 80] * sms)[:sms], "v100-pcie")
    lost = sum(timing.stalls.values())
    assert timing.issued + lost == timing.full_cycles * timing.slots_per_cycle
    alone = _timing([80], "v100-pcie")
    assert timing.issued == timing.instructions == alone.instructions
    assert timing.cycles > 5 * timing.full_cycles


def _paths(work: list[int], numbers: list[int]) -> WarpPaths:
    """One warp a thread block, with so many events."""
    start, events = np.concatenate([[0], np.cumsum(work)]), sum(work)
    none = np.zeros(events, np.int32)
    return WarpPaths(
        thread_blocks=np.array(numbers, np.int64),
        warps_per_thread_block=1,
        start=start.astype(np.int64),
        pc=none,
        lanes=none.astype(np.uint8),
        pattern=none - 1,
        address=none.astype(np.int64),
        patterns=PatternTable.empty(32),
    )


def test_a_thread_block_goes_to_the_sm_with_the_least_work() -> None:
    shares = unequal_shares(_paths([9, 1, 2, 1, 1, 7], list(range(6))), 6, 2, 1)
    assert shares is not None
    assert shares.mean.tolist() == [0]  # 9, where the average is 10.5
    assert shares.most.tolist() == [1, 2, 3, 4, 5]  # 12
    assert (shares.later, shares.busy) == (1, 2)


def test_as_many_as_there_are_places_are_dealt_in_turn() -> None:
    shares = unequal_shares(_paths([9, 1, 2, 1, 1, 7], list(range(6))), 6, 2, 3)
    assert shares is not None
    assert shares.most.tolist() == [0, 2, 4]
    assert shares.mean.tolist() == [0, 2, 4]  # 12 and 9 are equally far from the average
    assert shares.later == 0


def test_the_nearest_recorded_thread_block_stands_for_one_that_was_not() -> None:
    shares = unequal_shares(_paths([1, 5], [2, 9]), 12, 12, 4)
    assert shares is not None
    assert shares.busy == 12
    assert shares.later == 6  # 6 to 11 do what 9 does


def test_sms_are_alike_where_thread_blocks_are_or_where_there_are_enough() -> None:
    assert unequal_shares(_paths([3, 3, 3], [0, 1, 2]), 3, 2, 4) is None
    assert unequal_shares(_paths([1, 2, 3], [0, 5, 9]), 12, 4, 1) is None
    assert unequal_shares(_paths([1, 2, 3], [0, 5, 9]), 11, 4, 1) is not None


def _rows(ways: list[list[int]], passes: list[list[float]], is_each_apart: bool) -> EventRows:
    """Rows of warps that execute these pcs; those from 3 on are accesses with passes."""
    paths = _paths([len(way) for way in ways], list(range(len(ways))))
    pc = np.array([pc for way in ways for pc in way], np.int32)
    has_passes = np.arange(6) >= 3
    wavefronts = np.array([item for way in passes for item in way])
    given = replace(paths, pc=pc), wavefronts, np.zeros(6), 128.0, has_passes
    return event_rows(*given, is_each_apart)


WAYS = [[0, 3, 0], [1], [0, 3, 0], [], [0, 3, 0], [1]]
PASSES = [[1.0, 2.0, 1.0], [1.0], [1.0, 4.0, 1.0], [], [1.0, 2.0, 1.0], [1.0]]


@pytest.mark.parametrize("is_each_apart", [False, True])
def test_every_path_is_there_once_for_all_that_equal_it(is_each_apart: bool) -> None:
    found = _rows(WAYS, PASSES, is_each_apart)
    for begin, end, way, passes in zip(found.begin, found.end, WAYS, PASSES, strict=True):
        rows = found.row[begin:end]
        assert found.row_pc[rows].tolist() == way
        accesses = np.array(way, int) >= 3
        assert found.row_passes[rows][accesses].tolist() == np.array(passes)[accesses].tolist()
        assert found.turn[begin:end].tolist() == [way[:at].count(pc) for at, pc in enumerate(way)]
    assert len(found.row) == (11 if is_each_apart else 7)


def test_paths_come_again_after_as_many_thread_blocks_as_differ() -> None:
    begin = np.array([0, 0, 9, 9, 5, 0, 0, 9, 9, 5, 0, 0, 9, 9, 5])
    assert turn_of_paths(begin, 1) == 5
    assert turn_of_paths(begin, 5) == 1
    assert turn_of_paths(begin[:10], 2) == 5
    assert turn_of_paths(begin[:12], 2) == 6
