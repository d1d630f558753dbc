"""Whether what a census of compiled kernels met is lowered: statements of PTX, and forms of SASS.

The census: 7,403 kernels (those of this project, public CUDA programs and samples, six Triton
kernels, and closed libraries of CUDA 13) for ten architectures, read back with nvdisasm. The
tables in `data` are extracts of it: `census_statements.csv` has single statements of PTX with the
architectures whose assembler takes them, `census_mnemonics.csv` every mnemonic with one line as an
example, `census_forms.csv` the shapes of operands of each base opcode, `census_kernels.csv` the
opcodes that cover 99 % of the kernels of a set (95 % for sm_100) in the order in which one more
covers most.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend.sass.container.cubin import Cubin, CubinFunction
from kernelcast.ptx_frontend.sass.container.kernel_info import KernelInfo
from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
from kernelcast.ptx_frontend.sass.text.statements import read_listing

__all__ = [
    "example_reasons",
    "form_reasons",
    "listed_refusals",
    "rows",
    "statement_reasons",
    "statement_text",
    "uncovered",
]

_DATA = Path(__file__).parent / "data"
_KERNEL = """.entry k{index}(.param .u64 in, .param .u64 out)
{{
.reg .pred %p<2>, p, q, rp, rq; .reg .b16 sa, sb, sa2, ha, hb; .reg .b8 bb;
.reg .b32 a, b, c, d, ra, rb, rc, rd, %r<8>; .reg .b64 x, y, z, w, rx, ry, %in, %out, %d<4>;
.reg .f32 f, g, h, rf, f1, f2, f3; .reg .f64 m, n, o, rm; .reg .b128 qa, qb;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
ld.global.u32 a, [%in]; ld.global.u32 b, [%in+4]; ld.global.u32 c, [%in+8];
ld.global.u32 d, [%in+12]; ld.global.u64 x, [%in+16]; ld.global.u64 y, [%in+24];
ld.global.u64 z, [%in+32]; ld.global.u64 w, [%in+40]; ld.global.f32 f, [%in+48];
ld.global.f32 g, [%in+52]; ld.global.f32 h, [%in+56]; ld.global.f64 m, [%in+64];
ld.global.f64 n, [%in+72]; ld.global.f64 o, [%in+80]; ld.global.u16 sa, [%in+88];
ld.global.u16 sb, [%in+90]; ld.global.u32 %r0, [%in+92]; setp.ne.u32 p, %r0, 0;
ld.global.u32 %r0, [%in+96]; setp.ne.u32 q, %r0, 0; ld.global.u32 %r7, [%in+100];
setp.lt.u32 rp, %r7, 5; setp.lt.u32 rq, %r7, 7;
mov.b16 ha, sa; mov.b16 hb, sb; mov.b16 sa2, sb; mov.u32 ra, %r7; mov.u32 rb, %r7;
mov.u32 rc, %r7; mov.u32 rd, %r7; mov.u64 rx, z; mov.u64 ry, z; mov.f32 rf, h; mov.f32 f1, h;
mov.f32 f2, h; mov.f32 f3, h; mov.f64 rm, o; {first}
{statement}
DONE: st.global.u32 [%out], ra; st.global.u32 [%out+4], rb; st.global.u32 [%out+8], rc;
st.global.u32 [%out+12], rd; st.global.u64 [%out+16], rx; st.global.u64 [%out+24], ry;
st.global.f32 [%out+32], rf; st.global.f32 [%out+36], f1; st.global.f32 [%out+40], f2;
st.global.f32 [%out+44], f3; st.global.f64 [%out+48], rm; st.global.u16 [%out+56], sa2;
st.global.u16 [%out+58], ha; selp.u32 %r0, 1, 0, rp; selp.u32 %r1, 2, 0, rq; or.b32 %r0, %r0, %r1;
st.global.u32 [%out+60], %r0; ret;
}}
"""
_COMPARED = "setp.{kind} rp, {a}, {b};"
_DESCRIBED: Mapping[str, str] = {
    "add.cc;addc.cc;addc": "add.cc.u32 ra, a, b; addc.cc.u32 rb, c, d; addc.u32 rc, a, d",
    "sub.cc;subc": "sub.cc.u32 ra, a, b; subc.u32 rb, c, d",
    "mad.lo.cc;madc.hi": "mad.lo.cc.u32 ra, a, b, c; madc.hi.u32 rb, a, b, d",
    "addr: x+a*4 (s32)": "mul.wide.s32 rx, a, 4; add.s64 rx, x, rx",
    "addr: x+(a<<3) u64": "cvt.u64.u32 rx, a; shl.b64 rx, rx, 3; add.s64 rx, x, rx",
    "x/2 s32 (LEA.HI)": "div.s32 ra, a, 2",
    "setp.lt.and.s32 rp|rq": "setp.lt.and.s32 rp|rq, a, b, p",
    "setp.lt.xor.s32": "setp.lt.xor.s32 rp, a, b, p",
    "setp.lt.f16x2 rp|rq": "setp.lt.f16x2 rp|rq, a, b",
    "(p&q)|r": "and.pred rp, p, q; setp.gt.s32 rq, a, b; or.pred rp, rp, rq",
    "p&!q": "not.pred rq, q; and.pred rp, p, rq",
    "p^q": "xor.pred rp, p, q",
    "(p^q)&!r": "setp.gt.s32 rq, a, b; not.pred rq, rq; xor.pred rp, p, q; and.pred rp, rp, rq",
    "(a&b)!=0": "and.b32 ra, a, b; setp.ne.u32 rp, ra, 0",
    "lop3.or.b32 ra|rp": "lop3.or.b32 ra|rp, a, b, c, 0x1b, q",
    "lop3.and.b32 _|rp": "lop3.and.b32 _|rp, a, b, c, 0x1b, q",
    "add.f16 (scalar)": "add.f16 ha, sa, sb",
    "fma.rn.f16 (scalar)": "fma.rn.f16 ha, sa, sb, sa",
    "setp.lt.f16": "setp.lt.f16 rp, sa, sb",
    "branch divergent if/else": "@p bra L1; st.global.u32 [x], a; bra L2; L1: "
    "st.global.u32 [y], b; L2: mov.u32 rc, b",
    "loop with break": "L1: add.u32 ra, ra, 1; ld.global.u32 rb, [x]; setp.eq.u32 rp, rb, ra; "
    "@rp bra L2; setp.lt.u32 rq, ra, a; @rq bra L1; L2: mov.u32 rc, rb",
    "brx.idx": "T: .branchtargets L1, L2, L3, L4, L5; and.b32 rb, a, 3; brx.idx rb, T; "
    "L1: st.global.u32 [x], a; bra DONE; L2: st.global.u32 [y], b; bra DONE; "
    "L3: st.global.u32 [x], c; bra DONE; L4: st.global.u32 [z], b; bra DONE; "
    "L5: st.global.u32 [w], b",
    "wgmma m64n8k16 f32.f16.f16 (2 desc)": "wgmma.fence.sync.aligned; "
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {rf,f1,f2,f3}, x, y, p, 1, 1, 0, 0; "
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0",
    "wgmma m64n8k16 f32.f16.f16 (A regs)": "wgmma.fence.sync.aligned; "
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {rf,f1,f2,f3}, {a,b,c,d}, y, p, 1, 1, 0; "
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0",
    "tcgen05 alloc/mma/ld/dealloc": "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], "
    "32; tcgen05.mma.cta_group::1.kind::f16 [a], x, y, b, p; "
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {ra,rb}, [a]; tcgen05.wait::ld.sync.aligned; "
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 a, 32",
}
_TYPES = {"s32": "a, b", "u32": "a, b", "s64": "x, y", "u64": "x, y", "f32": "f, g", "f64": "m, n"}


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table of the census."""
    with (_DATA / f"census_{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def listed_refusals(name: str) -> dict[str, str]:
    """What is known to be refused: reasons by what is refused, of `refused_NAME.txt`."""
    found = {}
    for line in (_DATA / f"refused_{name}.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what, _, reason = line.partition(" # ")
            found[what.strip()] = reason.strip()
    return found


def statement_text(statement: str) -> str:
    """The PTX of a row of the census, some of which describe what they are."""
    text = _DESCRIBED.get(statement)
    if text is None and (compared := re.fullmatch(r"setp\.\w+(\.ftz)?\.(\w+)", statement)):
        text = f"{statement} rp, {_TYPES[compared[2]]}"
    return (text or statement) + ";"


def _target(architecture: str) -> str:
    return f".version 9.0\n.target {architecture}\n.address_size 64\n"


@cache
def statement_reasons(architecture: str) -> Mapping[str, str]:
    """Why a statement's machine code is refused, empty where it is not, by the statement."""
    found: dict[str, str] = {}
    wanted = [
        r["statement"] for r in rows("statements") if architecture in r["architectures"].split()
    ]
    kernels = [
        _KERNEL.format(
            index=index,
            statement=statement_text(statement),
            first="mov.b128 qb, {x, y};" if "qb" in statement else "",
        )
        for index, statement in enumerate(wanted)
    ]
    text = _target(architecture) + "".join(kernels)
    module = assembled_module(text, architecture, "census.ptx")
    for index, statement in enumerate(wanted):
        reasons = module.rejected.get(f"k{index}", ())
        found[statement] = getattr(reasons[0], "message", str(reasons[0])) if reasons else ""
    return found


_TOKENS = (
    ("c[#", "c[0x"),
    ("[imm]", "[0x210]"),
    ("+imm]", "+0x10]"),
    ("label", "`(.L_x_0)"),
)
_ALONE = {"imm": "0x4", "fimm": "1.5", "SB": "SB0", "SR": "SR_TID.X", "PR": "PR", "P": "P0"}
_LABEL = re.compile(r"`\((\.L[^)]*)\)")
_BASES = {70: 0x160, 75: 0x160, 80: 0x160, 86: 0x160, 89: 0x160, 90: 0x210, 100: 0x380, 120: 0x380}
_BANK_BYTES = 1 << 16


def _operands_of(form: str) -> str:
    """Operands of a form: `R, c[#0][imm]` becomes `R2, c[0x0][0x210]`."""
    words = []
    for position, word in enumerate(filter(None, (part.strip() for part in form.split(",")))):
        if word in _ALONE:
            words.append(_ALONE[word])
            continue
        for token, text in _TOKENS:
            word = word.replace(token, text)
        word = re.sub(r"\bUR\b", "UR4", word)
        word = re.sub(r"\bUP\b", "UP0", re.sub(r"\bB\b(?!\d)", "B0", word) if word == "B" else word)
        word = re.sub(r"\.B$", ".B1", word)
        words.append(re.sub(r"(?<![\w.])R\b", f"R{4 + 8 * position}", word))
    return ", ".join(words).replace(" imm", " 0x4")


@cache
def _reasons(texts: tuple[str, ...], architecture: int) -> Mapping[str, str]:
    """Why single statements of SASS are refused, empty where they are not."""
    listing, functions = [], {}
    for index, text in enumerate(texts):
        name = f"k{index}"
        listing.append(f".section .text.{name}")
        listing.append(f"/*0000*/ {text} ;")
        listing += [f"{label}:" for label in _LABEL.findall(text)]
        listing.append("/*0010*/ EXIT ;")
        info = KernelInfo(base=_BASES[architecture], parameter_bytes=0x800)
        functions[name] = CubinFunction(name, True, bytes(32), info, 255, 0, 0, 0, {})
    banks = dict.fromkeys((2, 3, 4), bytes(_BANK_BYTES))
    cubin = Cubin("census.cubin", architecture, functions, {}, banks, {}, {})
    codes = {name: function.code for name, function in functions.items()}
    module = lower_cubin(cubin, read_listing("\n".join(listing), codes, "census.cubin"))
    found = {}
    for index, text in enumerate(texts):
        reasons = module.rejected.get(f"k{index}", ())
        found[text] = getattr(reasons[0], "message", str(reasons[0])) if reasons else ""
    return found


def _number(architecture: str) -> int:
    return int(architecture.rstrip("af"))


def example_reasons(architecture: str) -> Mapping[str, str]:
    """Why the examples of mnemonics are refused, for `80`, `90a`, ..."""
    texts = [row["example"] for row in rows("mnemonics") if _has(row, architecture)]
    return _reasons(tuple(dict.fromkeys(texts)), _number(architecture))


def form_reasons(architecture: str) -> Mapping[str, str]:
    """Why forms of operands are refused with every mnemonic of their opcode that the census has."""
    mnemonics: dict[str, list[str]] = {}
    for row in rows("mnemonics"):
        if _has(row, architecture):
            name = re.sub(r"^@!?U?P\w+ ", "", row["example"]).split(" ")[0]
            mnemonics.setdefault(name.split(".")[0], []).append(name)
    found: dict[str, str] = {}
    for row in rows("forms"):
        if not _has(row, architecture):
            continue
        operands = _operands_of(row["form"])
        # R of a form may be RZ: a result that nobody wants
        ways = (operands, re.sub(r"^R\d+\b", "RZ", operands))
        names = mnemonics.get(row["opcode"], [row["opcode"]])
        texts = tuple(f"{name} {way}".strip() for name in names for way in ways)
        reasons = _reasons(texts, _number(architecture))
        first = next(iter(reasons.values()))
        found[f"{row['opcode']} {row['form']}".strip()] = "" if "" in reasons.values() else first
    return found


def _has(row: Mapping[str, str], architecture: str) -> bool:
    return architecture in row["architectures"].split()


def uncovered(is_lowered: Iterable[str]) -> set[str]:
    """Opcodes that sets of kernels need and that are not among those that lower."""
    known = set(is_lowered)
    return {name for row in rows("kernels") for name in row["opcodes"].split() if name not in known}
