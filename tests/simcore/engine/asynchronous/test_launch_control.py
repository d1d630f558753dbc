"""`clusterlaunchcontrol`, `st.bulk` and special registers that only `mov` reads.

Also addresses of shared memory that say whose they are: on both engines.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.traces.trace import Trace

both: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
Compile = Callable[..., Kernel]
Sizes = tuple[int, int, int]
ONE: Sizes = (1, 1, 1)
SHARED = ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;"
OUT = """.reg .b128 %q<3>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x; mad.lo.u32 %r2, %r2, %r3, %r1;"""


def run(
    kernel: Kernel,
    *arguments: Argument,
    grid: Sizes = ONE,
    cluster: Sizes | None = None,
    **how: Any,
) -> Trace:
    launch = Launch(grid, (32, 1, 1), arguments, cluster=cluster)
    trace: Trace = both.run_on_both(kernel, launch, **how)
    return trace


REQUEST = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
QUERY = "clusterlaunchcontrol.query_cancel"


@pytest.mark.parametrize(
    ("cluster", "multicast"),
    [(None, ""), ((4, 1, 1), ".multicast::cluster::all"), (ONE, ".multicast::cluster::all")],
)
def test_requests_are_declined(compile_ptx: Compile, cluster: Sizes, multicast: str) -> None:
    """The persistent kernel of the manual: one thread of a cluster asks, all wait.

    None goes on with another tile. The old answer, all ones, is gone everywhere.
    """
    is_first = "setp.eq.u32 %p1, %r1, 0;"
    if multicast:
        is_first += "mov.u32 %r8, %cluster_ctarank; setp.eq.and.u32 %p3, %r8, 0, %p1;"
    asks = "%p3" if multicast else "%p1"
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if cluster else ""
    body = f"""{OUT} {SHARED} {is_first} mov.u64 %rd4, -1;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    @%p1 st.shared.v2.u64 [tile], {{%rd4, %rd4}};
    bar.sync 0; {meet}
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
    bar.sync 0; {meet}
    @{asks} {REQUEST}{multicast}.b128 [tile], [bar];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;
    ld.shared.b128 %q0, [tile];
    {QUERY}.is_canceled.pred.b128 %p2, %q0;
    selp.u32 %r4, 1, 2, %p2;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r4;
    {meet} ret;"""
    out = np.zeros((4, 32), np.uint32)
    run(compile_ptx(body), out, grid=(4, 1, 1), cluster=cluster, same_trace=False)
    assert (out == 2).all()


def test_coordinates_come_out_of_an_answer(compile_ptx: Compile) -> None:
    """Made by hand, since requests are declined: all of them, and one by one."""
    body = f"""{OUT} mov.u64 %rd2, 0x0000000700000001; mov.u64 %rd3, 0x0000000900000008;
    mov.b128 %q0, {{%rd2, %rd3}};
    {QUERY}.get_first_ctaid.v4.b32.b128 {{%r4, %r5, %r6, _}}, %q0;
    {QUERY}.is_canceled.pred.b128 %p1, %q0; selp.u32 %r10, 1, 0, %p1;
    {QUERY}.get_first_ctaid::x.b32.b128 %r7, %q0; {QUERY}.get_first_ctaid::y.b32.b128 %r8, %q0;
    {QUERY}.get_first_ctaid::z.b32.b128 %r9, %q0;
    st.global.v4.u32 [%rd1], {{%r4, %r5, %r6, %r10}};
    st.global.v2.u32 [%rd1+16], {{%r7, %r8}}; st.global.u32 [%rd1+24], %r9; ret;"""
    out = np.zeros(7, np.uint32)
    run(compile_ptx(body), out)
    assert out.tolist() == [7, 8, 9, 1, 7, 8, 9]


@pytest.mark.drawn(8)
@pytest.mark.parametrize("size", [0, 8, 64, 1000])
@pytest.mark.parametrize("way", ["immediate", "register", "generic", "guarded"])
def test_bulk_stores_are_zeros(compile_ptx: Compile, size: int, way: str) -> None:
    store = {
        "immediate": f"st.bulk.weak.shared::cta [%r5+16], {size}, 0;",
        "register": "st.bulk.shared::cta [%r5+16], %rd5, 0;",
        "generic": "cvta.shared::cta.u64 %rd6, %rd6; st.bulk [%rd6+16], %rd5, 0;",
        "guarded": "setp.eq.u32 %p1, %r1, 3; @%p1 st.bulk.shared::cta [%rd6+16], %rd5, 0;",
    }[way]
    body = f"""{OUT} .shared .align 16 .b8 tile[1056]; mov.u32 %r5, tile; cvt.u64.u32 %rd6, %r5;
    mov.u64 %rd5, {size}; mov.u32 %r6, %r1;
FILL:
    shl.b32 %r7, %r6, 2; add.u32 %r8, %r5, %r7; st.shared.u32 [%r8], -1;
    add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, 264; @%p2 bra FILL;
    bar.sync 0; {store} bar.sync 0; mov.u32 %r6, %r1;
COPY:
    shl.b32 %r7, %r6, 2; add.u32 %r8, %r5, %r7; ld.shared.u32 %r9, [%r8];
    cvt.u64.u32 %rd7, %r7; add.u64 %rd7, %rd1, %rd7; st.global.u32 [%rd7], %r9;
    add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, 264; @%p2 bra COPY;
    ret;"""
    out, expected = np.zeros(264, np.uint32), np.full(264, (1 << 32) - 1, np.uint32)
    expected[4 : 4 + size // 4] = 0
    trace = run(compile_ptx(body), out)
    np.testing.assert_array_equal(out, expected)
    counted = [row for row in trace.instructions if not row.is_part]
    assert sum(row.mnemonic.startswith("st.bulk") for row in counted) == 1


def test_registers_that_only_moves_read(compile_ptx: Compile) -> None:
    names = ["%tid.w", "%ntid.w", "%ctaid.w", "%nctaid.w", "%clusterid.w", "%envreg0", "%envreg31"]
    names += ["%pm0", "%pm7", "%reserved_smem_offset_begin", "%reserved_smem_offset_cap"]
    body = f"""{OUT} .shared .b8 tile[96]; mov.u32 %r4, tile; mov.u32 %r5, %aggr_smem_size;
    st.global.u32 [%rd1], %r5; mov.pred %p1, %is_explicit_cluster; selp.u32 %r5, 1, 0, %p1;
    st.global.u32 [%rd1+4], %r5; mov.u64 %rd3, %current_graph_exec; st.global.u64 [%rd1+8], %rd3;
    mov.u64 %rd3, %pm3_64; st.global.u64 [%rd1+16], %rd3;"""
    for number, name in enumerate(names):
        body += f"mov.b32 %r4, {name}; st.global.u32 [%rd1+{24 + 4 * number}], %r4;"
    for cluster in (None, (2, 1, 1)):
        out = np.full(6 + len(names), 5, np.uint32)
        run(compile_ptx(f"{body} ret;"), out, grid=(2, 1, 1), cluster=cluster)
        assert out.tolist() == [96, cluster is not None, *([0] * (4 + len(names)))]


@pytest.mark.parametrize(
    ("low", "high", "whole"),
    [("%globaltimer_lo", "%globaltimer_hi", "%globaltimer"), ("%clock", "%clock_hi", "%clock64")],
)
def test_halves_of_clocks(compile_ptx: Compile, low: str, high: str, whole: str) -> None:
    """Read between two readings of the whole, they lie between these."""
    body = f"""{OUT} mov.u64 %rd2, {whole}; mov.u32 %r4, {low}; mov.u32 %r5, {high};
    mov.b64 %rd3, {{%r4, %r5}}; mov.u64 %rd4, {whole};
    st.global.v2.u64 [%rd1], {{%rd2, %rd3}}; st.global.u64 [%rd1+16], %rd4; ret;"""
    for engine in ("reference", "jit"):
        before, between, after = _run_one(compile_ptx(body), engine)
        assert before <= between <= after


def _run_one(kernel: Kernel, engine: str) -> list[int]:
    from kernelcast.simcore.engine import execute

    out = np.zeros(3, np.uint64)
    execute(kernel, Launch(ONE, ONE, (out,)), warp_width=32, engine=engine)
    return [int(value) for value in out]


@pytest.mark.parametrize("cluster", [ONE, (2, 1, 1), (4, 1, 1)])
def test_whose_shared_memory_an_address_is_in(compile_ptx: Compile, cluster: Sizes) -> None:
    """The cluster's, and the thread block's own: by address of each rank, and of global memory."""
    body = f"""{OUT} {SHARED} mov.u32 %r4, tile; cvt.u64.u32 %rd3, %r4;
    cvta.shared::cluster.u64 %rd3, %rd3; mapa.u64 %rd4, %rd3, 0;
    cvta.to.shared::cluster.u64 %rd5, %rd4; cvt.u32.u64 %r9, %rd5;
    st.shared.u32 [tile], %r1; bar.sync 0; ld.shared::cluster.u32 %r9, [%r9];
    isspacep.shared::cluster %p1, %rd4; isspacep.shared::cta %p2, %rd4;
    isspacep.shared::cta %p3, %rd3; selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2;
    or.b32 %r5, %r5, %r6; selp.u32 %r6, 4, 0, %p3; or.b32 %r5, %r5, %r6;
    isspacep.shared::cluster %p1, %rd1; isspacep.shared::cta %p2, %rd1;
    selp.u32 %r6, 8, 0, %p1; or.b32 %r5, %r5, %r6; selp.u32 %r6, 16, 0, %p2;
    or.b32 %r5, %r5, %r6; shl.b32 %r9, %r9, 8; or.b32 %r5, %r5, %r9;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r5;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret;"""
    out = np.zeros((4, 32), np.uint32)
    run(compile_ptx(body), out, grid=(4, 1, 1), cluster=cluster)
    last = 31 << 8
    for rank, row in enumerate(out):
        assert (row == 5 + 2 * (rank % cluster[0] == 0) + last).all()


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("st.bulk.shared::cta [tile], 60, 0;", "takes a multiple of 8 bytes"),
        ("st.bulk.shared::cta [tile], 64, 1;", "stores nothing but 0"),
        ("st.bulk.global [%rd1], 64, 0;", "is not supported"),
        (f"{QUERY}.get_first_ctaid::w.b32.b128 %r4, %q0;", "is not supported"),
        (f"{QUERY}.is_canceled.pred.b128 %p1, %rd1;", "takes a register of 128 bits here"),
        (f"{REQUEST}.b64 [tile], [bar];", "is not supported"),
        ("mov.u64 %rd1, %clock_hi;", "'%clock_hi' is 32 bits wide"),
        ("mov.u32 %r4, %current_graph_exec;", "is 64 bits wide"),
        ("mov.u32 %r4, %pm9;", "special register '%pm9' is not supported"),
        ("add.u32 %r4, %clock_hi, 1;", "special register '%clock_hi' is not supported here"),
    ],
)
def test_what_ptx_lacks_is_refused(compile_ptx: Compile, statement: str, reason: str) -> None:
    with pytest.raises(KernelcastError, match=reason):
        compile_ptx(f"{OUT} {SHARED} {statement} ret;")
