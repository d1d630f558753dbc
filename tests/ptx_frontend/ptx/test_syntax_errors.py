"""Every mistake is reported at its place, and only as PtxSyntaxError."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from kernelcast.errors import KernelcastError, PtxSyntaxError
from kernelcast.ptx_frontend import read_module, read_ptx
from kernelcast.ptx_frontend.ptx.text.lexer import Tokens
from kernelcast.ptx_frontend.ptx.text.source import SourceText

DATA = Path(__file__).parents[1] / "data"
HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"
REGISTERS = (
    ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;\n"
)

IN_BODY = [
    ("mov.u32 %r1, 2\nret;", "expected ';' after 'mov.u32'", "mov.u32 %r1, 2", "              ^"),
    ("mov.u32 %r9, 2;", "no register '%r9' (did you mean", None, "        ^^^"),
    ("add.s32 %r1, %r2, [%rd7];", "cannot take this operand", None, "                  ^"),
    ("ld.global.u32 %r1, [%rd7];", "no register '%rd7'", None, "                    ^^^^"),
    ("ld.global.v2.u32 {%r1, %q}, [%rd1];", "no register '%q'", None, "                       ^^"),
    ("@%q mov.u32 %r1, 2;", "no register '%q'", None, " ^^"),
    ("@%r1 mov.u32 %r1, 2;", "the guard '%r1' is no predicate", None, " ^^^"),
    ("bra L2; L1: ret;", "no label 'L2' (did you mean L1?)", None, "    ^^"),
    (
        "L1: mov.u32 %r1, 2; L1: ret;",
        "label 'L1' is declared twice",
        None,
        "                    ^^",
    ),
    (".reg .b32 %r2;", "register '%r2' is declared twice", None, "          ^^^"),
    (
        ".reg .b32 a; .reg .b64 a;",
        "register 'a' is declared twice",
        None,
        "                       ^",
    ),
    (".reg .b33 a;", "unknown type '.b33' (did you mean .b32", None, "     ^^^^"),
    (".regs .b32 a;", "unknown directive '.regs' (did you mean .reg", None, "^^^^^"),
    (
        "add.s32 %r1, %rd2, %r2;",
        "'%rd2' is 64 bits wide, 'add.s32' takes .s32",
        None,
        "             ^^^^",
    ),
    ("add.s32 %r1, %p2, %r2;", "'%p2' is a predicate", None, "             ^^^"),
    ("mul.wide.s32 %r1, %r2, %r3;", "'%r1' is 32 bits wide", None, "             ^^^"),
    ("ld.global.u64 %r1, [%rd1];", "'%r1' is 32 bits wide", None, "              ^^^"),
    ("ld.global.u32 %r1, [%rs1];", "'%rs1' is 16 bits wide", None, "                    ^^^^"),
    ("st.global.u32 [%rd1], %rs1;", "'%rs1' is 16 bits wide", None, "                      ^^^^"),
    ("add.f32 %f1, %f2, 1;", "needs a floating-point constant", None, "                  ^"),
    ("add.s32 %r1, %r2, 0f3F800000;", "not a floating-point constant", None, "                  ^"),
    ("add.s32 %r1, %r2;", "'add.s32' takes 3 operands, got 2", None, "^^^^^^^"),
    ("add.s32 %r1, %r2, ;", "expected an operand, found ';'", None, "                  ^"),
    ("mov.u32 %r1, 0f123;", "expected an operand, found '0f123'", None, "             ^^^^^"),
    ("mov.u32 5, %r1;", "must be a register", None, "        ^"),
    ("ld.global.v2.u32 %r1, [%rd1];", "moves 2 values, got 1", None, "                 ^"),
    ("ld.global.u32 _, [%rd1];", "cannot discard its only result", None, "              ^"),
    (
        "ld.global.u32 %r1, [a+0f00000000];",
        "offset must be an integer",
        None,
        "                      ^",
    ),
    ("ld.global.u32 %r1, [g;", "expected ']' to close the address", None, "                     ^"),
    (
        "ld.shared.u32 %r1, [g];",
        "'g' is in .global, 'ld.shared.u32' takes .shared",
        None,
        "                    ^",
    ),
    ("st.const.u32 [c], %r1;", "constant memory cannot be written", None, "^^^^^^^^^^^^"),
    ("ld.param.u32 %r1, [p+8];", "reads outside of the parameters", None, "                  ^"),
    ("bar.sync 16;", "barriers have numbers from 0 to 15", None, "         ^"),
    (".loc 7 1 1", "'.loc' names file 7", None, "^^^^"),
    ("? ret;", "expected an instruction, found '?'", None, "^"),
    ("@%p1 5;", "expected an instruction after the guard", None, "     ^"),
    ("mov.u16 %rs1, g;", "the address of 'g' does not fit", None, "              ^"),
    ("mov.u64 %rd1, %tid.x;", "'%tid.x' is 32 bits wide", None, "              ^^^^^^"),
]


@pytest.mark.parametrize(("body", "message", "line", "caret"), IN_BODY)
def test_mistakes_in_a_body(body: str, message: str, line: str | None, caret: str) -> None:
    module = ".global .u32 g; .const .u32 c;"
    text = f"{HEADER}{module}\n.entry k(.param .u64 p) {{\n{REGISTERS}{body}\n}}\n"
    with pytest.raises(PtxSyntaxError) as caught:
        read_ptx(text, "k.ptx")
    error = caught.value
    assert message in error.message
    assert error.span is not None
    assert error.span.line == 7
    assert error.span.column == len(caret) - len(caret.lstrip()) + 1
    shown = str(error).split("\n")
    assert shown[0] == f"k.ptx:7:{error.span.column}: {error.message}"
    assert shown[1] == f"     7 | {line or body}"
    assert shown[2] == f"       | {caret}"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("int main() {}", "not PTX: expected '.version', found 'int'", (1, 1)),
        ("", "not PTX", (1, 1)),
        (".version 8.0\n.address_size 64", "expected '.target'", (2, 1)),
        (f"{HEADER}.entri k() {{}}", "unknown directive '.entri' (did you mean .entry", (4, 1)),
        (f"{HEADER}.entry k() .maxnthread 4 {{}}", "unknown directive '.maxnthread'", (4, 12)),
        (f"{HEADER}.entry k() {{}}\n.entry k() {{}}", "entry 'k' is defined twice", (5, 8)),
        (f"{HEADER}.global .u32 x;\n.global .u32 x;", "variable 'x' is declared twice", (5, 14)),
        (
            f"{HEADER}.entry k(.param .u32 a, .param .u32 a) {{}}",
            "parameter 'a' is declared",
            (4, 37),
        ),
        (f"{HEADER}.global .u32 x[-1];", "an array size must be a whole number", (4, 16)),
        (f"{HEADER}.global .u32 x", "expected ';' after the declaration of 'x'", (4, 14)),
        (f"{HEADER}.global x;", "expected a type", (4, 9)),
        (f"{HEADER}hello", "expected a directive, found 'hello'", (4, 1)),
        (f"{HEADER}.file 1 a", "expected a quoted path", (4, 9)),
    ],
)
def test_mistakes_outside_of_bodies(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        read_ptx(text, "k.ptx")
    assert message in caught.value.message
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == place


@pytest.mark.parametrize(
    ("values", "message"),
    [("{1, 2, 3}", "has room for 2 values, got 3"), ("{1.5}", "a floating-point constant in 'x'")],
)
def test_initialisers_that_do_not_fit(values: str, message: str) -> None:
    body = ".reg .b32 a; ld.global.u32 a, [x];"
    text = f"{HEADER}.global .u32 x[2] = {values};\n.entry k() {{ {body} }}"
    with pytest.raises(PtxSyntaxError, match=message):
        read_ptx(text, "k.ptx")


def test_truncated_text_names_what_was_open() -> None:
    text = f"{HEADER}.entry saxpy() {{\n{REGISTERS}mov.u32 %r1, 2;\n"
    with pytest.raises(PtxSyntaxError) as caught:
        read_ptx(text, "k.ptx")
    assert "expected '}' to close the body of 'saxpy', but the text ends" in caught.value.message
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (6, 15)


@pytest.mark.parametrize("name", ["triton_style.ptx", "nvcc_lines.ptx"])
def test_a_text_cut_at_any_token_is_read_or_is_a_syntax_error(name: str) -> None:
    text = (DATA / name).read_text()
    for offset in Tokens(SourceText(name, text)).offsets:
        with contextlib.suppress(PtxSyntaxError):
            read_ptx(text[:offset], name)


def test_a_text_without_any_one_token_is_read_or_is_refused() -> None:
    text = (DATA / "triton_style.ptx").read_text()
    tokens = Tokens(SourceText("t", text))
    refused = 0
    for offset, token in zip(tokens.offsets, tokens.texts, strict=True):
        try:
            read_ptx(text[:offset] + text[offset + len(token) :], "t")
        except KernelcastError:
            refused += 1
    assert refused > len(tokens.texts) // 2


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(KernelcastError, match=r"cannot read .*none.ptx: No such file"):
        read_module(tmp_path / "none.ptx")
    for content in (b"\x7fELF\0\1", b"\xff\xfe1"):
        path = tmp_path / "kernel.cubin"
        path.write_bytes(content)
        with pytest.raises(PtxSyntaxError, match=r"not PTX: .*kernel.cubin") as caught:
            read_module(path)
        assert "\n" not in str(caught.value)
