"""Exchanges and comparisons of 128 bits, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError, UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]
Compile = Callable[..., Kernel]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


START = """.reg .b128 %q<4>; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1; ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [out];
    mul.wide.u32 %rd3, %r1, 16; add.u64 %rd2, %rd2, %rd3;"""


@pytest.mark.parametrize("space", ["", ".relaxed.gpu.global"])
def test_every_value_is_given_back_once(run_ptx: Run, space: str) -> None:
    """Each thread leaves its number in both halves and takes what was there."""
    body = f"""{START} cvt.u64.u32 %rd4, %r1; add.u64 %rd4, %rd4, 1; mov.b128 %q1, {{%rd4, %rd4}};
    atom{space}.exch.b128 %q2, [%rd1], %q1; mov.b128 {{%rd5, %rd6}}, %q2;
    st.global.v2.u64 [%rd2], {{%rd5, %rd6}}; ret;"""
    data, out = np.zeros(2, np.uint64), np.zeros((160, 2), np.uint64)
    arguments = [data, out]
    run_ptx(body, "u64 data, u64 out", arguments, grid=2, block=80)
    assert (out[:, 0] == out[:, 1]).all()
    assert data[0] == data[1]
    assert sorted([*out[:, 0].tolist(), int(data[0])]) == list(range(161))


def test_a_counter_that_is_compared_and_swapped(run_ptx: Run) -> None:
    """A loop adds 1 to the low and 3 to the high half; nobody's step is lost."""
    body = f"""{START} ld.global.v2.u64 {{%rd4, %rd5}}, [%rd1];
    AGAIN: add.u64 %rd6, %rd4, 1; add.u64 %rd7, %rd5, 3; mov.b128 %q1, {{%rd4, %rd5}};
    mov.b128 %q2, {{%rd6, %rd7}}; atom.global.cas.b128 %q3, [%rd1], %q1, %q2;
    mov.b128 {{%rd8, %rd9}}, %q3; setp.ne.u64 %p1, %rd8, %rd4; mov.u64 %rd4, %rd8;
    mov.u64 %rd5, %rd9; @%p1 bra AGAIN; st.global.v2.u64 [%rd2], {{%rd6, %rd7}}; ret;"""
    data, out = np.array([5, 7], np.uint64), np.zeros((64, 2), np.uint64)
    run_ptx(body, "u64 data, u64 out", [data, out], block=64)
    assert data.tolist() == [69, 199]
    assert sorted(out[:, 0].tolist()) == list(range(6, 70))


def test_a_difference_in_one_half_keeps_all(run_ptx: Run) -> None:
    """A difference in one half keeps all; lanes that the guard leaves out touch nothing."""
    body = f"""{START} setp.eq.u32 %p1, %r1, 1; mov.u64 %rd4, 1; mov.u64 %rd5, 2; mov.u64 %rd6, 9;
    mov.b128 %q1, {{%rd4, %rd6}}; mov.b128 %q2, {{%rd6, %rd6}}; mov.b128 %q3, {{%rd4, %rd4}};
    @%p1 atom.shared::cta.cas.b128 %q3, [tile], %q1, %q2;
    @%p1 atom.global.cas.b128 %q3, [%rd1], %q1, %q2;
    mov.b128 {{%rd7, %rd8}}, %q3; st.global.v2.u64 [%rd2], {{%rd7, %rd8}}; ret;"""
    data, out = np.array([1, 2], np.uint64), np.zeros((3, 2), np.uint64)
    module = ".shared .align 16 .b8 tile[16];"
    run_ptx(body, "u64 data, u64 out", [data, out], block=3, module=module)
    assert data.tolist() == [1, 2]
    assert out.tolist() == [[1, 1], [1, 2], [1, 1]]


def test_addresses_are_checked(run_ptx: Run) -> None:
    body = f"""{START} mov.u64 %rd4, 1; mov.b128 %q1, {{%rd4, %rd4}};
    atom.exch.b128 %q2, [%rd1+8], %q1; ret;"""
    arguments = [np.zeros(4, np.uint64), np.zeros(64, np.uint64)]
    with pytest.raises(MemoryAccessError, match="align"):
        run_ptx(body, "u64 data, u64 out", arguments, block=32)


def test_other_operations_are_refused(compile_ptx: Compile) -> None:
    with pytest.raises(UnsupportedInstruction, match="b128"):
        compile_ptx(".reg .b128 %q<4>; atom.add.b128 %q1, [%rd1], %q2; ret;")
