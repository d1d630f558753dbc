"""Kernels start with code that is compiled quickly, and change to better code as they run.

That of large kernels is not optimized at all.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.runtime import job
from kernelcast.simcore.engine.jit.runtime import run as jit_run
from kernelcast.simcore.host import llvm
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits

COUNT_DOWN = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry count_down(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %d<3>;
    .reg .pred %p;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, 20000;
    mov.u32 %r4, 0;
TURN:
    mad.lo.u32 %r4, %r4, 5, %r3;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p, %r3, 0;
    @%p bra TURN;
    ld.param.u64 %d1, [out];
    mad.lo.u32 %r2, %r2, 32, %r1;
    mul.wide.u32 %d2, %r2, 4;
    add.s64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r4;
    ret;
}
"""
BLOCKS = 3000
_FAR_S = 600.0


def kernel(further: int = 0) -> Kernel:
    """More steps behind the loop make other code, which no test before is still compiling."""
    steps = "add.u32 %r4, %r4, 1; sub.u32 %r4, %r4, 1;\n" * further
    text = COUNT_DOWN.replace("    ld.param.u64 %d1", f"{steps}    ld.param.u64 %d1")
    return read_ptx(text, "count_down.ptx").kernels["count_down"]


def expected() -> int:
    value = 0
    for step in range(20000, 0, -1):
        value = (5 * value + step) % 2**32
    return value


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> list[int]:
    """The optimization levels that are asked for, with an empty cache."""
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path))
    levels: list[int] = []
    original = llvm.compile_module

    def noted(ir: str, optimization: int) -> object:
        levels.append(optimization)
        return original(ir, optimization)

    monkeypatch.setattr(jit_run, "compile_module", noted)
    monkeypatch.setattr(jit_run, "QUICK", llvm.QUICK)  # make test-all starts with better code
    return levels


def run(code: Kernel) -> None:
    out = np.zeros(BLOCKS * 32, np.uint32)
    launch = Launch((BLOCKS, 1, 1), (32, 1, 1), (out,))
    trace = execute(code, launch, engine="jit", limits=Limits(None, None))
    assert (out == expected()).all()
    turns = next(row.pc for row in trace.instructions if row.mnemonic.startswith("mad"))
    assert trace.classes.totals()[0][turns] == 20000 * BLOCKS


@pytest.mark.parametrize(("large", "first"), [(0, 0), (1 << 40, llvm.QUICK)])
def test_kernels_improve_while_they_run(
    large: int, first: int, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit_run, "LARGE_IR", large)
    monkeypatch.setattr(jit_run, "_OPTIMIZING_S_PER_CHARACTER", 0.0)
    code = kernel(3 + first)
    # on a busy machine a run may end before anybody has looked how long it takes
    until = time.monotonic() + _FAR_S
    while len(compiled) < 2 and time.monotonic() < until:
        run(code)
    assert compiled == [first, 2]
    run(code)  # the same program, improved by now
    assert compiled == [first, 2]


def test_better_code_than_the_quick_one_takes_longer_runs(
    compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not optimized, the same runs are worth it."""
    monkeypatch.setattr(jit_run, "_QUICK_LASTS", 1e12)
    monkeypatch.setattr(jit_run, "_OPTIMIZING_S_PER_CHARACTER", 1e-9)
    code = kernel(5)
    run(code)
    run(code)
    assert compiled == [llvm.QUICK]


def test_short_runs_of_large_kernels_compile_once(
    compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit_run, "LARGE_IR", 0)
    monkeypatch.setattr(jit_run, "_OPTIMIZING_S_PER_CHARACTER", 1.0)
    run(kernel(1))
    assert compiled == [0]


def test_runs_that_wait_for_a_processor_are_not_long(
    compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock under load says a thousand times what the run took."""
    clock = SimpleNamespace(
        monotonic=lambda: 1000 * time.monotonic(),
        process_time=time.process_time,
        sleep=time.sleep,
    )
    monkeypatch.setattr(job, "time", clock)
    monkeypatch.setattr(jit_run, "LARGE_IR", 0)
    monkeypatch.setattr(jit_run, "_OPTIMIZING_S_PER_CHARACTER", 1e-3)
    run(kernel(2))
    assert compiled == [0]


def test_what_an_earlier_process_optimized_is_taken_at_once(
    compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit_run, "QUICK", 2)
    monkeypatch.setattr(jit_run, "_OPTIMIZING_S_PER_CHARACTER", 1.0)
    run(kernel())
    monkeypatch.setattr(jit_run, "LARGE_IR", 0)
    run(kernel())
    assert compiled == [2, 2]
