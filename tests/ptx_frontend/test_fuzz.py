"""Random texts near PTX are read or refused; large ones that are made to be hard too, in time."""

from __future__ import annotations

import tracemalloc

import pytest

from kernelcast.errors import KernelcastError, PtxSyntaxError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.text.parser import parse
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from tests.drawn_cases import ALL_CASES
from tests.ptx_frontend import fuzz_ptx as fuzz

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
TEXTS = 10_000 if ALL_CASES else 3_000


def test_random_texts_are_read_or_refused() -> None:
    escapes = fuzz.run(TEXTS, seed=20)
    assert not escapes, f"{escapes[0].reason}\n{escapes[0].text}"


def test_the_fuzzer_reaches_kernels_and_refusals() -> None:
    """A fuzzer whose texts all fail at the first token would find nothing."""
    fuzzer = fuzz.Fuzzer(1)
    ends = {"kernel": 0, "refused": 0, "syntax": 0}
    for _ in range(600):
        try:
            module = read_ptx(fuzzer.text(), "fuzz.ptx")
        except KernelcastError:
            ends["syntax"] += 1
        else:
            ends["kernel"] += bool(module.kernels)
            ends["refused"] += bool(module.rejected)
    assert min(ends.values()) > 10, ends


def test_an_escape_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_text: str, _path: str) -> None:
        raise IndexError("broken")

    monkeypatch.setattr(fuzz, "read_ptx", broken)
    (escape,) = fuzz.run(3, seed=1)
    assert "IndexError: broken" in escape.reason


def test_both_paths_lead_to_one_tree() -> None:
    fuzzer = fuzz.Fuzzer(2)
    for _ in range(2000 if ALL_CASES else 600):
        text = fuzzer.text()
        assert not fuzz.trees_differ(text), text


def kernel(body: str) -> str:
    registers = ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;"
    return f"{HEADER}.entry k() {{ {registers}\n{body}\nret; }}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel("{" * 100_000), "scopes nested more than 100 deep"),
        (kernel("mov.u32 %r1, " + "(" * 100_000), "nested too deeply"),
        (kernel("mov.u32 %r1, " + "-" * 100_000), "nested too deeply"),
        (kernel("mov.u32 %r1, " + "{" * 100_000), "nested too deeply"),
        (f"{HEADER}.global .b8 x[4] = " + "{" * 100_000, "nested too deeply"),
        (kernel("/* " * 100_000), "the comment that begins here does not end"),
        (kernel("/*/"), "the comment that begins here does not end"),
        (kernel("mov.u32 %r1, " + "9" * 100_000 + ";"), "a number of 100000 digits"),
        (kernel(".loc 1 1 " + "9" * 100_000), "a number of 100000 digits"),
        (f"{HEADER}.section .d {{" + "//a\n" * 50_000, "expected '}' to close the section"),
        (kernel("@%p1 " * 50_000), "expected an instruction after the guard"),
        (f"{HEADER}.global .b64 x[900000000] = {{1}};", "too large for an initialised array"),
        (HEADER + ".pragma " * 50_000, "expected ';' after '.pragma'"),
    ],
)
def test_hard_texts_are_refused_at_once(text: str, message: str) -> None:
    with pytest.raises(PtxSyntaxError, match=message):
        parse(SourceText("t", text))


def test_a_file_on_one_line_takes_no_memory_for_each_span() -> None:
    text = kernel("mov.u32 %r1, 5; " * 4000)
    tracemalloc.start()
    read_ptx(text, "t")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * len(text) / 10
