"""Barriers of convergence and exits are issued for each group of lanes that comes to them."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel
from tests.simcore.trace_comparison import run_on_both

LOOP = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 trips) {
    .reg .u32 %r<8>; .reg .u64 %rd<8>; .reg .pred %p<3>; .reg .f32 %f<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [trips];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd5];
    mov.f32 %f1, 0f3F800000;
again:
    .pragma "nounroll";
    sin.approx.f32 %f1, %f1;
    sub.u32 %r2, %r2, 1;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra again;
    st.global.f32 [%rd4], %f1;
    ret;
}
"""
TRIPS = np.array([1, 1, 2, 5, 5, 5, 5, 9] * 4 + [3] * 32, np.uint32)
GROUPS = 4 + 1
"""Different numbers of trips of each warp."""


def issues(trace: Trace, opcode: str) -> int:
    counted = trace.classes.group_issues()
    rows = trace.instructions
    return sum(int(counted[r.pc]) for r in rows if r.mnemonic == opcode and not r.is_part)


def launch() -> Launch:
    return Launch((3, 1, 1), (64, 1, 1), (np.zeros(64, np.float32), TRIPS.copy()))


@pytest.mark.parametrize("engine", ENGINES)
def test_each_group_of_lanes_comes_to_the_barrier_behind_a_loop(engine: str) -> None:
    kernel = machine_kernel(LOOP, "sm_90")
    trace = execute(kernel, launch(), engine=engine)
    assert issues(trace, "BSYNC") == 3 * GROUPS
    assert issues(trace, "STG.E") == issues(trace, "EXIT") == 3 * 2
    issued, _ = trace.classes.totals()
    assert {int(issued[r.pc]) for r in trace.instructions if r.mnemonic == "BSYNC"} == {3 * 2}


def test_engines_count_the_same_groups() -> None:
    trace = run_on_both(machine_kernel(LOOP, "sm_90"), launch())
    assert trace.classes.later_arrivals is not None
