"""Machine code of RDNA in the walk, from assembly text to cycles, against closed forms.

Each kernel is a loop; the time of a trip is the difference of two numbers of trips. A SIMD issues
an instruction of a wavefront of 32 lanes in every cycle, of each kind one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel, timing_facts
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from tests.ptx_frontend.amdgcn.assembly import NARROW, lowered_for_rdna, walked

DEVICE = {"gfx1030": "rx-6900-xt", "gfx1100": "rx-7900-xtx", "gfx1201": "rx-9070-xt"}
TRIPS = 40
LOOP = "s_mov_b32 s8, {trips}; s_mov_b32 s9, 3;.LBB0_1:;{body}"
END = "; s_add_i32 s8, s8, -1; s_cmp_lg_u32 s8, 0; s_cbranch_scc1 .LBB0_1"
SIMDS = 2
WITHIN = 0.05
INDEPENDENT = [f"v_add_f32_e32 v{number}, v1, v3" for number in range(8, 24)]
CHAIN = ["v_add_f32_e32 v8, v8, v1"] * 8


def facts(architecture: str) -> TimingFacts:
    return timing_facts(load_device(DEVICE[architecture]))


def timed(tmp_path: Path, body: str, waves: int, trips: int, architecture: str) -> TimedKernel:
    text = LOOP.format(trips=trips, body=body) + END
    kernel = lowered_for_rdna(tmp_path, text, architecture)
    return walked(kernel, waves * NARROW, DEVICE[architecture])


def a_trip(tmp_path: Path, body: list[str], waves: int = 1, architecture: str = "gfx1100") -> float:
    """Cycles of one trip of `waves` wavefronts on one compute unit."""
    longer, shorter = (
        launch_timing(
            timed(tmp_path, "; ".join(body), waves, trips, architecture),
            load_device(DEVICE[architecture]),
            is_exact=True,
        )
        for trips in (2 * TRIPS, TRIPS)
    )
    for timing in (longer, shorter):
        total = int(timing.slots.sum())
        assert total == timing.full_cycles * timing.slots_per_cycle
        assert timing.slots_per_cycle == SIMDS
    return (longer.full_cycles - shorter.full_cycles) / TRIPS


def overhead(architecture: str) -> float:
    """Cycles of the end of a loop: a sum, what waits for it, what waits for that, the branch."""
    told = facts(architecture)
    return 2 * told.scalar_latency_cycles + told.branch_latency_cycles


@pytest.mark.parametrize("architecture", DEVICE)
def test_a_wavefront_issues_in_every_cycle(tmp_path: Path, architecture: str) -> None:
    expected = len(INDEPENDENT) + overhead(architecture)
    assert a_trip(tmp_path, INDEPENDENT, 1, architecture) == pytest.approx(expected, rel=WITHIN)


@pytest.mark.parametrize("architecture", DEVICE)
def test_a_result_is_waited_for(tmp_path: Path, architecture: str) -> None:
    """Each sum needs the one before: five cycles."""
    latency = facts(architecture).fp32.latency_cycles
    expected = len(CHAIN) * latency + overhead(architecture)
    found = a_trip(tmp_path, CHAIN, 1, architecture)
    assert found == pytest.approx(expected, abs=latency)


def test_two_in_one_take_the_time_of_one(tmp_path: Path) -> None:
    """Sixteen sums in sixteen instructions or in eight; as many wavefronts as fill the SIMDs."""
    pairs = [
        f"v_dual_add_f32 v{number}, v1, v3 :: v_dual_add_f32 v{number + 1}, v1, v3"
        for number in range(8, 24, 2)
    ]
    waves = 32
    single, dual = (a_trip(tmp_path, body, waves) for body in (INDEPENDENT * 4, pairs * 4))
    per_simd = waves / SIMDS
    assert single == pytest.approx(per_simd * len(INDEPENDENT) * 4, rel=WITHIN)
    assert dual == pytest.approx(per_simd * len(pairs) * 4, rel=WITHIN)


@pytest.mark.parametrize("scalar", [0, 16, 32])
def test_scalar_instructions_issue_beside_vector_ones(tmp_path: Path, scalar: int) -> None:
    """A vector and a scalar instruction in a cycle, from different wavefronts."""
    waves = 32
    body = INDEPENDENT * 2 + ["s_mov_b32 s10, 5"] * scalar
    found = a_trip(tmp_path, body, waves)
    expected = waves / SIMDS * max(len(INDEPENDENT) * 2, scalar + 2)
    assert expected <= 1.01 * found
    assert found <= 1.25 * expected


def test_hints_cost_a_wavefront_its_own_cycle_only(tmp_path: Path) -> None:
    hints = [part for line in INDEPENDENT * 2 for part in (line, "s_delay_alu instid0(VALU_DEP_1)")]
    waves = 32
    found = a_trip(tmp_path, hints, waves)
    expected = waves / SIMDS * len(INDEPENDENT) * 2
    assert expected <= 1.01 * found
    assert found <= 1.1 * expected


def test_special_functions_leave_the_lanes_free(tmp_path: Path) -> None:
    """A quarter of the rate in a unit of their own."""
    waves, exponents = 32, 8
    body = [f"v_exp_f32_e32 v{number}, v1" for number in range(8, 8 + exponents)] + INDEPENDENT
    lanes = facts("gfx1100").special_function.lanes / SIMDS
    expected = waves / SIMDS * exponents * NARROW / lanes
    found = a_trip(tmp_path, body, waves)
    assert expected <= 1.01 * found
    assert found <= 1.25 * expected


def test_products_of_integers_keep_the_lanes(tmp_path: Path) -> None:
    waves, products = 32, 8
    body = [f"v_mul_lo_u32 v{number}, v1, v3" for number in range(8, 8 + products)] + INDEPENDENT
    lanes = facts("gfx1100").integer_multiply.lanes / SIMDS
    expected = waves / SIMDS * (products * NARROW / lanes + len(INDEPENDENT))
    assert a_trip(tmp_path, body, waves) == pytest.approx(expected, rel=WITHIN)


@pytest.mark.parametrize("architecture", DEVICE)
def test_stores_have_a_counter_of_their_own(tmp_path: Path, architecture: str) -> None:
    """A wait for loads is over at once; a wait for stores is one for L2."""
    store = "global_store_dword v0, v1, s[0:1]"
    loads = a_trip(tmp_path, [store, "s_waitcnt vmcnt(0)"], 1, architecture)
    stores = a_trip(tmp_path, [store, "s_waitcnt_vscnt null, 0x0"], 1, architecture)
    assert loads < 2 * overhead(architecture)
    assert stores > facts(architecture).l2_latency_cycles
