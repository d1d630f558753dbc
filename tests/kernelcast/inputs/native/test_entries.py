"""Kernels of PTX that an architecture has run on it, whatever the others of their module need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError
from kernelcast.inputs.native.entries import entries, entry_at_line, with_one_entry
from tests.ptx_frontend.sass.native_programs import needs_tools

_HEAD = """.version 8.0
.target sm_80 // .entry not(
.address_size 64
/* .visible .entry neither() { */
.global .align 4 .u32 total = 1;
.func (.param .b32 r) twice(.param .b32 a) {
 .reg .b32 %r<3>; ld.param.b32 %r1, [a]; shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret;
}
"""
_PLAIN = """.visible .entry NAME(.param .u64 p)
.maxntid 64, 1, 1
.pragma "nounroll"; // }
{
 .reg .b32 %r<9>; .reg .b64 %d<4>;
 ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
 { .reg .b32 %q; mov.u32 %q, FACTOR; mul.lo.u32 %r2, %r1, %q; }
 st.global.u32 [%d1], %r2; ret;
}
"""
_COPY = """.visible .entry copies(.param .u64 p) {
 cp.async.wait_all; ret;
}
"""
_TEXT = (
    _HEAD
    + _PLAIN.replace("NAME", "first").replace("FACTOR", "3")
    + _COPY
    + _PLAIN.replace("NAME", "last").replace("FACTOR", "5")
)


def test_entries_are_found_between_comments_and_braces() -> None:
    found = list(entries(_TEXT))
    assert [entry.name for entry in found] == ["first", "copies", "last"]
    assert [_TEXT[entry.start : entry.start + 15] for entry in found] == [".visible .entry"] * 3
    assert [_TEXT[entry.end - 1] for entry in found] == ["}"] * 3


def test_a_declaration_ends_at_its_semicolon() -> None:
    text = ".visible .entry a(.param .u64 p);\n.visible .entry b() { ret; }\n"
    assert [text[entry.start : entry.end][-1] for entry in entries(text)] == [";", "}"]


def test_lines_stay_where_they_are() -> None:
    alone = with_one_entry(_TEXT, "last")
    assert alone.count("\n") == _TEXT.count("\n")
    assert [entry.name for entry in entries(alone)] == ["last"]
    line = _TEXT[: _TEXT.index("%q, 5")].count("\n") + 1
    assert alone.split("\n")[line - 1] == _TEXT.split("\n")[line - 1]
    assert entry_at_line(_TEXT, line) == "last"
    assert entry_at_line(_TEXT, 6) == ""
    assert with_one_entry(alone, "last") == alone


def test_a_kernel_that_an_architecture_lacks_refuses_itself_only(tmp_path: Path) -> None:
    needs_tools("sm_75")
    file = tmp_path / "several.ptx"
    file.write_text(_TEXT)
    module = kc.load(file)
    for name, factor in (("first", 3), ("last", 5)):
        x = np.zeros(32, np.uint32)
        options = {"devices": ["quadro-rtx-4000"], "code": "native"}
        trace = module[name].run(grid=1, block=32, args=[x], **options)  # type: ignore[arg-type]
        assert trace.code == "sm_75"
        assert (x == factor * np.arange(32)).all()
    x = np.zeros(32, np.uint32)
    with pytest.raises(CompilationError, match=r"sm_75, kernel 'copies': .*sm_80") as refusal:
        module["copies"].run(grid=1, block=32, args=[x], devices=["quadro-rtx-4000"], code="native")
    assert refusal.value.span is not None
    assert "cp.async" in _TEXT.split("\n")[refusal.value.span.line - 1]
