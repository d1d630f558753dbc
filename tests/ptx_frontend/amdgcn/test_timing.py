"""AMD's machine code in the walk, from assembly text to cycles, against closed forms.

Each kernel is a loop; the time of a trip is the difference of two numbers of trips. What is
expected follows from the turns of a SIMD (four cycles), the units of a compute unit and the
latencies of the device's file.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel, timing_facts
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from tests.ptx_frontend.amdgcn.assembly import LANES, lowered, walked

DEVICE = "mi210"
TRIPS = 40
TURN = 4
LOOP = "s_mov_b32 s8, {trips}; s_mov_b32 s9, 3;{before}.LBB0_1:;{body}"
END = "; s_add_i32 s8, s8, -1; s_cmp_lg_u32 s8, 0; s_cbranch_scc1 .LBB0_1"
OVERHEAD = 2
"""Scalar instructions of the loop beside its branch."""
WITHIN = 0.02


def facts() -> TimingFacts:
    return timing_facts(load_device(DEVICE))


def timed(tmp_path: Path, body: str, waves: int, trips: int, before: str) -> TimedKernel:
    text = LOOP.format(trips=trips, before=before, body=body) + END
    return walked(lowered(tmp_path, text), waves * LANES, DEVICE)


def a_trip(tmp_path: Path, body: list[str], waves: int = 1, before: str = "") -> float:
    """Cycles of one trip of `waves` wavefronts on one compute unit."""
    longer, shorter = (
        launch_timing(
            timed(tmp_path, "; ".join(body), waves, trips, before),
            load_device(DEVICE),
            is_exact=True,
        ).full_cycles
        for trips in (2 * TRIPS, TRIPS)
    )
    return (longer - shorter) / TRIPS


def alone(instructions: int) -> float:
    """Cycles of a trip of one wavefront that issues so many instructions and never waits."""
    return TURN * (instructions + OVERHEAD) + facts().branch_latency_cycles


def test_a_wavefront_issues_in_every_turn_of_its_simd(tmp_path: Path) -> None:
    body = ["v_add_f32_e32 v4, v4, v1", "s_add_u32 s9, s9, 5"] * 8
    assert a_trip(tmp_path, body) == pytest.approx(alone(16), rel=WITHIN)


@pytest.mark.parametrize(("vector", "scalar"), [(8, 0), (8, 4), (8, 8), (4, 16)])
def test_scalar_instructions_issue_beside_vector_ones(
    tmp_path: Path, vector: int, scalar: int
) -> None:
    """Four wavefronts of a SIMD: one of each kind in each turn, from different wavefronts.

    The oldest goes first, so that the youngest is left alone in the end: up to a fifth longer.
    """
    body = ["v_add_f32_e32 v4, v4, v1"] * vector + ["s_add_u32 s9, s9, 5"] * scalar
    waves = 4
    busiest = waves * TURN * max(vector, scalar + OVERHEAD)
    expected = max(busiest, alone(vector + scalar))
    assert expected <= a_trip(tmp_path, body, 4 * waves) <= 1.2 * expected


def test_slow_vector_instructions_keep_the_lanes(tmp_path: Path) -> None:
    """A quarter of the rate for special functions, beside additions on the same lanes."""
    body = ["v_exp_f32_e32 v4, v1"] * 4 + ["v_add_f32_e32 v5, v5, v1"] * 4
    lanes = facts().special_function.lanes / 4
    expected = 4 * (4 * LANES / lanes + 4 * TURN)
    assert expected <= a_trip(tmp_path, body, 16) <= 1.1 * expected


def test_no_operations_rest_for_as_many_turns_as_they_say(tmp_path: Path) -> None:
    assert a_trip(tmp_path, ["s_nop 6"]) == pytest.approx(alone(7), rel=WITHIN)


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 32])
def test_local_memory_takes_the_passes_of_64_lanes(tmp_path: Path, stride: int) -> None:
    """Two halves of a wavefront, on 32 banks: a stride of s words is gcd(s, 32) to a bank."""
    loads = 16
    before = f"v_mul_u32_u24_e32 v6, {4 * stride}, v3; v_and_b32_e32 v6, 0x3ff, v6;"
    body = [f"ds_read_b32 v{7 + number}, v6" for number in range(loads)]
    found = a_trip(tmp_path, [*body, "s_waitcnt lgkmcnt(0)"], 16, before)
    words = {4 * stride * lane % 1024 // 4 for lane in range(32)}
    banks = np.bincount([word % 32 for word in words])
    passes = 2 * int(banks.max())
    assert found == pytest.approx(16 * loads * passes, rel=0.06)


def test_a_wait_is_over_when_its_load_is_there(tmp_path: Path) -> None:
    """Each load of L1 is waited for at once: its latency, and the turn of the wait."""
    loads = 3
    body = ["global_load_dword v7, v0, s[2:3]", "s_waitcnt vmcnt(0)"] * loads
    passes = LANES * 4 / facts().l1_wavefront_bytes
    latency = facts().l1_latency_cycles + passes - 1
    expected = loads * (latency + TURN) + alone(0)
    assert a_trip(tmp_path, body) == pytest.approx(expected, rel=WITHIN)


def test_loads_ahead_of_their_use_wait_once(tmp_path: Path) -> None:
    """A stencil's five loads, first each before its addition, then all before the first one."""
    load, add = "global_load_dword v{}, v0, s[2:3]", "v_add_f32_e32 v4, v4, v{}"
    late = [
        line.format(7 + number) for number in range(5) for line in (load, "s_waitcnt vmcnt(0)", add)
    ]
    early = [load.format(7 + number) for number in range(5)]
    for number in range(5):
        early += [f"s_waitcnt vmcnt({4 - number})", add.format(7 + number)]
    passes = LANES * 4 / facts().l1_wavefront_bytes
    latency = facts().l1_latency_cycles + passes - 1
    assert a_trip(tmp_path, late) == pytest.approx(5 * (latency + 2 * TURN) + alone(0), rel=WITHIN)
    # The first result comes while the others are loaded; then a wait and an addition for each.
    expected = latency + 5 * 2 * TURN + alone(0)
    assert a_trip(tmp_path, early) == pytest.approx(expected, rel=WITHIN)


def test_a_wait_leaves_the_latest_loads_alone(tmp_path: Path) -> None:
    """The first of two loads is waited for, the other one in the next trip."""
    body = ["s_waitcnt vmcnt(1)", "global_load_dword v7, v0, s[2:3]"]
    passes = LANES * 4 / facts().l1_wavefront_bytes
    latency = facts().l1_latency_cycles + passes - 1
    expected = (latency + TURN + alone(1)) / 2
    assert a_trip(tmp_path, body) == pytest.approx(max(expected, alone(2)), rel=0.2)


def test_an_instruction_with_two_accesses_takes_one_turn(tmp_path: Path) -> None:
    body = ["ds_read2_b32 v[8:9], v6 offset1:16", "v_add_f32_e32 v4, v4, v1"] * 2
    found = a_trip(tmp_path, [*body, "s_waitcnt lgkmcnt(0)"], 1, "v_lshlrev_b32_e32 v6, 2, v3;")
    latency = math.ceil(facts().shared_latency_cycles)
    assert found == pytest.approx(alone(0) + 2 * TURN + 3 + latency + TURN, abs=3)


def test_words_of_one_access_are_one_event(tmp_path: Path) -> None:
    """16 bytes of 64 lanes are 16 passes of L1, not four times as many."""
    kernel = timed(
        tmp_path, "global_load_dwordx3 v[8:10], v0, s[2:3]; s_waitcnt vmcnt(0)", 1, 2, ""
    )
    loads = [pc for pc, row in enumerate(kernel.instructions) if "dwordx3" in row.mnemonic]
    assert {kernel.pipeline[pc] for pc in loads} == {Pipeline.GLOBAL}
    assert {kernel.levels.bytes_per_lane[pc] for pc in loads} == {12.0}


def test_a_scalar_load_has_the_latency_of_the_scalar_cache(tmp_path: Path) -> None:
    """Each load needs the word before, which is zero: always the same line."""
    loads = 4
    body = ["s_load_dword s9, s[2:3], s9", "s_waitcnt lgkmcnt(0)"] * loads
    each = TURN * math.ceil(facts().constant_latency_cycles / TURN)
    found = a_trip(tmp_path, body, before="s_mov_b32 s9, 0;")
    assert found == pytest.approx(alone(loads) + loads * each, abs=loads * TURN)
    assert facts().constant_latency_cycles < 0.6 * facts().l1_latency_cycles
