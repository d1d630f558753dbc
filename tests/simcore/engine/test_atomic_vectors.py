"""Atomics on vectors of 16-bit numbers, on both engines: each element by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]
VALUES = (-3.0, 0.5, 7.0, 1.0)
"""What a thread brings by element, times its number where that is to differ."""


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


def _numbers(words: Any, type_: str) -> list[float]:
    if type_.startswith("bf16"):
        return (words.astype(np.uint32) << 16).view(np.float32).tolist()  # type: ignore[no-any-return]
    return words.view(np.float16).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("root", ["red", "atom"])
@pytest.mark.parametrize("type_", ["f16", "f16x2", "bf16", "bf16x2"])
@pytest.mark.parametrize("operation", ["add", "min", "max"])
def test_vectors_of_short_numbers(run_ptx: Run, operation: str, type_: str, root: str) -> None:
    """Threads 0 to 15 bring small multiples of four numbers: all sums are exact."""
    element = type_.removesuffix("x2")
    source, target = "{%rs1, %rs2, %rs3, %rs4}", "{%rs5, %rs6, %rs7, %rs8}"
    pack, count = "", 4
    if type_.endswith("x2"):
        pack = "mov.b32 %r4, {%rs1, %rs2}; mov.b32 %r5, {%rs3, %rs4};"
        source, target, count = "{%r4, %r5}", "{%r6, %r7}", 2
    given = f"{target}, " if root == "atom" else ""
    scaled = "\n".join(
        f"mul.f32 %f2, %f1, 0f{np.float32(x).view(np.uint32):08X}; "
        f"cvt.rn.{element}.f32 %rs{i}, %f2;"
        for i, x in enumerate(VALUES, start=1)
    )
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;
    {scaled} {pack}
    {root}.relaxed.gpu.global.{operation}.noftz.v{count}.{type_} {given}[%rd1], {source}; ret;"""
    out = np.zeros(4, np.uint16)
    run_ptx(body, "u64 out", [out], block=16)
    brought = [[x * thread for thread in range(16)] for x in VALUES]
    combine: Any = {"add": sum, "min": min, "max": max}[operation]
    assert _numbers(out, type_) == [combine([0.0, *column]) for column in brought]


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_a_nan_is_left_out(run_ptx: Run, type_: str) -> None:
    body = f"""ld.param.u64 %rd1, [out]; mov.u16 %rs1, 0x7FFF; mov.u16 %rs2, 0x3C00;
    red.global.max.noftz.v2.{type_} [%rd1], {{%rs1, %rs2}}; ret;"""
    out = np.zeros(2, np.uint16)
    run_ptx(body, "u64 out", [out], block=8)
    assert out.tolist() == [0, 0x3C00]


@pytest.mark.parametrize("mnemonic", ["red.global.min.noftz.f16", "red.global.min.v2.f32"])
def test_other_extrema_are_refused(run_ptx: Run, mnemonic: str) -> None:
    source = "{%f1, %f2}" if "v2" in mnemonic else "%rs1"
    with pytest.raises(UnsupportedInstruction, match="not supported"):
        run_ptx(
            f"ld.param.u64 %rd1, [out]; {mnemonic} [%rd1], {source}; ret;", "u64 out", [np.zeros(4)]
        )
