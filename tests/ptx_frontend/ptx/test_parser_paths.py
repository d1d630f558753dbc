"""Whole statements as tokens lead where single tokens lead, errors included."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend.ptx.text.lexer import STATEMENT, Tokens
from kernelcast.ptx_frontend.ptx.text.parser import parse, parse_tokens
from kernelcast.ptx_frontend.ptx.text.source import SourceText

DATA = Path(__file__).parents[1] / "data"
HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"


@pytest.mark.parametrize(
    "text",
    [
        "ld .loc 1 2 3;",
        "ld .section x { } ;",
        "ld.u32 %r1, .loc 1 2 3;",
        "add.s32 %r1 mov.u32 %r1, 5;",
        ".reg .b32 a b, c;",
        "@08 bra L;",
        "tex [t, a b; ], 5;",
        ".pragma mov.u32 %r1, 5",
        "p: .branchtargets mov.u32 %r1, 5;",
        "mov.u32 %r1, 5 5;",
        "mov.u32 %r1, 0f123;",
        "mov.u32 %r1, [a b];",
        "mov.u32 %r1, {a b};",
        "mov.u32 %r1, a|5;",
        ".loc 1 2 3x",
        "mov.u32 %r1,, 5;",
    ],
)
def test_what_looks_like_a_statement_on_one_line_but_is_none(text: str) -> None:
    with pytest.raises(PtxSyntaxError) as whole:
        parse(SourceText("t.ptx", f"{HEADER}.entry k() {{ {text} }}"))
    with pytest.raises(PtxSyntaxError) as single:
        parse_tokens(Tokens(SourceText("t.ptx", f"{HEADER}.entry k() {{ {text} }}")))
    assert str(whole.value) == str(single.value)


INSTRUCTIONS = [
    "add.s32 %r1, %r2, %r3;",
    "\tadd.s32 \t%r1,%r2 ,  -5 ;",
    "@!%p1 bra\t$L__BB0_1;",
    "@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];",
    "@%padd add.s32 %padd, %p, %pa;",
    "st.shared.v4.f32 [pool+-16], {%f1, %f2, 0f00000000, _};",
    "shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;",
    "mov.b64 {%r1, %r2}, %rd1;",
    "mov.u32 %r1, %tid.x;",
    "mad.lo.s32 a, a, a, aa;",
    "ld.global.L2::128B.f32 %f1, [x+0x10];",
    "ld.u32 %r1, [x+017];",
    "fma.rn.f32 %f1, %f2, 1.5, 0f3F800000;",
    "mov.u32 %r1, WARP_SZ;",
    "mov.u32 %r1, 1|2;",
    "and.pred %p1, !%p2, %p3;",
    "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;",
]


@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_whole_statements_are_one_token_and_mean_the_same(text: str) -> None:
    source = SourceText("t.ptx", f"{HEADER}.entry k() {{\n{text}\n}}")
    whole = Tokens(source, whole_statements=True)
    assert whole.texts.count(STATEMENT) == 1
    assert ";" not in whole.texts
    assert parse_tokens(whole) == parse_tokens(Tokens(source))


@pytest.mark.parametrize("path", sorted(DATA.glob("*.ptx")), ids=lambda path: path.stem)
def test_both_paths_agree_on_files_of_compilers(path: Path) -> None:
    source = SourceText("t.ptx", path.read_text())
    whole = Tokens(source, whole_statements=True)
    assert whole.texts.count(STATEMENT) > 5
    assert parse_tokens(whole) == parse_tokens(Tokens(source))
