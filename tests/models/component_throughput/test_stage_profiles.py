"""What the stages of a launch ask of the components: counted by hand from small kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.models.component_throughput.stage_profile import StageProfile
from kernelcast.models.component_throughput.stages_from_trace import mean_warps, stage_profiles
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile

THREADS, THREAD_BLOCKS = 128, 6
WARPS = THREADS // 32
GT200 = kc.device("gtx-285")
FRAME = """
.version 6.4
.target sm_60
.address_size 64
.visible .entry k(.param .u64 data) {{
  .reg .u32 %r<8>;
  .reg .u64 %d<4>;
  .reg .f32 %f<8>;
  .reg .f64 %g<4>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 tile[8192];
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  shl.b32 %r1, %r0, {shift};
  and.b32 %r1, %r1, 8191;
  mov.u32 %r2, tile;
  add.u32 %r1, %r1, %r2;
  ld.global.f32 %f0, [%d2];
  bar.sync 0;
{body}
  st.global.f32 [%d2], %f0;
  ret;
}}
"""


def profile(body: str, device: Device = GT200, shift: int = 2) -> KernelProfile:
    kernel = kc.load_ptx(FRAME.format(body=body, shift=shift))["k"]
    data = np.ones(THREADS, np.float32)
    return kernel.run(grid=(THREAD_BLOCKS,), block=(THREADS,), args=[data]).profile(device)


def stages_of(body: str, device: Device = GT200, shift: int = 2) -> tuple[StageProfile, ...]:
    return profile(body, device, shift).derived(stage_profiles) or ()


def last(body: str, device: Device = GT200, shift: int = 2) -> StageProfile:
    return stages_of(body, device, shift)[-1]


def added(body: str, device: Device = GT200) -> tuple[float, ...]:
    """Warp instructions of each type in one warp that the body adds to its stage."""
    pairs = zip(last(body, device).instructions, last("", device).instructions, strict=True)
    return tuple((more - less) / (WARPS * THREAD_BLOCKS) for more, less in pairs)


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("mul.f32 %f0, %f0, %f0;", (1, 0, 0, 0)),
        ("add.f32 %f0, %f0, %f0;", (0, 1, 0, 0)),
        ("fma.rn.f32 %f0, %f0, %f0, %f0;", (0, 1, 0, 0)),
        ("rcp.approx.f32 %f0, %f0;", (0, 0, 1, 0)),
        ("sin.approx.f32 %f0, %f0;", (0, 0, 1, 0)),
        ("cvt.f64.f32 %g0, %f0; mul.f64 %g0, %g0, %g0; cvt.rn.f32.f64 %f0, %g0;", (0, 2, 0, 1)),
        ("mul.lo.u32 %r3, %r0, %r0; cvt.rn.f32.u32 %f0, %r3;", (0, 5, 0, 0)),
    ],
)
def test_instructions_have_the_types_of_table_1(body: str, types: tuple[int, ...]) -> None:
    """A 32-bit product of integers takes four instructions of the GT200 (CUDA guide 4.2)."""
    assert added(body) == types


def test_barriers_make_stages() -> None:
    stages = stages_of("bar.sync 0;\n add.f32 %f0, %f0, %f0;\n bar.sync 0;")
    assert len(stages) == 4
    assert [stage.global_transactions > 0 for stage in stages] == [True, False, False, True]
    assert stages[0].global_bytes == THREAD_BLOCKS * THREADS * 4
    assert stages[0].requested_bytes == THREAD_BLOCKS * THREADS * 4


def test_a_shared_operand_folds_into_arithmetic_where_the_device_can() -> None:
    fold = "ld.shared.f32 %f1, [%r1];\n fma.rn.f32 %f0, %f1, %f0, %f0;"
    assert added(fold) == (0, 1, 0, 0)
    assert last(fold).folded_loads == WARPS * THREAD_BLOCKS
    assert last(fold).shared_requests == WARPS * THREAD_BLOCKS
    assert added(fold, kc.device("gtx-480")) == (0, 2, 0, 0)


@pytest.mark.parametrize(
    ("body", "instructions"),
    [
        ("ld.shared.f32 %f1, [%r1];\n fma.rn.f32 %f0, %f1, %f1, %f1;\n add.f32 %f0, %f0, %f1;", 3),
        ("ld.shared.f32 %f1, [%r1];\n bar.sync 0;\n add.f32 %f0, %f0, %f1;", None),
        ("ld.shared.f32 %f1, [%r1];\n st.shared.f32 [%r1], %f0;\n add.f32 %f0, %f0, %f1;", 3),
        (
            "ld.shared.f32 %f1, [%r1];\n ld.shared.f32 %f2, [%r1+8];\n add.f32 %f0, %f1, %f2;",
            2,
        ),
    ],
)
def test_loads_that_cannot_fold(body: str, instructions: int | None) -> None:
    """Words with two readers, across a barrier or a store, and second operands do not fold."""
    if instructions is None:
        assert sum(stage.folded_loads for stage in stages_of(body)) == 0
    else:
        assert sum(added(body)) == instructions


@pytest.mark.parametrize("shift", range(2, 7))
def test_wavefronts_are_those_of_half_warps(shift: int) -> None:
    """Lanes 2^(shift - 2) words apart: so many ways of conflict on 16 banks."""
    stage = last("st.shared.f32 [%r1], %f0;", shift=shift)
    accesses = WARPS * THREAD_BLOCKS
    assert stage.shared_wavefronts == 2 * accesses * 2 ** (shift - 2)
    assert stage.ideal_shared_wavefronts == 2 * accesses


def test_a_part_of_a_warp_keeps_the_conflicts_of_the_stage_before() -> None:
    body = """
  mov.u32 %r4, 128;
again:
  setp.lt.u32 %p0, %r0, %r4;
  @%p0 st.shared.f32 [%r1], %f0;
  bar.sync 0;
  shr.u32 %r4, %r4, 1;
  setp.gt.u32 %p1, %r4, 0;
  @%p1 bra again;
"""
    stages = [stage for stage in stages_of(body, shift=4) if stage.shared_requests]
    whole = [stage.whole_shared_wavefronts / THREAD_BLOCKS for stage in stages]
    exact = [stage.shared_wavefronts / THREAD_BLOCKS for stage in stages]
    assert whole == [32, 16, 8, 8, 8, 8, 8, 8]
    assert exact == [32, 16, 8, 4, 2, 1, 1, 1]
    assert [stage.shared_warps for stage in stages] == [4, 2, 1, 1, 1, 1, 1, 1]


def test_seventeen_banks_have_no_conflicts_of_powers_of_two() -> None:
    primes = replace(GT200, shared=replace(GT200.shared, banks=17))
    stage = last("st.shared.f32 [%r1], %f0;", primes, shift=6)
    assert stage.shared_wavefronts == stage.ideal_shared_wavefronts


def test_mean_warps_is_work_over_that_of_the_busiest_warp() -> None:
    """Eight warps issue 4 instructions, one of them 20 more: 52 in the time of 24."""
    issues = np.array([8.0] * 4 + [1.0] * 20)
    assert mean_warps(issues, issues, 1, 8) == pytest.approx(52 / 24)
    assert mean_warps(issues * 0, issues * 0, 1, 8) == 1.0
    assert mean_warps(np.array([80.0]), np.array([80.0]), 1, 8) == 8.0
