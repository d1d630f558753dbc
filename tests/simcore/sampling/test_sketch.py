"""Launches that a few of their thread blocks stand for, beside executions of all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.isa.analysis.slices import control_slice, path_slice
from kernelcast.simcore.isa.ir.kernel import Kernel

EXAMPLES = Path(__file__).parents[3] / "examples"
GPU = "gtx-1060-6gb"
SECTOR_BYTES = 32
NEAR = 0.05

CompilePtx = Callable[..., Kernel]

SPILLED = """
    ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.local.u32 [kept], 0;
LOOP:
    ld.local.u32 %r2, [kept]; add.u32 %r2, %r2, 1; st.local.u32 [kept], %r2;
    ld.global.f32 %f1, [%rd3]; st.shared.f32 [tile], %f1; ld.shared.f32 %f2, [tile];
    st.global.f32 [%rd3], %f2;
    setp.lt.u32 %p1, %r2, 9000;
    @%p1 bra LOOP;
    ret;
"""
GUARDED = """
    ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 64, %r1; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3]; setp.gt.f32 %p1, %f1, 0f3F000000;
    @%p1 mul.f32 %f1, %f1, 0f40000000;
    st.global.f32 [%rd3], %f1;
    ret;
"""
BRANCHING = """
    ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1];
LOOP:
    add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0;
    @%p1 bra LOOP;
    ret;
"""


def product(n: int) -> tuple[RunnableKernel, dict[str, Any]]:
    """64 rows times a square matrix of n columns; tiles of 16 x 16."""
    a, b, c = (np.ones((rows, n), np.float32) for rows in (64, n, 64))
    kernel = kc.load(EXAMPLES / "sgemm/sgemm.ptx")["sgemm_16x16"]
    launch = {"grid": (n // 16, 4), "block": (16, 16), "args": [a, b, c, np.uint32(n)]}
    return kernel, launch


@pytest.mark.parametrize("n", [256, 2048], ids=["whole paths", "paths that are cut off"])
def test_counts_of_all_thread_blocks_follow_from_a_few(n: int) -> None:
    """The JIT engine executes everything, the sketch is made by the reference engine."""
    kernel, launch = product(n)
    launch["args"][2][...] = 7
    found = kernel.run(**launch, devices=[GPU], sampling=Sampling.SKETCH)
    assert (launch["args"][2] == 7).all()
    everything = kernel.run(**launch, devices=[GPU], record_paths=True)
    assert found.data.paths is not None
    assert found.data.paths.is_complete == (n == 256)
    for mine, theirs in zip(
        found.data.classes.totals(), everything.data.classes.totals(), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    sketched, exact = (trace.profile(GPU) for trace in (found, everything))
    assert sketched.traffic is not None
    assert exact.traffic is not None
    assert sketched.traffic.global_load_sectors == exact.traffic.global_load_sectors
    assert sketched.shared is not None
    assert exact.shared is not None
    assert sketched.shared.load_wavefronts == exact.shared.load_wavefronts
    times = [kc.estimate(profile, "interval").time_s for profile in (sketched, exact)]
    assert times[0] == pytest.approx(times[1], rel=NEAR)


def test_no_byte_is_read_from_dram_twice() -> None:
    """All tensors together bound what is read; tiles of both factors are asked for many times."""
    kernel, launch = product(2048)
    profile = kernel.run(**launch, devices=[GPU], sampling=Sampling.SKETCH).profile(GPU)
    traffic = profile.traffic
    assert traffic is not None
    size = sum(array.nbytes for array in launch["args"][:3])
    assert traffic.dram_read_transactions * SECTOR_BYTES == pytest.approx(size, rel=0.01)
    assert traffic.global_load_sectors is not None
    assert traffic.global_load_sectors * SECTOR_BYTES > 4 * size
    assert any("DRAM is read once" in text for text in profile.assumptions)


def test_a_count_that_was_spilled_decides_paths(compile_ptx: CompilePtx) -> None:
    module = ".shared .align 4 .b8 tile[4];"
    body = ".local .align 4 .b8 kept[4];" + SPILLED
    kernel = RunnableKernel(compile_ptx(body, "u64 x", module))
    control, path = control_slice(kernel.kernel), path_slice(kernel.kernel)
    assert not control.is_static
    assert path is not None
    assert path.is_static
    assert all(
        "shared" not in item.mnemonic for item in kernel.kernel.instructions if item.pc in path.pcs
    )
    launch: dict[str, Any] = {"grid": 4, "block": 32, "args": [np.zeros(32, np.float32)]}
    found = kernel.run(**launch, devices=[GPU], sampling=Sampling.SKETCH)
    whole = kernel.run(**launch, devices=[GPU])
    np.testing.assert_array_equal(found.data.classes.totals()[0], whole.data.classes.totals()[0])


@pytest.mark.parametrize("sampling", [Sampling.SKETCH, Sampling.ALWAYS])
def test_data_may_decide_what_lanes_compute(compile_ptx: CompilePtx, sampling: Sampling) -> None:
    kernel = RunnableKernel(compile_ptx(GUARDED, "u64 x"))
    x = np.linspace(0, 1, 1 << 14, dtype=np.float32)
    launch: dict[str, Any] = {"grid": len(x) // 64, "block": 64, "args": [x]}
    before = x.copy()
    found = kernel.run(**launch, devices=[GPU], sampling=sampling)
    np.testing.assert_array_equal(x, before)
    whole = kernel.run(**launch, devices=[GPU])
    np.testing.assert_array_equal(found.data.classes.totals()[0], whole.data.classes.totals()[0])
    lanes = [trace.data.classes.totals()[1].sum() for trace in (found, whole)]
    assert lanes[0] - lanes[1] == np.count_nonzero(before <= 0.5)


def test_what_cannot_be_sketched_is_said(compile_ptx: CompilePtx) -> None:
    kernel = RunnableKernel(compile_ptx(BRANCHING, "u64 x"))
    with pytest.raises(LaunchError, match="cannot be sketched: what it reads decides its paths"):
        kernel.run(
            grid=1, block=32, args=[np.ones(1, np.int32)], devices=[GPU], sampling=Sampling.SKETCH
        )
