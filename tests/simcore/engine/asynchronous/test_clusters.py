"""Clusters: registers, shared memory of other thread blocks, the barrier, and copies to several."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import BarrierError, LaunchError, MemoryAccessError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.traces.trace import Trace

both: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
Compile = Callable[..., Kernel]
Sizes = tuple[int, int, int]
SHARED = ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;"
SYNC = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
ONE: Sizes = (1, 1, 1)


def run(
    kernel: Kernel, grid: Sizes, cluster: Sizes | None, *arguments: Argument, waits: bool = False
) -> Trace:
    """Runs on both engines; threads that wait at mbarriers look as often as it takes."""
    launch = Launch(grid, (32, 1, 1), arguments, cluster=cluster)
    trace: Trace = both.run_on_both(kernel, launch, same_trace=not waits)
    return trace


REGISTERS = [
    *(f"%{name}.{axis}" for name in ("clusterid", "nclusterid") for axis in "xyz"),
    *(f"%cluster_{name}.{axis}" for name in ("ctaid", "nctaid") for axis in "xyz"),
    *("%cluster_ctarank", "%cluster_nctarank"),
]


@pytest.mark.parametrize("cluster", [ONE, (2, 1, 1), (2, 2, 1), (1, 3, 2)])
def test_registers(compile_ptx: Compile, cluster: Sizes) -> None:
    count = len(REGISTERS)
    lines = [
        """ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y;
        mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
        mad.lo.u32 %r2, %r3, %r5, %r2; mad.lo.u32 %r1, %r2, %r4, %r1;""",
        f"mul.wide.u32 %rd2, %r1, {4 * count}; add.u64 %rd1, %rd1, %rd2;",
    ]
    for number, name in enumerate(REGISTERS):
        lines.append(f"mov.u32 %r6, {name}; st.global.u32 [%rd1+{4 * number}], %r6;")
    grid = (4, 6, 2)
    found = np.zeros((2, 6, 4, count), np.uint32)
    run(compile_ptx("\n".join((*lines, "ret;"))), grid, cluster, found)
    for z, y, x in np.ndindex(2, 6, 4):
        at = (x, y, z)
        inside = [a % c for a, c in zip(at, cluster, strict=True)]
        rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        assert found[z, y, x].tolist() == [
            *(a // c for a, c in zip(at, cluster, strict=True)),
            *(g // c for g, c in zip(grid, cluster, strict=True)),
            *inside,
            *cluster,
            rank,
            int(np.prod(cluster)),
        ]


@pytest.mark.parametrize("cluster", [(2, 1, 1), (1, 2, 1), (2, 2, 2), (16, 1, 1)])
@pytest.mark.parametrize("generic", [False, True])
def test_everybody_reads_the_next_one_s_memory(
    compile_ptx: Compile, cluster: Sizes, generic: bool
) -> None:
    """Reads go by addresses in shared memory and by generic ones, which give the rank back."""
    there = "mapa.shared::cluster.u32 %r9, %r3, %r8; ld.shared::cluster.u32 %r10, [%r9];"
    there += "getctarank.shared::cluster.u32 %r11, %r9;"
    if generic:
        there = """cvt.u64.u32 %rd5, %r3; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd6, %rd5, %r8;
            ld.u32 %r10, [%rd6]; getctarank.u64 %r11, %rd6;"""
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
        mad.lo.u32 %r3, %r1, 4, %r2; mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank;
        mad.lo.u32 %r6, %r4, 100, %r1; st.shared.u32 [%r3], %r6; {SYNC}
        add.u32 %r8, %r4, 1; rem.u32 %r8, %r8, %r5; {there} mad.lo.u32 %r10, %r11, 10000, %r10;
        mov.u32 %r12, %ctaid.x; mov.u32 %r13, %nctaid.x; mov.u32 %r14, %ctaid.y;
        mad.lo.u32 %r12, %r14, %r13, %r12; mov.u32 %r13, %nctaid.y; mul.lo.u32 %r13, %r13, 16;
        mov.u32 %r14, %ctaid.z; mad.lo.u32 %r12, %r14, %r13, %r12; mad.lo.u32 %r12, %r12, 32, %r1;
        mul.wide.u32 %rd2, %r12, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r10;
        {SYNC} ret;"""
    found = np.zeros((2, 4, 16, 32), np.uint32)
    run(compile_ptx(body, module=SHARED), (16, 4, 2), cluster, found)
    size = int(np.prod(cluster))
    for z, y, x in np.ndindex(2, 4, 16):
        inside = [a % c for a, c in zip((x, y, z), cluster, strict=True)]
        rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        next_one = (rank + 1) % size
        assert (found[z, y, x] == 10000 * next_one + 100 * next_one + np.arange(32)).all()


def test_the_first_one_s_counter_counts_all(compile_ptx: Compile) -> None:
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
        setp.ne.u32 %p1, %r1, 0; mov.u32 %r3, 0; @!%p1 st.shared.u32 [%r2], %r3; {SYNC}
        mapa.shared::cluster.u32 %r4, %r2, 0; atom.shared::cluster.add.u32 %r5, [%r4], 1; {SYNC}
        ld.shared.u32 %r5, [%r2]; mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd2, %r6, 4;
        add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r5; ret;"""
    found = np.zeros(8, np.uint32)
    run(compile_ptx(body, module=SHARED), (8, 1, 1), (4, 1, 1), found)
    assert found.tolist() == [128, 0, 0, 0, 128, 0, 0, 0]


def test_who_has_exited_is_not_waited_for(compile_ptx: Compile) -> None:
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; and.b32 %r2, %r1, 1;
        setp.eq.u32 %p1, %r2, 1; @%p1 ret; {SYNC} mov.u32 %r3, 1; mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r3; ret;"""
    found = np.zeros(4, np.uint32)
    run(compile_ptx(body), (4, 1, 1), (2, 1, 1), found)
    assert found.tolist() == [1, 0, 1, 0]


def test_who_never_comes_is(compile_ptx: Compile) -> None:
    body = f"""mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra HERE; bar.sync 0; ret;
        HERE: {SYNC} ret;"""
    with pytest.raises(BarrierError, match="not all threads of the cluster come to this barrier"):
        run(compile_ptx(body), (2, 1, 1), (2, 1, 1), np.zeros(4, np.uint32))


def test_a_copy_to_several_thread_blocks(compile_ptx: Compile) -> None:
    """The first thread block fills the others' memory and ends the wait at their mbarriers.

    Meanwhile it waits at a barrier of its own with the rest of its threads.
    """
    body = f"""ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
        mov.u32 %r2, tile; mov.u32 %r4, bar; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        mbarrier.init.shared::cta.b64 [%r4], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128; SET: {SYNC}
        mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p2, %r5, 0; or.pred %p3, %p1, %p2;
        mov.u16 %rs1, 13;
        @!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [%r2], [%rd1], 128, [%r4], %rs1;
        setp.eq.u32 %p4, %r5, 1; @%p4 bra END;
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r4], 0; @!%p5 bra WAIT;
        END: mad.lo.u32 %r3, %r1, 4, %r2; ld.shared.u32 %r6, [%r3]; mad.lo.u32 %r7, %r5, 32, %r1;
        mul.wide.u32 %rd3, %r7, 4; add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r6;
        {SYNC} ret;"""
    given, found = np.arange(32, dtype=np.uint32) + 1, np.zeros((4, 32), np.uint32)
    run(
        compile_ptx(body, "u64 from, u64 out", SHARED),
        (4, 1, 1),
        (4, 1, 1),
        given,
        found,
        waits=True,
    )
    assert (found == np.array([1, 0, 1, 1])[:, None] * given).all()


def test_lanes_that_spin_do_not_keep_barriers_shut(compile_ptx: Compile) -> None:
    """Thread block 1 looks at an mbarrier until thread block 0 has passed a barrier of its own."""
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r4, bar;
        mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%r4], 1; {SYNC}
        setp.eq.u32 %p2, %r5, 0; @%p2 bra FIRST;
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0; @!%p3 bra WAIT; bra END;
        FIRST: bar.sync 0; mapa.shared::cluster.u32 %r6, %r4, 1;
        @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
        END: mov.u32 %r7, 1; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r7; {SYNC} ret;"""
    found = np.zeros(2, np.uint32)
    run(compile_ptx(body, module=SHARED), (2, 1, 1), (2, 1, 1), found, waits=True)
    assert found.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("grid", "cluster", "message"),
    [
        ((6, 1, 1), (4, 1, 1), "grid 6x1x1 is no multiple of cluster 4x1x1"),
        ((32, 1, 1), (32, 1, 1), "a cluster of 32x1x1 exceeds 16 thread blocks"),
        ((4, 1, 1), (4, 1, 1), "requires clusters of 2x1x1, got 4x1x1"),
    ],
)
def test_launches_that_do_not_fit(
    compile_ptx: Compile, grid: Sizes, cluster: Sizes, message: str
) -> None:
    directives = ".reqnctapercluster 2, 1, 1" if "requires" in message else ""
    kernel = compile_ptx("ret;", directives=directives)
    with pytest.raises(LaunchError, match=message):
        run(kernel, grid, cluster, np.zeros(4, np.uint32))


def test_a_rank_that_is_not_there(compile_ptx: Compile) -> None:
    body = "mov.u32 %r1, tile; mapa.shared::cluster.u32 %r2, %r1, 5; ld.shared.u32 %r3, [%r2]; ret;"
    with pytest.raises(MemoryAccessError, match="outside shared memory"):
        run(compile_ptx(body, module=SHARED), (2, 1, 1), (2, 1, 1), np.zeros(4, np.uint32))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("threads", [70, 128])
def test_warps_of_every_width(compile_ptx: Compile, width: int, threads: int) -> None:
    """Each thread adds, twice, to a place of a thread block that depends on it.

    Half of the lanes go another way in between.
    """
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
        mov.u32 %r3, %cluster_nctarank; mad.lo.u32 %r4, %r1, 4, %r2; st.shared.u32 [%r4], 0; {SYNC}
        rem.u32 %r5, %r1, %r3; mapa.shared::cluster.u32 %r6, %r4, %r5;
        red.shared::cluster.add.u32 [%r6], 3; and.b32 %r7, %r1, 1; setp.eq.u32 %p1, %r7, 0;
        @%p1 bra EVEN; red.shared::cluster.add.u32 [%r6], 100; EVEN: {SYNC}
        ld.shared.u32 %r8, [%r4]; mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ntid.x;
        mad.lo.u32 %r9, %r9, %r10, %r1; mul.wide.u32 %rd2, %r9, 4; add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r8; ret;"""
    found = np.zeros((8, threads), np.uint32)
    launch = Launch((8, 1, 1), (threads, 1, 1), (found,), cluster=(4, 1, 1))
    both.run_on_both(compile_ptx(body, module=SHARED), launch, width=width)
    lane = np.arange(threads)
    each = np.where(np.arange(8)[:, None] % 4 == lane % 4, 4 * (3 + 100 * (lane % 2)), 0)
    assert (found == each).all()


def test_warps_that_wait_for_a_copy_beside_warps_at_a_counted_barrier(
    compile_ptx: Compile,
) -> None:
    """One warp looks at an mbarrier until two others have met at a barrier of their own."""
    body = """ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r4, bar;
        setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [%r4], 1; bar.sync 0;
        setp.ge.u32 %p2, %r1, 64; @%p2 bra WAIT; bar.sync 1, 64;
        setp.eq.u32 %p3, %r1, 33; @%p3 mbarrier.arrive.shared.b64 _, [%r4]; bra END;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [%r4], 0; @!%p4 bra WAIT;
        END: mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1; ret;"""
    found = np.zeros(96, np.uint32)
    launch = Launch((1, 1, 1), (96, 1, 1), (found,))
    both.run_on_both(compile_ptx(body, module=SHARED), launch, same_trace=False)
    assert (found == np.arange(96)).all()


def test_clusters_that_wait_for_other_clusters(compile_ptx: Compile) -> None:
    """A barrier of the whole grid by an atomic counter, between two of each cluster."""
    body = f"""ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; {SYNC}
        setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; atom.global.add.u32 %r2, [%rd1], 1;
        WAIT: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, 12; @%p2 bra WAIT;
        DONE: {SYNC} mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r6, %r4, %r5, %r1;
        ld.volatile.global.u32 %r7, [%rd1]; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd2, %rd2, %rd3;
        st.global.u32 [%rd2], %r7; ret;"""
    count, found = np.zeros(1, np.uint32), np.zeros((12, 32), np.uint32)
    kernel = compile_ptx(body, "u64 count, u64 out")
    launch = Launch((12, 1, 1), (32, 1, 1), (count, found), cluster=(2, 1, 1))
    both.run_on_both(kernel, launch, same_trace=False)
    assert (found == 12).all()
