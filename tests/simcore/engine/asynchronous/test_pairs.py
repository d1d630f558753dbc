"""Copies of tensors for pairs of thread blocks (`.cta_group::2`), and the leader's mbarrier."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.tensor_maps import TensorMap

both: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
Compile = Callable[..., Kernel]
SHARED = ".shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 bar;"
SYNC = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
START = f"""ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile; mov.u32 %r4, bar; mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared::cta.b64 [%r4], 2; {SYNC} and.b32 %r8, %r4, -16777217;"""
WAIT = f"""and.b32 %r9, %r5, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra READ;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0; @!%p3 bra WAIT; READ: {SYNC}
    mad.lo.u32 %r3, %r1, 4, %r2; ld.shared.u32 %r6, [%r3]; mad.lo.u32 %r7, %r5, 32, %r1;
    mul.wide.u32 %rd3, %r7, 4; add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r6; {SYNC} ret;"""
COPY = "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


def run(kernel: Kernel, cluster: int, *arguments: Argument) -> None:
    launch = Launch((cluster, 1, 1), (32, 1, 1), arguments, cluster=(cluster, 1, 1))
    both.run_on_both(kernel, launch, same_trace=False)


@pytest.mark.parametrize("cluster", [2, 4])
def test_the_leader_is_told_of_both_halves(compile_ptx: Compile, cluster: int) -> None:
    """Each thread block copies its own piece; the even one of a pair waits for both."""
    body = f"""{START} @%p1 bra LOADED;
    mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r8], 128;
    mul.lo.u32 %r10, %r5, 32;
    {COPY}.cta_group::2 [%r2], [%rd1, {{%r10}}], [%r8]; LOADED: {WAIT}"""
    given = np.arange(32 * cluster, dtype=np.uint32) + 7
    out = np.zeros_like(given)
    kernel = compile_ptx(body, "u64 from, u64 out", SHARED)
    run(kernel, cluster, TensorMap(given, (32,)), out)
    np.testing.assert_array_equal(out, given)


def test_a_multicast_tells_the_leader_of_every_pair(compile_ptx: Compile) -> None:
    """The first thread block sends one piece to four; mbarriers of ranks 0 and 2 count two each."""
    body = f"""{START} @%p1 bra LOADED;
    mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r8], 128;
    setp.ne.u32 %p2, %r5, 0; @%p2 bra LOADED; mov.u16 %rs1, 15; mov.u32 %r10, 0;
    {COPY}.multicast::cluster.cta_group::2 [%r2], [%rd1, {{%r10}}], [%r8], %rs1; LOADED: {WAIT}"""
    given = np.arange(32, dtype=np.uint32) + 3
    out = np.zeros((4, 32), np.uint32)
    kernel = compile_ptx(body, "u64 from, u64 out", SHARED)
    run(kernel, 4, TensorMap(given, (32,)), out)
    np.testing.assert_array_equal(out, np.tile(given, (4, 1)))
