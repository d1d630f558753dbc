"""Compilers address shared memory backwards: a negative base plus a positive offset."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.traces.trace import Trace


def test_shared_addresses_wrap_at_32_bits(run_ptx: Callable[..., Trace]) -> None:
    out = np.zeros(32, np.uint32)
    body = """
    .shared .align 4 .b8 tile[128];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1; bar.sync 0;
    add.s32 %r5, %r4, -128; ld.shared.u32 %r6, [%r5+128];
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6; ret;"""
    run_ptx(body, "u64 out", [out])
    np.testing.assert_array_equal(out, np.arange(32))
