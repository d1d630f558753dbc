"""Integers in machine code: results are those of the PTX that it was assembled from."""

from __future__ import annotations

import pytest

from tests.ptx_frontend.sass.arithmetic.statement_grids import assert_same_as_ptx
from tests.ptx_frontend.sass.native_programs import ARCHITECTURES, ENGINES

_ORDERS = ("lt", "le", "gt", "ge", "eq", "ne")
_KINDS = ("s32", "u32", "s64", "u64")
SUMS = (
    "add.s32 ra, a, b;",
    "add.s32 ra, a, b; add.s32 ra, ra, c;",
    "sub.s32 ra, a, b;",
    "sub.s32 ra, a, b; sub.s32 ra, ra, c;",
    "neg.s32 ra, a;",
    "abs.s32 ra, a;",
    "add.sat.s32 ra, a, b;",
    "sub.sat.s32 ra, a, b;",
    "add.s64 rx, x, y;",
    "sub.s64 rx, x, y;",
    "neg.s64 rx, x;",
    "abs.s64 rx, x;",
    "add.s64 rx, x, y; add.s64 rx, rx, z;",
    "sub.s64 rx, x, y; sub.s64 rx, rx, z;",
    "add.s64 rx, x, 0x123456789;",
    "sub.s64 rx, 5, x;",
    "cvt.s64.s32 rx, a; add.s64 rx, rx, x;",
    "cvt.u64.u32 rx, a; add.s64 rx, rx, x;",
    "cvt.u64.u32 rx, a; sub.s64 rx, x, rx;",
    "sad.s32 ra, a, b, c;",
    "sad.u32 ra, a, b, c;",
    "add.u16x2 ra, a, b;",
    "add.s16x2 ra, a, b;",
)
EXTENDED = (
    ".reg .b32 h; add.cc.u32 ra, a, b; addc.u32 h, c, d; mov.b64 rx, {ra, h};",
    ".reg .b32 h; sub.cc.u32 ra, a, b; subc.u32 h, c, d; mov.b64 rx, {ra, h};",
    ".reg .b32 h; add.cc.u32 ra, a, b; addc.cc.u32 ra, c, d; addc.u32 h, ra, a;"
    " mov.b64 rx, {ra, h};",
    ".reg .b32 h; sub.cc.u32 ra, a, b; subc.cc.u32 ra, c, d; subc.u32 h, ra, a;"
    " mov.b64 rx, {ra, h};",
    ".reg .b64 h; add.cc.u64 h, x, y; addc.u64 rx, z, h;",
    ".reg .b64 h; sub.cc.u64 h, x, y; subc.u64 rx, z, h;",
    ".reg .b64 h; add.cc.u64 h, x, y; addc.cc.u64 h, z, h; addc.u64 rx, h, x;",
    ".reg .b64 h; sub.cc.u64 h, x, y; subc.cc.u64 h, z, h; subc.u64 rx, h, x;",
    ".reg .b32 h; mad.lo.cc.u32 ra, a, b, c; madc.hi.u32 h, a, b, d; mov.b64 rx, {ra, h};",
    ".reg .b32 h; mad.lo.cc.u32 ra, a, b, c; madc.hi.cc.u32 h, a, b, d; addc.u32 ra, a, 0;"
    " mov.b64 rx, {ra, h};",
    ".reg .b32 h; mad.hi.cc.s32 ra, a, b, c; madc.lo.s32 h, a, b, d; mov.b64 rx, {ra, h};",
    ".reg .b64 h; mad.lo.cc.u64 h, x, y, z; madc.hi.u64 rx, x, y, h;",
    ".reg .b64 h; mad.lo.cc.u64 h, x, y, z; madc.hi.cc.u64 h, x, y, h; addc.u64 rx, h, 0;",
)
PRODUCTS = (
    "mul.lo.s32 ra, a, b;",
    "mul.hi.s32 ra, a, b;",
    "mul.hi.u32 ra, a, b;",
    "mul.wide.s32 rx, a, b;",
    "mul.wide.u32 rx, a, b;",
    "mad.lo.s32 ra, a, b, c;",
    "mad.hi.s32 ra, a, b, c;",
    "mad.hi.u32 ra, a, b, c;",
    # other operands than above: the assembler takes equal products for one, whatever saturates
    "mad.hi.sat.s32 ra, b, d, c;",
    "mad.wide.s32 rx, a, b, x;",
    "mad.wide.u32 rx, a, b, x;",
    "mad.wide.u32 rx, a, 24, x;",
    "mul.lo.s64 rx, x, y;",
    "mul.hi.s64 rx, x, y;",
    "mul.hi.u64 rx, x, y;",
    "mad.lo.s64 rx, x, y, z;",
    "mad.hi.u64 rx, x, y, z;",
    "mad.hi.s64 rx, x, y, z;",
    "mul.lo.s32 ra, a, 32; add.s32 ra, ra, b;",
    "mul24.lo.u32 ra, a, b;",
    "mul24.hi.s32 ra, a, b;",
    "mad24.lo.s32 ra, a, b, c;",
    *(f"dp4a.{x}32.{y}32 ra, a, b, c;" for x in "su" for y in "su"),
    *(f"dp2a.{h}.{x}32.{y}32 ra, a, b, c;" for h in ("lo", "hi") for x in "su" for y in "su"),
)
EXTREMA = (
    *(f"{op}.{kind}32 ra, a, b;" for op in ("min", "max") for kind in "su"),
    *(f"{op}.{kind}64 rx, x, y;" for op in ("min", "max") for kind in "su"),
    "min.s32 ra, a, b; min.s32 ra, ra, c;",
    "max.u32 ra, a, b; max.u32 ra, ra, c;",
    "add.s32 ra, a, b; min.s32 ra, ra, c;",
    "add.s32 ra, a, b; max.u32 ra, ra, c;",
    "min.s32 ra, a, 100; max.s32 ra, ra, -100;",
    "vabsdiff4.u32.u32.u32.add ra, a, b, c;",
    "vmin4.u32.u32.u32 ra, a, b, c;",
    "vmax2.s32.s32.s32 ra, a, b, c;",
    "vadd4.u32.u32.u32.sat ra, a, b, c;",
)
NEWER_EXTREMA = (
    *(f"{op}.{kind}16x2 ra, a, b;" for op in ("min", "max") for kind in "su"),
    *(f"{op}.s16x2.relu ra, a, b;" for op in ("min", "max")),
    *(f"{op}.s32.relu ra, a, b;" for op in ("min", "max")),
    "add.s32 ra, a, b; max.s32 ra, ra, c; max.s32 ra, ra, 0;",
    "add.s32 ra, a, b; min.s32.relu ra, ra, c;",
)
BITS = (
    "popc.b32 ra, a;",
    "popc.b64 ra, x;",
    "clz.b32 ra, a;",
    "clz.b64 ra, x;",
    *(
        f"bfind{shift}.{kind} ra, {'x' if '64' in kind else 'a'};"
        for shift in ("", ".shiftamt")
        for kind in _KINDS
    ),
    "brev.b32 ra, a;",
    "brev.b64 rx, x;",
    *(f"bfe.{kind} ra, a, b, c;" for kind in ("s32", "u32")),
    # of 64 bits the assembler leaves out that positions and lengths count modulo 256
    *(
        f".reg .b32 m; and.b32 ra, b, 63; and.b32 m, c, 63; bfe.{kind} rx, x, ra, m;"
        for kind in ("s64", "u64")
    ),
    "bfe.u32 ra, a, 5, 7;",
    "bfe.s32 ra, a, 5, 7;",
    "bfi.b32 ra, a, b, c, d;",
    ".reg .b32 m; and.b32 ra, b, 63; and.b32 m, c, 63; bfi.b64 rx, x, y, ra, m;",
    "bfi.b32 ra, a, b, 3, 9;",
    *(f"bmsk.{mode}.b32 ra, a, b;" for mode in ("clamp", "wrap")),
    *(f"szext.{mode}.{kind} ra, a, b;" for mode in ("clamp", "wrap") for kind in ("s32", "u32")),
    "prmt.b32 ra, a, b, c;",
    "prmt.b32 ra, a, b, 0x3715;",
    "prmt.b32 ra, a, 0, 0x8a90;",
    *(f"prmt.b32.{mode} ra, a, b, c;" for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")),
    "and.b32 ra, b, 31; fns.b32 ra, a, ra, 1;",
    "and.b32 ra, b, 31; fns.b32 ra, a, ra, -3;",
    *(f"cvt.sat.{kind}.s32 ra, a;" for kind in ("u32",)),
    *(
        f".reg .b16 h; cvt.sat.{kind}.s32 h, a; cvt.{kind[0]}32.{kind} ra, h;"
        for kind in ("u8", "s8", "u16", "s16")
    ),
    *(
        f".reg .b16 h; cvt.sat.{kind}.u32 h, a; cvt.{kind[0]}32.{kind} ra, h;"
        for kind in ("u8", "s8", "u16", "s16")
    ),
    *(f"cvt.pack.sat.{kind}.s32 ra, a, b;" for kind in ("u16", "s16")),
    *(f"cvt.pack.sat.{kind}.s32.b32 ra, a, b, c;" for kind in ("u8", "s8", "u4", "s4")),
    *(f"lop3.b32 ra, a, b, c, {table};" for table in (0x1B, 0x80, 0xFE, 0xB8, 0x96, 0x2D)),
    "and.b32 ra, a, b; xor.b32 ra, ra, c;",
    "not.b64 rx, x; or.b64 rx, rx, y;",
    "cnot.b32 ra, a;",
)
SHIFTS = (
    "shl.b32 ra, a, b;",
    "shr.u32 ra, a, b;",
    "shr.s32 ra, a, b;",
    "shl.b64 rx, x, b;",
    "shr.u64 rx, x, b;",
    "shr.s64 rx, x, b;",
    "shl.b64 rx, x, 3;",
    "shr.u64 rx, x, 37;",
    "shr.s64 rx, x, 12;",
    *(f"shf.{side}.{mode}.b32 ra, a, b, c;" for side in "lr" for mode in ("clamp", "wrap")),
    *(f"shf.{side}.{mode}.b32 ra, a, b, 7;" for side in "lr" for mode in ("clamp", "wrap")),
    "shf.l.wrap.b32 ra, a, a, b;",
    "and.b32 ra, b, 63; shl.b64 rx, x, ra;",
    "and.b32 ra, b, 63; shr.s64 rx, x, ra;",
    "and.b32 ra, b, 31; shl.b32 ra, a, ra;",
    "and.b32 ra, b, 31; shr.s32 ra, a, ra;",
)
ADDRESSES = (
    "shl.b32 ra, a, 4; add.s32 ra, ra, b;",
    "mul.wide.s32 rx, a, 8; add.s64 rx, rx, x;",
    "mul.wide.u32 rx, a, 4; add.s64 rx, rx, x;",
    "shl.b64 rx, x, 3; add.s64 rx, rx, y;",
    "shl.b64 rx, x, 3; sub.s64 rx, y, rx;",
    "shl.b64 rx, x, 33; add.s64 rx, rx, y;",
    "cvt.s64.s32 rx, a; shl.b64 rx, rx, 5; add.s64 rx, rx, y;",
    "shr.u32 ra, a, 27; add.s32 ra, ra, b;",
    "shr.s32 ra, a, 31; shr.u32 ra, ra, 29; add.s32 ra, a, ra; shr.s32 ra, ra, 3;",
    "div.s32 ra, a, 7;",
    "div.s32 ra, a, 8;",
    "rem.s32 ra, a, 1000;",
    "div.u32 ra, a, 641;",
    "div.u64 rx, x, 1000;",
    "div.s64 rx, x, 10;",
    "mul.lo.s32 ra, a, -3; add.s32 ra, ra, b;",
)
_SELECTED = "selp.b32 ra, {}, {}, r;"
COMPARISONS = (
    *(
        f".reg .pred r; setp.{order}.{kind} r, {u}, {v}; selp.b32 ra, 11, 22, r;"
        for order in _ORDERS
        for kind in _KINDS
        for u, v in (("x", "y") if "64" in kind else ("a", "b"),)
    ),
    *(
        f".reg .pred r; setp.{order}.{op}.{kind} r, {u}, {v}, !q; selp.b32 ra, 11, 22, r;"
        for order, op, kind in (
            ("lt", "and", "s64"),
            ("ge", "or", "u64"),
            ("eq", "xor", "s64"),
            ("ne", "or", "u32"),
            ("gt", "xor", "s32"),
            ("le", "and", "u64"),
        )
        for u, v in (("x", "y") if "64" in kind else ("a", "b"),)
    ),
    *(
        f".reg .pred r, s; setp.{order}.{op}.{kind} r|s, {u}, {v}, q; selp.b32 ra, 1, 2, r;"
        " @s add.s32 ra, ra, 4;"
        for order, op, kind in (
            ("lt", "and", "s64"),
            ("ge", "or", "u64"),
            ("eq", "xor", "s32"),
            ("ne", "or", "u32"),
        )
        for u, v in (("x", "y") if "64" in kind else ("a", "b"),)
    ),
    ".reg .pred r; setp.lt.s64 r, x, 1000; selp.b32 ra, a, b, r;",
    ".reg .pred r; setp.eq.u64 r, x, 0; selp.b64 rx, y, z, r;",
    "set.lt.u32.s32 ra, a, b;",
    "set.ge.u32.u64 ra, x, y;",
    "slct.s32.s32 ra, a, b, c;",
    "selp.b64 rx, x, y, p;",
    ".reg .pred r; and.pred r, p, q; xor.pred r, r, p; selp.b32 ra, a, b, r;",
    ".reg .pred r, s; setp.gt.u32 s, d, a; or.pred r, p, q; not.pred r, r; xor.pred r, r, s;"
    " selp.b32 ra, a, b, r;",
    ".reg .pred r, s; setp.gt.u32 s, d, a; and.pred r, p, q; or.pred r, r, s;"
    " selp.b32 ra, a, b, r;",
)
_NO_ZERO = ".reg .pred r; setp.eq.{k} r, {v}, 0; selp.b{b} {d}, 7, {v}, r;"
DIVISIONS = (
    *(
        f"{_NO_ZERO.format(k=kind, v='b', b=32, d='ra')} {op}.{kind} ra, a, ra;"
        for op in ("div", "rem")
        for kind in ("s32", "u32")
    ),
    *(
        f"{_NO_ZERO.format(k=kind, v='y', b=64, d='rx')} {op}.{kind} rx, x, rx;"
        for op in ("div", "rem")
        for kind in ("s64", "u64")
    ),
)


def _statements(architecture: str) -> list[str]:
    number = int(architecture[3:])
    newer = NEWER_EXTREMA if number >= 90 else ()
    sums = [s for s in SUMS if number >= 90 or "16x2" not in s]
    found = (*sums, *EXTENDED, *PRODUCTS, *EXTREMA, *newer, *BITS, *SHIFTS, *ADDRESSES)
    usable = [s for s in found if number > 70 or "cvt.pack" not in s]
    return [*usable, *COMPARISONS, *DIVISIONS]


_CARRIED = ("sm_70", *ARCHITECTURES)
_SAMPLE = 3


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
def test_integers_are_those_of_ptx(architecture: str) -> None:
    """Sums, products, shifts, bits, comparisons: bit for bit."""
    assert_same_as_ptx(_statements(architecture), architecture, ENGINES[:1])


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", _CARRIED)
def test_a_sample_of_integers_is_that_of_ptx(architecture: str) -> None:
    """Each architecture has another third of the statements, two have it on both engines."""
    start = _CARRIED.index(architecture) % _SAMPLE
    engines = ENGINES if architecture in ("sm_80", "sm_120") else ENGINES[:1]
    assert_same_as_ptx(_statements(architecture)[start::_SAMPLE], architecture, engines)
