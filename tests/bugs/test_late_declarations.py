"""Registers that were used keep their values when more are declared after them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.traces.trace import Trace


def test_a_register_outlives_a_declaration_further_down(run_ptx: Callable[..., Trace]) -> None:
    out = np.zeros(1, np.uint32)
    run_ptx(
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, 7; .reg .b32 late, %x<3>; mov.u32 late, 5;"
        "add.u32 %x2, late, %r1; st.global.u32 [%rd1], %x2; ret;",
        "u64 out",
        [out],
        block=1,
    )
    assert out[0] == 12


def test_a_late_declaration_hides_the_register_of_the_scope_around(
    run_ptx: Callable[..., Trace],
) -> None:
    out = np.zeros(1, np.uint32)
    run_ptx(
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, 7;"
        "{ add.u32 %r2, %r1, 0; .reg .b32 %r<2>; mov.u32 %r1, 100; }"
        "add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret;",
        "u64 out",
        [out],
        block=1,
    )
    assert out[0] == 14
