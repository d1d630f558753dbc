"""The architectures that Zhang and Owens (HPCA 2011) suggest, section 5, on the GTX 285."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.architectures import WhatIf
from kernelcast.simcore.profile.occupancy import held_share
from kernelcast.simcore.profile.profile import OccupancyLimiter

WORKLOADS = Path(__file__).parents[3] / "validation" / "workloads"
MODEL = "component-throughput"
GTX_285 = kc.device("gtx-285")


@cache
def matmul(side: int) -> kc.KernelTrace:
    """Sub-matrices of `side` x `side`, of matrices just large enough for full SMs.

    The paper's have 1024 rows.
    """
    loaded = kc.load_workload(WORKLOADS / "zhang_owens" / f"matmul_{side}.toml")
    return replace(loaded, sizes={"enough": {"order": 576}}).run()


def changed(side: int, **changes: int) -> WhatIf:
    given = {f"sm.{name}": value for name, value in changes.items()}
    return kc.whatif(matmul(side), GTX_285, given, models=[MODEL])


def test_sixteen_thread_blocks_fill_an_sm_with_the_smallest_sub_matrices() -> None:
    """Section 5.1: 32 warps instead of 16, and about 3 % of time."""
    found = changed(8, max_blocks=16)
    before, after = (matmul(8).profile(row.architecture.device).occupancy for row in found.rows)
    assert before is not None
    assert after is not None
    assert (before.warps_per_sm, after.warps_per_sm) == (16, 32)
    assert found.rows[1].speedup == pytest.approx(1.03, abs=0.01)


def test_registers_keep_the_16x16_case_at_eight_thread_blocks() -> None:
    """The paper expects a gain there too; its own Table 2 has no registers left for it."""
    found = changed(16, max_blocks=16)
    occupancy = matmul(16).profile(found.rows[1].architecture.device).occupancy
    assert occupancy is not None
    assert (occupancy.thread_blocks_per_sm, occupancy.limiter) == (8, OccupancyLimiter.REGISTERS)
    assert found.rows[1].speedup == 1.0


def test_more_registers_and_shared_memory_help_the_largest_sub_matrices_most() -> None:
    gains = {
        side: changed(side, registers=32768, shared_bytes=32768).rows[1].speedup
        for side in (8, 16, 32)
    }
    assert gains[32] > 1.1
    assert gains[32] > gains[16]
    assert gains[32] > gains[8]


def test_seventeen_banks_remove_the_conflicts_of_cyclic_reduction() -> None:
    """Section 5.2. Strides that are powers of two and 17 have no common divisor."""
    loaded = kc.load_workload(WORKLOADS / "zhang_owens" / "cyclic_reduction.toml")
    trace = loaded.run("small")
    found = kc.whatif(trace, GTX_285, {"sm.shared_banks": 17}, models=[MODEL])
    wavefronts, ideal = zip(
        *(shared_use(trace, row.architecture.device) for row in found.rows), strict=True
    )
    assert wavefronts[0] > 1.5 * ideal[0]
    assert wavefronts[1] < 1.1 * ideal[1]
    assert found.rows[1].speedup > 1.0


def shared_use(trace: kc.KernelTrace, device: kc.Device) -> tuple[float, float]:
    """Wavefronts, and how few there could be."""
    use = trace.profile(device).shared
    assert use is not None
    assert use.ideal_wavefronts is not None
    return use.load_wavefronts + use.store_wavefronts, use.ideal_wavefronts


def test_early_release_lets_more_systems_be_reduced_at_a_time() -> None:
    """Section 5.2, the second suggestion: fewer and fewer threads of a thread block work."""
    loaded = kc.load_workload(WORKLOADS / "zhang_owens" / "cyclic_reduction.toml")
    trace = loaded.run("full")
    assert held_share(trace.data) < 1
    found = kc.whatif(trace, GTX_285, {"sm.early_release": True}, models=[MODEL])
    assert found.rows[1].estimate.time_s <= found.rows[0].estimate.time_s


def test_segments_of_16_bytes_shorten_spmv() -> None:
    """Section 5.3: entries of the vector that nobody asked for are not fetched."""
    loaded = kc.load_workload(WORKLOADS / "sparse_formats" / "spmv_ell.toml")
    found = kc.whatif(
        loaded,
        GTX_285,
        sweep={"memory.min_segment_bytes": [4, 16, 32]},
        models=[MODEL],
        size="small",
    )
    words, half, same = (row.speedup for row in found.rows[1:])
    assert words >= half > 1.0
    assert same == 1.0
