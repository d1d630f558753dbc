"""Calls are inlined as long as the kernel stays of a size that is lowered within seconds."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.calls import call_lowering
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.host import limits
from kernelcast.simcore.launch.launch import Launch

DOUBLED = """
.version 7.0
.target sm_50
.address_size 64
.func (.reg .b32 r) f0(.reg .b32 x) { add.u32 r, x, 1; ret; }
%s
.visible .entry k(.param .u64 out) { .reg .b32 r; .reg .b64 p; mov.u32 r, 0;
  call (r), f%d, (r); ld.param.u64 p, [out]; st.global.u32 [p], r; ret; }
"""


def module(levels: int) -> str:
    """Each function calls the one below twice: 2^levels copies of the lowest."""
    functions = (
        f".func (.reg .b32 r) f{i}(.reg .b32 x) "
        f"{{ call (r), f{i - 1}, (x); call (r), f{i - 1}, (r); ret; }}"
        for i in range(1, levels)
    )
    return DOUBLED % ("\n".join(functions), levels - 1)


def test_calls_that_double_at_each_level_are_not_inlined_for_ever() -> None:
    (kernel,) = read_ptx(module(40), "doubled.ptx").kernels.values()
    assert len(kernel.instructions) < 10 * call_lowering._MOST_INLINED


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("most", [0, 20, 1 << 20])
def test_inlined_or_called_they_do_the_same(
    monkeypatch: pytest.MonkeyPatch, most: int, engine: str
) -> None:
    monkeypatch.setattr(call_lowering, "_MOST_INLINED", most)
    (kernel,) = read_ptx(module(6), "doubled.ptx").kernels.values()
    out = np.zeros(1, np.uint32)
    launch = Launch((1, 1, 1), (1, 1, 1), (out,))
    trace = execute(kernel, launch, engine=engine)
    assert out[0] == 2**5
    calls = sum(2**level for level in range(6))
    assert trace.source_instructions()[1] == 4 + calls + 2**5 + calls


def test_too_many_instructions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 20)
    (reason,) = read_ptx(module(6), "doubled.ptx").rejected["k"]
    assert "more than 20 instructions in a kernel" in str(reason)
