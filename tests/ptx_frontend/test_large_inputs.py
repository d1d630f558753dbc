"""Inputs that would take too long are refused, long ones that need not are read in time."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.calls import call_lowering
from kernelcast.ptx_frontend.ptx.lowering import control as control_instructions

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def test_a_chain_of_variables_is_followed_to_its_end() -> None:
    count = 5000
    chain = "\n".join(f".global .u64 x{i} = x{i - 1};" for i in range(1, count))
    text = (
        f"{HEADER}.global .u64 x0 = 7;\n{chain}\n"
        f".visible .entry k() {{ .reg .b64 r; mov.u64 r, x{count - 1}; ret; }}"
    )
    (kernel,) = read_ptx(text, "chain.ptx").kernels.values()
    assert len(kernel.symbols) == count
    assert kernel.symbols["x9"].relocations == {0: "x8"}


def test_many_parameters_are_placed_in_linear_time() -> None:
    names = ", ".join(f".param .u32 p{i}" for i in range(30_000))
    (kernel,) = read_ptx(
        f"{HEADER}.visible .entry k({names}) {{ ret; }}", "many.ptx"
    ).kernels.values()
    assert kernel.parameters[-1].offset == 4 * 29_999


def test_too_many_branches_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "T: .branchtargets A, A, A, A;\nbrx.idx r, T;\nA: " * 1
    text = f"{HEADER}.visible .entry k() {{ .reg .b32 r; mov.b32 r, 1; {body} ret; }}"
    assert list(read_ptx(text, "brx.ptx").kernels) == ["k"]
    monkeypatch.setattr(control_instructions, "_MOST_ADDED", 3)
    (reason,) = read_ptx(text, "brx.ptx").rejected["k"]
    assert "more than 3 branches by number" in str(reason)


def test_functions_inlined_into_many_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    function = ".func f() { .reg .b32 r; " + "mov.b32 r, 1; " * 50 + "ret; }"
    kernels = "\n".join(f".visible .entry k{i}() {{ call f; ret; }}" for i in range(9))
    monkeypatch.setattr(call_lowering, "_MOST_INLINED_IN_A_FILE", 200)
    found = read_ptx(f"{HEADER}{function}\n{kernels}", "calls.ptx")
    assert list(found.kernels) == ["k0", "k1", "k2", "k3"]
    (reason,) = found.rejected["k4"]
    assert "more than 200 instructions of functions in this file's kernels" in str(reason)
