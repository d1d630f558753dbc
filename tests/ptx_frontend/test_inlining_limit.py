"""Calls are inlined as long as the kernel stays of a size that is lowered within seconds."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend import call_lowering, read_ptx

DOUBLED = """
.version 7.0
.target sm_50
.address_size 64
.func f0() { .reg .b32 r; mov.b32 r, 1; ret; }
%s
.visible .entry k() { call f%d; ret; }
"""


def module(levels: int) -> str:
    """Each function calls the one below twice: 2^levels copies of the lowest."""
    functions = (f".func f{i}() {{ call f{i - 1}; call f{i - 1}; ret; }}" for i in range(1, levels))
    return DOUBLED % ("\n".join(functions), levels - 1)


def test_calls_that_double_at_each_level_are_refused_and_not_inlined_for_ever() -> None:
    found = read_ptx(module(40), "doubled.ptx")
    (reason,) = found.rejected["k"]
    assert "65,536 instructions with all calls inlined" in str(reason)


def test_below_the_limit_they_are_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(read_ptx(module(6), "doubled.ptx").kernels) == ["k"]
    monkeypatch.setattr(call_lowering, "_MOST_INSTRUCTIONS", 20)
    assert list(read_ptx(module(6), "doubled.ptx").rejected) == ["k"]
