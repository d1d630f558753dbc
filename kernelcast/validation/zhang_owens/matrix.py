"""Zhang and Owens, section 5.1: products of matrices of 1024 x 1024.

They differ in the side of the sub-matrix that shared memory holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from kernelcast.api import estimate
from kernelcast.models.component_throughput.model import NAME
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.rescaling import Scalar
from kernelcast.simcore.profile.profile import Occupancy, OccupancyLimiter
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.validation.zhang_owens.case_studies import (
    ZHANG_OWENS,
    CaseStudy,
    case_study,
    paper_gpu,
    printed_facts,
    printed_numbers,
    printed_table,
)

__all__ = [
    "MORE_RESOURCES",
    "MORE_THREAD_BLOCKS",
    "matrix_figures",
    "matrix_multiply",
    "on_suggested_gpu",
]

_SIDES = (8, 16, 32)
_LARGEST = _SIDES[-1]
MORE_THREAD_BLOCKS: Mapping[str, Scalar] = {"sm.max_blocks": 16}
"""The paper's first suggestion."""
MORE_RESOURCES: Mapping[str, Scalar] = {"sm.registers": 32768, "sm.shared_bytes": 32768}
"""The second: twice the registers and the shared memory."""
_SUGGESTED_GAIN = 1.03


def matrix_multiply(size: str = "full") -> dict[int, CaseStudy]:
    """Case studies by side of the sub-matrix; memories of suggested GPUs are simulated, too."""
    suggested = [changed_device(paper_gpu(), item) for item in (MORE_THREAD_BLOCKS, MORE_RESOURCES)]
    return {side: case_study(f"matmul_{side}", size, suggested) for side in _SIDES}


def on_suggested_gpu(study: CaseStudy, changes: Mapping[str, Scalar]) -> tuple[float, Occupancy]:
    """The speed-up that the changes bring, and the occupancy with them."""
    device = changed_device(paper_gpu(), changes)
    profile = study.trace.profile(device)
    assert profile.occupancy is not None
    return study.estimate.time_s / estimate(profile, NAME, device).time_s, profile.occupancy


def matrix_figures() -> Iterator[PaperFigure]:
    """Executes three kernels, a quarter of a minute."""
    studies = matrix_multiply()
    yield from _count_figures(studies)
    yield from _bottleneck_figures(studies)
    yield from _suggestion_figures(studies)


def _count_figures(studies: Mapping[int, CaseStudy]) -> Iterator[PaperFigure]:
    printed = printed_numbers()
    table = {row["sub_matrix"]: row for row in printed_table("table_2_matmul_occupancy")}
    for side, study in studies.items():
        found = study.profile.occupancy
        assert found is not None
        warps = int(table[f"{side}x{side}"]["active_warps"])
        yield _subject(side, "Table 2").same(
            "active warps of our kernel", warps, found.warps_per_sm
        )
    for small, large in pairwise(_SIDES):
        fall = 100 * (1 - studies[large].transactions / studies[small].transactions)
        name = f"matmul_gmem_trans_reduction_{small}_to_{large}"
        figure = f"global transactions fewer than with {small}x{small}"
        yield _subject(large).near(figure, printed[name], fall, points=2, unit="%")
    share = 100 * studies[16].multiply_add_share
    figure = "multiply-adds of all instructions"
    yield _subject(16).near(figure, printed["matmul_mad_fraction"], share, points=5, unit="%")


def _bottleneck_figures(studies: Mapping[int, CaseStudy]) -> Iterator[PaperFigure]:
    facts = printed_facts()
    for side, study in studies.items():
        bottleneck = study.estimate.bottleneck
        yield _subject(side).same("bottleneck", facts[f"matmul_bottleneck_{side}"], bottleneck)
    fastest = min(studies, key=lambda side: studies[side].estimate.time_s)
    subject = Subject(ZHANG_OWENS, "matrix multiply", "5.1")
    yield subject.same("fastest sub-matrix", facts["matmul_best"], f"{fastest}x{fastest}")


def _suggestion_figures(studies: Mapping[int, CaseStudy]) -> Iterator[PaperFigure]:
    gain, occupancy = on_suggested_gpu(studies[8], MORE_THREAD_BLOCKS)
    with_blocks = "at most 16 thread blocks an SM"
    yield _subject(8).same(f"active warps, {with_blocks}", 32, occupancy.warps_per_sm)
    yield _subject(8).near(f"speed-up, {with_blocks}", _SUGGESTED_GAIN, gain, points=0.01)
    _, occupancy = on_suggested_gpu(studies[16], MORE_THREAD_BLOCKS)
    yield _subject(16).same(
        f"thread blocks of an SM, {with_blocks}",
        f"8, by {OccupancyLimiter.REGISTERS.value}",
        f"{occupancy.thread_blocks_per_sm}, by {occupancy.limiter.value}",
    )
    gains = {side: on_suggested_gpu(studies[side], MORE_RESOURCES)[0] for side in _SIDES}
    others = max(gain for side, gain in gains.items() if side != _LARGEST)
    yield _subject(_LARGEST).judged(
        "speed-up, twice the registers and shared memory",
        "the most of the three",
        gains[_LARGEST],
        f"more than {others:.4g}",
        is_met=gains[_LARGEST] > others,
    )


def _subject(side: int, place: str = "5.1") -> Subject:
    return Subject(ZHANG_OWENS, f"matrix multiply {side}x{side}", place)
