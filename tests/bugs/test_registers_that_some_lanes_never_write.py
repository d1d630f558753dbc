"""A register that a lane never wrote reads 0, even if others gave it a constant."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch


def kernel_of(body: str) -> Kernel:
    text = f"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    {body}
}}
"""
    return read_ptx(text, "test.ptx").kernels["k"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", ["5", "%warpid"])
@pytest.mark.parametrize("bound", [7, 32])
def test_a_constant_of_other_lanes(engine: str, source: str, bound: int) -> None:
    kernel = kernel_of(f"""
    setp.lt.u32 %p1, %r1, {bound};
    @%p1 bra SKIP;
    mov.u32 %r6, {source};
    SKIP: st.global.u32 [%rd3], %r6;
    ret;""")
    out = np.full(64, 99, np.uint32)
    execute(kernel, Launch((1, 1, 1), (64, 1, 1), (out,)), engine=engine)
    thread = np.arange(64)
    written = thread // 32 if source == "%warpid" else 5
    np.testing.assert_array_equal(out, np.where(thread < bound, 0, written))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_atomic_on_a_read_only_array(engine: str) -> None:
    kernel = kernel_of("red.global.add.u32 [%rd3], 1; ret;")
    out = np.zeros(32, np.uint32)
    out.flags.writeable = False
    with pytest.raises(MemoryAccessError, match="read-only"):
        execute(kernel, Launch((1, 1, 1), (32, 1, 1), (out,)), engine=engine)
