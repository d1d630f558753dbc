"""Tokens and their places."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend.ptx.text.lexer import END, Tokens
from kernelcast.ptx_frontend.ptx.text.source import SourceText


def tokens_of(text: str) -> list[str]:
    return Tokens(SourceText("t.ptx", text)).texts[:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.s32 %r1,%r2;", ["add.s32", "%r1", ",", "%r2", ";"]),
        ("ld.global.L2::128B.b32", ["ld.global.L2::128B.b32"]),
        ("@!%p1 bra $L__BB0_1;", ["@", "!", "%p1", "bra", "$L__BB0_1", ";"]),
        (".reg.b32 %r<5>;", [".reg", ".b32", "%r", "<", "5", ">", ";"]),
        ("[%rd1+-8]", ["[", "%rd1", "+", "-", "8", "]"]),
        ("%p1|%p2", ["%p1", "|", "%p2"]),
        ("0f3F800000 0x1FU 1.5e-3 2e+4 017", ["0f3F800000", "0x1FU", "1.5e-3", "2e+4", "017"]),
        ('.file 1 "a b//c.cu"', [".file", "1", '"a b//c.cu"']),
        ("a // b\nc /* d\n e */ f", ["a", "c", "f"]),
        ("//\n/**/a", ["a"]),
        ("8/2", ["8", "/", "2"]),
        ("@@DWARF .byte 1\n@ %p", ["@", "%p"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens_of(text) == expected


@given(st.text(alphabet="ab1.%$_:/*\n\t ;[]{}+-@\"'", max_size=60))
def test_every_token_stands_at_its_offset_and_nothing_else_is_lost(text: str) -> None:
    if "/*" in text:
        text = f"{text}*/"  # a comment that does not end is an error
    tokens = Tokens(SourceText("t.ptx", text))
    assert (tokens.texts[-1], tokens.offsets[-1]) == (END, len(text))
    end = 0
    for token, offset in zip(tokens.texts[:-1], tokens.offsets[:-1], strict=True):
        assert text.startswith(token, offset)
        assert not re.sub(r"//[^\n]*|/\*.*?\*/|\s", "", text[end:offset], flags=re.S)
        end = offset + len(token)


@given(st.text(alphabet="ab \t\n", min_size=1, max_size=40), st.data())
def test_spans_count_lines_and_columns_from_one(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text) - 1))
    span = SourceText("t.ptx", text).span(offset, 1)
    before = text[:offset].split("\n")
    assert (span.line, span.column) == (len(before), len(before[-1]) + 1)
    assert span.text == text.split("\n")[span.line - 1]


def test_span_of_a_name_skips_longer_names() -> None:
    source = SourceText("t.ptx", "add.s32 %r11, %r1x, %r1;")
    assert source.span_of("%r1", 0).column == 21


@pytest.mark.parametrize("text", ["/* open", "a /* b\n\n", "/*/", "/* a */ /*"])
def test_a_comment_that_does_not_end_is_named_at_its_beginning(text: str) -> None:
    with pytest.raises(PtxSyntaxError, match="comment that begins here does not end") as caught:
        Tokens(SourceText("t.ptx", text))
    assert caught.value.span is not None
    assert caught.value.span.column == text.rindex("/*") + 1


@pytest.mark.parametrize("text", ["/**/", "/***/", "/*/*/", "// /*", '"/*"'])
def test_comments_that_end(text: str) -> None:
    assert [t for t in tokens_of(text) if t[:1] != '"'] == []
