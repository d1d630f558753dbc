"""Lanes that wait in a loop of several basic blocks, of which few look at memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits

Compile = Callable[..., Kernel]


def waiting(label: str, flag: str) -> str:
    """Waits like libcu++: sixteen quick looks, then pauses that grow with the time."""
    return f"""mov.u32 %r5, 0; mov.u64 %rd5, %globaltimer;
    {label}: ld.acquire.cta.shared.u32 %r6, [{flag}];
    setp.ne.u32 %p2, %r6, 0; @%p2 bra {label}_OVER;
    setp.lt.u32 %p3, %r5, 16; @!%p3 bra {label}_LONG;
    add.u32 %r5, %r5, 1; bra.uni {label};
    {label}_LONG: mov.u64 %rd6, %globaltimer; sub.u64 %rd6, %rd6, %rd5;
    setp.lt.u64 %p4, %rd6, 40000; @%p4 bra {label};
    cvt.u32.u64 %r7, %rd6; nanosleep.u32 %r7; bra.uni {label};
    {label}_OVER: """


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("first", ["lt", "ge"])
def test_warps_that_wait_for_each_other(compile_ptx: Compile, first: str, engine: str) -> None:
    """Whichever warp's code comes first in the file, the other one has its turn."""
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
    setp.{first}.u32 %p1, %r1, 32; @%p1 bra OTHER;
    {waiting("ONE", "flags")} st.release.cta.shared.u32 [flags+4], 1; bra.uni END;
    OTHER: st.release.cta.shared.u32 [flags], 1; {waiting("TWO", "flags+4")}
    END: mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6; ret;"""
    clear = "mov.u32 %r9, 0; st.shared.u32 [flags], %r9; st.shared.u32 [flags+4], %r9; bar.sync 0;"
    kernel = compile_ptx(clear + body, "u64 out", ".shared .align 8 .b32 flags[2];")
    out = np.zeros(64, np.uint32)
    launch = Launch((1, 1, 1), (64, 1, 1), (out,))
    execute(kernel, launch, engine=engine, limits=Limits(600.0, 1 << 16))
    assert (out == 1).all()
