"""The case studies of Zhang and Owens (HPCA 2011), section 5, against what the paper prints."""

from __future__ import annotations

import pytest

from kernelcast.models.component_throughput.stages_from_trace import stage_profiles
from kernelcast.models.component_throughput.times import Component
from kernelcast.simcore.device.device import CoalescingRule
from kernelcast.validation.zhang_owens.case_studies import CaseStudy, printed_facts
from kernelcast.validation.zhang_owens.matrix import matrix_multiply
from kernelcast.validation.zhang_owens.reduction import cyclic_reduction, sustained_bandwidth
from kernelcast.validation.zhang_owens.sparse import (
    entry_bytes,
    gpu_with_segments,
    sparse_trace,
)

FACTS = printed_facts()


@pytest.fixture(scope="module")
def tiles() -> dict[int, CaseStudy]:
    return matrix_multiply()


@pytest.fixture(scope="module")
def systems() -> tuple[CaseStudy, CaseStudy]:
    return cyclic_reduction()


def test_global_transactions_fall_as_printed(tiles: dict[int, CaseStudy]) -> None:
    for small, large in ((8, 16), (16, 32)):
        fall = 100 * (1 - tiles[large].transactions / tiles[small].transactions)
        printed = float(FACTS[f"matmul_gmem_trans_reduction_{small}_to_{large}"])
        assert fall == pytest.approx(printed, abs=2)


def test_operands_in_shared_memory_are_no_instructions(tiles: dict[int, CaseStudy]) -> None:
    """The 16 x 16 kernel's share of multiply-adds would be below a half without that rule."""
    study = tiles[16]
    printed = float(FACTS["matmul_mad_fraction"])
    assert 100 * study.multiply_add_share == pytest.approx(printed, abs=5)
    stages = study.profile.derived(stage_profiles) or ()
    folded = sum(stage.folded_loads for stage in stages)
    issued = sum(stage.warp_instructions for stage in stages)
    multiply_adds = sum(stage.computations for stage in stages)
    assert folded == multiply_adds == 1024**3 / 32
    assert multiply_adds / (issued + folded) < 0.5


def test_bottlenecks_and_fastest_tile_are_the_papers(tiles: dict[int, CaseStudy]) -> None:
    for tile, study in tiles.items():
        assert study.estimate.bottleneck == FACTS[f"matmul_bottleneck_{tile}"]
    fastest = min(tiles, key=lambda tile: tiles[tile].estimate.time_s)
    assert f"{fastest}x{fastest}" == FACTS["matmul_best"]


def test_plain_steps_have_the_papers_bottlenecks(systems: tuple[CaseStudy, CaseStudy]) -> None:
    """Step 0 global memory, step 1 instructions, from step 3 on shared memory; step 2 may tie."""
    found = [stage.bottleneck for stage in systems[0].paper_stages]
    assert found[:2] == [Component.GLOBAL, Component.INSTRUCTIONS]
    assert found[2] in (Component.SHARED, Component.INSTRUCTIONS)
    assert found[3:10] == [Component.SHARED] * 7


def test_padded_steps_are_bound_by_instructions(systems: tuple[CaseStudy, CaseStudy]) -> None:
    found = [stage.bottleneck for stage in systems[1].paper_stages]
    assert found[:10] == [Component.GLOBAL, *[Component.INSTRUCTIONS] * 9]


def test_all_nine_steps_have_as_many_wavefronts(systems: tuple[CaseStudy, CaseStudy]) -> None:
    """Figure 7b. An access at i + d lacks the last lane of a whole warp: 31 of 32 passes."""
    steps = [stage.stage.whole_shared_wavefronts for stage in systems[0].paper_stages[1:10]]
    assert max(steps[:8]) == pytest.approx(min(steps[:8]), rel=0.02)
    exact = [stage.stage.shared_wavefronts for stage in systems[0].stages[1:10]]
    assert exact[8] < exact[3] / 16


def test_speed_up_without_conflicts(systems: tuple[CaseStudy, CaseStudy]) -> None:
    plain, padded = systems
    assert 1.3 < plain.paper_estimate.time_s / padded.paper_estimate.time_s < 1.9
    exact = plain.estimate.time_s / padded.estimate.time_s
    assert 1.0 < exact < plain.paper_estimate.time_s / padded.paper_estimate.time_s


def test_mean_sustained_bandwidth(systems: tuple[CaseStudy, CaseStudy]) -> None:
    found = sustained_bandwidth(systems[0].paper_stages) / 1e9
    assert found == pytest.approx(float(FACTS["cr_avg_shared_bw"]), rel=0.05)


def test_the_single_warp_dominates_the_time(systems: tuple[CaseStudy, CaseStudy]) -> None:
    """All bytes over all time is far less than the mean over steps that the paper may mean."""
    stages = systems[0].paper_stages
    assert sustained_bandwidth(stages, over_time=True) < 0.8 * sustained_bandwidth(stages)


@pytest.mark.parametrize("segment_bytes", [32, 16])
def test_an_entry_of_the_sparse_matrix_costs_the_printed_bytes(segment_bytes: int) -> None:
    printed = float(FACTS[f"spmv_vector_bytes_{segment_bytes}"])
    device = gpu_with_segments(CoalescingRule.FIXED_SEGMENTS, segment_bytes)
    assert entry_bytes(sparse_trace("ell"), device).vector == pytest.approx(printed, rel=0.005)
