"""Clusters as machine code: their barrier, and addresses in memory of other thread blocks."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.analysis.cluster_addresses import needs_clusters
from kernelcast.simcore.isa.ir.kernel import BarrierSync
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs


def _kernel_text(body: str, architecture: str) -> str:
    return f""".version 8.8
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u32 shift) {{
.reg .b64 %out, %at, %g<3>; .reg .b32 %t, %rank, %next, %tile, %there;
.reg .b32 %x, %y, %shift; .reg .pred %p<4>;
.shared .align 16 .b32 tile[64];
ld.param.u64 %out, [p0]; ld.param.u32 %shift, [shift]; mov.u32 %t, %tid.x; mov.u32 %tile, tile;
mad.lo.u32 %tile, %t, 4, %tile; mov.u32 %x, %ctaid.x; mad.lo.u32 %x, %x, 32, %t;
mul.wide.u32 %at, %x, 32; add.u64 %out, %out, %at;
{body}
ret;
}}
"""


_NEIGHBOURS = """mov.u32 %rank, %cluster_ctarank; mad.lo.u32 %x, %rank, 1000, %t;
st.shared.b32 [%tile], %x; st.shared.b32 [%tile+128], 0;
barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
add.u32 %next, %rank, %shift; and.b32 %next, %next, 3;
mapa.shared::cluster.u32 %there, %tile, %next;
ld.shared::cluster.b32 %y, [%there]; st.global.b32 [%out], %y;
atom.shared::cluster.add.u32 %y, [%there+128], %x;
st.shared::cluster.b32 [%there+64], %x;
cvta.shared.u64 %g0, 0; cvt.u64.u32 %g1, %tile; cvta.shared.u64 %g1, %g1;
mapa.u64 %g2, %g1, %next; ld.b32 %y, [%g2]; st.global.b32 [%out+4], %y;
getctarank.shared::cluster.u32 %y, %there; st.global.b32 [%out+8], %y;
getctarank.u64 %y, %g2; st.global.b32 [%out+12], %y;
getctarank.u64 %y, %g1; st.global.b32 [%out+16], %y;
isspacep.shared::cta %p1, %g2; selp.b32 %y, 1, 2, %p1; st.global.b32 [%out+20], %y;
barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.b32 %y, [%tile+128]; st.global.b32 [%out+24], %y;
mov.u32 %x, %cluster_nctarank; mov.u32 %y, %clusterid.x; mad.lo.u32 %x, %x, 100, %y;
st.global.b32 [%out+28], %x;"""


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ["sm_90a", "sm_100a", "sm_120a"])
def test_neighbours_in_a_cluster(architecture: str) -> None:
    """Loads, stores and atomics there, ranks of addresses, own ones as well."""
    text = _kernel_text(_NEIGHBOURS.replace("cvta.shared.u64 %g0, 0; ", ""), architecture)
    arguments = (np.zeros(8 * 8 * 32, np.uint32), np.uint32(1))
    launch = Launch((8, 1, 1), (32, 1, 1), arguments, cluster=(4, 1, 1))
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[0]
    rows = wanted.reshape(8, 32, 8)
    assert rows[:4, 3, 0].tolist() == [1003, 2003, 3003, 3]
    assert rows[:4, 0, 2].tolist() == rows[:4, 0, 3].tolist() == [1, 2, 3, 0]
    kernel = machine_kernel(text, architecture)
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)


def test_addresses_of_the_own_thread_block_name_none() -> None:
    """A kernel without clusters needs none, though its machine code asks for the rank."""
    body = """st.shared.b32 [%tile], %t; bar.sync 0; ld.shared.b32 %y, [%tile];
st.global.b32 [%out], %y;"""
    kernel = machine_kernel(_kernel_text(body, "sm_90a"), "sm_90a")
    assert not needs_clusters(kernel)


def test_bytes_that_are_put_together_are_no_addresses() -> None:
    """`PRMT a, 0x654, b` is what makes an address in another thread block."""
    body = """and.b32 %x, %x, 0xFFFFFF; shl.b32 %y, %t, 24; or.b32 %y, %x, %y;
st.shared.b32 [%tile], %y; ld.shared.b32 %y, [%tile]; st.global.b32 [%out], %y;
prmt.b32 %y, %shift, %y, 0x0654; st.global.b32 [%out+4], %y;"""
    text = _kernel_text(body, "sm_90a")
    arguments = (np.zeros(8 * 32, np.uint32), np.uint32(0x1234))
    launch = Launch((1, 1, 1), (32, 1, 1), arguments)
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[0]
    kernel = machine_kernel(text, "sm_90a")
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)


def test_the_other_barrier_is_not_reached() -> None:
    """The assembler puts a barrier of the thread block beside each one of the cluster."""
    body = "barrier.cluster.arrive; barrier.cluster.wait; st.global.b32 [%out], %t;"
    kernel = machine_kernel(_kernel_text(body, "sm_90a"), "sm_90a")
    ends = [block.terminator for block in kernel.blocks]
    assert [end.is_cluster for end in ends if isinstance(end, BarrierSync)] == [True]
    assert [block.index for block in kernel.blocks] == list(range(len(kernel.blocks)))
