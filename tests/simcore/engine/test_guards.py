"""Instructions under guards on every engine: lanes that count, and registers that others keep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


def _lanes(trace: Trace, prefix: str) -> list[int]:
    _, lanes = trace.classes.totals()
    return [int(lanes[row.pc]) for row in trace.instructions if row.mnemonic.startswith(prefix)]


def test_a_guard_that_is_written_again_counts_anew(run_ptx: Run) -> None:
    """Instructions with one guard share its lanes until the predicate is another one."""
    out = np.zeros(64, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2; mov.u32 %r5, 0;
    setp.lt.u32 %p1, %r1, 10;
    @%p1 add.u32 %r5, %r5, 1;
    @!%p1 sub.u32 %r5, %r5, 2;
    @%p1 mul.lo.u32 %r5, %r5, 3;
    setp.lt.u32 %p1, %r1, 40;
    @%p1 xor.b32 %r5, %r5, 8;
    @!%p1 or.b32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
    ret;
    """
    trace = run_ptx(body, "u64 out", [out], block=(64, 1, 1))
    lane = np.arange(64)
    expected = np.where(lane < 10, 3, -2)
    expected = np.where(lane < 40, expected ^ 8, expected | 1)
    assert np.array_equal(out, expected.astype(np.uint32))
    names = ("add.u32", "sub.u32", "mul.lo", "xor", "or.b32")
    assert [_lanes(trace, name) for name in names] == [[10], [54], [10], [40], [24]]


def test_an_address_under_the_guard_of_its_access(run_ptx: Run) -> None:
    """What other lanes would compute matters to nobody, wherever it would lead."""
    data, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [out];
    setp.lt.u32 %p1, %r1, 21; mov.u32 %r5, 7; mul.wide.u32 %rd4, %r1, 4;
    @%p1 mul.wide.u32 %rd5, %r1, 12;
    @%p1 add.s64 %rd6, %rd1, %rd5;
    @%p1 ld.global.u32 %r5, [%rd6];
    add.s64 %rd7, %rd2, %rd4; st.global.u32 [%rd7], %r5;
    ret;
    """
    run_ptx(body, "u64 data, u64 out", [data, out], block=(64, 1, 1))
    lane = np.arange(64)
    assert np.array_equal(out, np.where(lane < 21, 3 * lane, 7))
