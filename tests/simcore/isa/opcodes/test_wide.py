"""Registers of 128 bits: loaded, stored, put together and taken apart, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]
ADDRESS = """.reg .b128 %q<3>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 16; add.s64 %rd1, %rd1, %rd2; ld.global.b128 %q0, [%rd1];"""


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


def _words() -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return np.random.default_rng(1).integers(0, 1 << 63, (32, 2), np.uint64)


def test_halves_are_exchanged(run_ptx: Run) -> None:
    body = f"""{ADDRESS} mov.b128 %q1, %q0; mov.b128 {{%rd3, %rd4}}, %q1;
    mov.b128 %q2, {{%rd4, %rd3}}; st.global.b128 [%rd1], %q2; ret;"""
    words = _words()
    before = words.copy()
    trace = run_ptx(body, "u64 out", [words])
    assert (words == before[:, ::-1]).all()
    accesses = [row for row in trace.instructions if row.space == "global"]
    assert [row.access_bytes for row in accesses] == [16, 16]


def test_one_half_may_be_left_out(run_ptx: Run) -> None:
    body = f"{ADDRESS} mov.b128 {{_, %rd4}}, %q0; st.global.b64 [%rd1], %rd4; ret;"
    words = _words()
    run_ptx(body, "u64 out", [words])
    assert (words[:, 0] == words[:, 1]).all()


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("ld.global.b128 %rd3, [%rd1];", "takes a register of 128 bits here"),
        ("ld.global.v2.b128 {%q0, %q1}, [%rd1];", "modifier '.b128'"),
        ("add.u64 %rd3, %rd3, %q0;", "'%q0' is 128 bits wide"),
        ("atom.global.add.b128 %q0, [%rd1], %q1;", "'atom.global.add.b128' is not supported"),
    ],
)
def test_other_uses_are_refused(run_ptx: Run, statement: str, reason: str) -> None:
    with pytest.raises(KernelcastError, match=reason):
        run_ptx(f"{ADDRESS} {statement} ret;", "u64 out", [_words()])
