"""Branches that lead round a barrier, and those that only seem to."""

from __future__ import annotations

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import BarrierError

_REMAINDER = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry two_at_a_time(.param .u64 out, .param .u32 rounds)
{
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>; .shared .align 4 .b8 part[256];
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [rounds]; mov.u32 %r2, %tid.x; mov.u32 %r3, part;
    mad.lo.u32 %r4, %r2, 4, %r3; xor.b32 %r5, %r2, 63; mad.lo.u32 %r5, %r5, 4, %r3;
    mov.u32 %r6, %r2; and.b32 %r7, %r1, 1; sub.u32 %r8, %r1, %r7; setp.eq.u32 %p1, %r8, 0;
    @%p1 bra REST;
LOOP:
    st.shared.u32 [%r4], %r6; bar.sync 0; ld.shared.u32 %r6, [%r5]; bar.sync 0;
    st.shared.u32 [%r4], %r6; bar.sync 0; ld.shared.u32 %r6, [%r5]; bar.sync 0;
    sub.u32 %r8, %r8, 2; setp.ne.u32 %p2, %r8, 0; @%p2 bra LOOP;
REST:
    setp.eq.u32 %p3, %r7, 0;
    @%p3 bra END;
    st.shared.u32 [%r4], %r6; bar.sync 0; ld.shared.u32 %r6, [%r5]; bar.sync 0;
END:
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r6; ret;
}
"""


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_the_remainder_of_an_unrolled_loop_is_no_way_round_its_barriers(rounds: int) -> None:
    """What nvcc makes of a tiled loop: all threads skip the remainder, or none does."""
    out = np.zeros(64, np.uint32)
    kernel = kc.load_ptx(_REMAINDER)["two_at_a_time"]
    trace = kernel.run(grid=1, block=64, args=[out, rounds], engine="jit")
    assert trace.data.engine == "jit"
    assert out.tolist() == [i ^ 63 if rounds % 2 else i for i in range(64)]


def test_a_branch_of_some_threads_before_a_remainder_is_a_way_round() -> None:
    """A branch that depends on the thread leaves the barrier out in some."""
    text = _REMAINDER.replace("setp.eq.u32 %p3, %r7, 0", "setp.lt.u32 %p3, %r2, 32")
    kernel = kc.load_ptx(text)["two_at_a_time"]
    for engine in ("jit", "reference"):
        with pytest.raises(BarrierError, match="went round it"):
            kernel.run(grid=1, block=64, args=[np.zeros(64, np.uint32), 1], engine=engine)
