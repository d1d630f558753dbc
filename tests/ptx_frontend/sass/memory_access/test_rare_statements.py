"""Fills, loads of all devices, requests for work of a cluster, and calls of the driver."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs

_WORDS = 12
"""What each thread has of the buffer."""


def _text(body: str, architecture: str) -> str:
    return f""".version 8.8
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 n) {{
.reg .b64 %out, %in, %x<8>; .reg .b32 %t, %n, %y, %tile, %bar, %there, %r<8>; .reg .pred %p<4>;
.reg .b128 %q;
.shared .align 16 .b32 tile[128]; .shared .align 8 .b64 bar;
ld.param.u64 %out, [p0]; ld.param.u64 %in, [p1]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;
mov.u32 %tile, tile; mov.u32 %bar, bar; mov.u32 %y, %ctaid.x; mad.lo.u32 %y, %y, 32, %t;
mul.wide.u32 %x0, %y, {4 * _WORDS}; add.u64 %out, %out, %x0; mad.lo.u32 %y, %t, 16, %tile;
setp.eq.u32 %p0, %t, 0; mul.wide.u32 %x0, %t, 16; add.u64 %in, %in, %x0;
{body}
ret;
}}
"""


def _compare(body: str, architecture: str, n: int, blocks: int = 1) -> np.ndarray:
    """What the PTX leaves, after a comparison with the machine code on both engines."""
    text = _text(body, architecture)
    given = np.random.default_rng(3).integers(0, 1 << 30, 128).astype(np.uint32)
    arguments = (np.zeros((blocks, 32, _WORDS), np.uint32), given, np.uint32(n))
    cluster = (blocks, 1, 1) if blocks > 1 else None
    launch = Launch((blocks, 1, 1), (32, 1, 1), arguments, cluster=cluster)
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[0]
    kernel = machine_kernel(text, architecture)
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)
    return wanted


_OUT = "ld.shared.v4.b32 {%r0,%r1,%r2,%r3}, [%y]; st.global.v4.b32 [%out], {%r0,%r1,%r2,%r3};"


@pytest.mark.parametrize("architecture", ["sm_100a", "sm_120a"])
def test_zeros_in_bulk(architecture: str) -> None:
    body = f"""st.shared.v4.b32 [%y], {{7, 8, 9, %t}}; bar.sync 0; cvt.u64.u32 %x1, %n;
add.u32 %there, %tile, 8; @%p0 st.bulk.weak.shared::cta [%there], %x1, 0;
@%p0 st.bulk.shared::cta [%tile+256], 64, 0; bar.sync 0; {_OUT}"""
    wanted = _compare(body, architecture, 48)[0]
    assert wanted[:5, :4].tolist() == [[7, 8, 0, 0], [0] * 4, [0] * 4, [0, 0, 9, 3], [7, 8, 9, 4]]
    assert not wanted[16:20, :4].any()


def test_loads_of_all_devices() -> None:
    """Each is a load where there is one device."""
    body = """multimem.ld_reduce.global.add.v4.f32 {%r0,%r1,%r2,%r3}, [%in];
st.global.v4.b32 [%out], {%r0,%r1,%r2,%r3}; multimem.ld_reduce.global.min.s32 %r4, [%in+4];
st.global.b32 [%out+16], %r4; multimem.ld_reduce.global.max.u64 %x1, [%in+8];
st.global.b64 [%out+24], %x1; multimem.ld_reduce.global.add.v2.bf16x2 {%r5,%r6}, [%in];
st.global.v2.b32 [%out+32], {%r5, %r6};"""
    assert _compare(body, "sm_90a", 0).any()


def test_requests_for_work_of_a_cluster() -> None:
    """Each thread block gets the answer, and its mbarrier the bytes."""
    request = "clusterlaunchcontrol.try_cancel.async.shared::cta"
    told = "mbarrier::complete_tx::bytes.multicast::cluster::all.b128"
    body = f"""st.shared.v4.b32 [%y], {{7, 8, 9, %t}};
@%p0 mbarrier.init.shared.b64 [%bar], 1;
@%p0 mbarrier.arrive.expect_tx.shared.b64 %x2, [%bar], 16;
mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p1, %r7, 1; and.pred %p1, %p1, %p0;
barrier.cluster.arrive; barrier.cluster.wait;
@%p1 {request}.{told} [%tile], [%bar];
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%bar], 0; @!%p2 bra WAIT;
barrier.cluster.arrive; barrier.cluster.wait; {_OUT}"""
    wanted = _compare(body, "sm_100a", 0, blocks=2)
    assert not wanted[:, 0, :4].any()
    assert (wanted[:, 1:, 0] == 7).all()


@pytest.mark.parametrize("architecture", ["sm_90a", "sm_120a"])
def test_events_and_fences_between_views(architecture: str) -> None:
    """The fence keeps uniform predicates."""
    body = """setp.gt.u32 %p1, %n, 3; setp.gt.u32 %p2, %n, 5; pmevent 3; fence.proxy.alias;
@%p1 add.u32 %r0, %t, 5; @!%p1 mov.u32 %r0, 1; st.global.b32 [%out], %r0;
@%p2 bra DONE; st.global.b32 [%out+4], %n; DONE:"""
    for n in (2, 4, 6):
        assert _compare(body, architecture, n).any()


_COPY = """@%p0 mbarrier.init.shared.b64 [%bar], 1; @!%p0 bra READY;
mbarrier.arrive.expect_tx.shared.b64 %x2, [%bar], 128; mov.u32 %there, %tile; PLACE
mul.wide.u32 %x3, %t, 16; sub.u64 %x3, %in, %x3;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%there], [%x3], 128, [%bar];
READY: bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%bar], 0; @!%p2 bra WAIT;"""


def test_copies_in_bulk_that_the_driver_may_do() -> None:
    """The assembler calls the driver for places in other thread blocks only, on sm_120."""
    assert _compare(_COPY.replace("PLACE", "") + _OUT, "sm_120a", 0).any()
    body = _COPY.replace("PLACE", "mapa.shared::cluster.u32 %there, %tile, 1;")
    kernel = machine_kernel(_text(body, "sm_120a"), "sm_120a")
    arguments = (np.zeros(64 * _WORDS, np.uint32), np.zeros(128, np.uint32), np.uint32(0))
    launch = Launch((2, 1, 1), (1, 1, 1), arguments, cluster=(2, 1, 1))
    for engine in ENGINES:
        with pytest.raises(KernelcastError, match="__cuda_syscall_cp_async_bulk"):
            outputs(kernel, launch, engine)
