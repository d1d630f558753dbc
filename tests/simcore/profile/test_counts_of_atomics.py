"""Atomics of machine code are neither loads nor stores under a profiler's names."""

from __future__ import annotations

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.inputs.native.tools import toolset
from kernelcast.simcore.profile.metric_names import Naming, metrics

ATOMICS = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 sums) {
    .reg .u32 %r<8>; .reg .u64 %rd<8>;
    .shared .align 4 .b8 own[128];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [sums];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r2, own;
    and.b32 %r3, %r1, 31;
    shl.b32 %r3, %r3, 2;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    atom.shared.max.u32 %r4, [%r2], %r1;
    st.global.u32 [%rd4], %r4;
    red.global.add.u32 [%rd5], %r1;
    ret;
}
"""
WARPS = 4
SECTORS = 4
"""What the 128 bytes of a warp lie in."""
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"


@pytest.mark.skipif(toolset(90) is None, reason="no assembler; CI has it")
def test_atomics_are_neither_loads_nor_stores() -> None:
    out, sums = np.zeros((2, 32 * WARPS), np.uint32)
    trace = kc.load_ptx(ATOMICS)["k"].run(
        grid=1, block=32 * WARPS, args=[out, sums], devices=["h100-sxm"], code="native"
    )
    found = {item.name: item.value for item in metrics(trace.profile("h100-sxm"), Naming.NCU)}
    assert found["smsp__inst_executed_op_shared_st.sum"] == found[SHARED.format("st")] == WARPS
    assert found["smsp__inst_executed_op_shared_ld.sum"] == found[SHARED.format("ld")] == 0
    for where in ("", "srcunit_tex_"):
        assert found[f"lts__t_sectors_{where}op_write.sum"] == WARPS * SECTORS
        assert found[f"lts__t_sectors_{where}op_read.sum"] == 0
    assert found["launch__registers_per_thread"] == 16
