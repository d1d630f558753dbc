"""Floating-point arithmetic as machine code: results are those of the PTX it was assembled from."""

from __future__ import annotations

from itertools import product

import pytest

from tests.ptx_frontend.sass.arithmetic.float_statements import (
    FloatStatement,
    assert_same_as_ptx,
    sample,
)
from tests.ptx_frontend.sass.native_programs import ENGINES

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_120a")
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_ORDERED = ("eq", "ne", "lt", "le", "gt", "ge", "num", "nan")
_ORDERS = (*_ORDERED, "equ", "neu", "ltu", "leu", "gtu", "geu")
_BOOLEANS = ("and", "or", "xor")
_HALVES = {
    "f16": ("rh", "ha", "hb", "hc"),
    "f16x2": ("ri", "u", "v", "w"),
    "bf16": ("rh", "ba", "bb", "bc"),
    "bf16x2": ("ri", "U", "V", "W"),
}


def _of_singles() -> list[FloatStatement]:
    found = []
    for rounding, flushes, saturates in product(_ROUNDINGS, ("", ".ftz"), ("", ".sat")):
        suffix = f"{rounding}{flushes}{saturates}.f32 rf"
        found += [FloatStatement(f"{name}.{suffix}, f, g", "f32") for name in ("add", "sub", "mul")]
        found.append(FloatStatement(f"fma.{suffix}, f, g, h", "f32"))
    texts = (
        "abs.f32 rf, f",
        "abs.ftz.f32 rf, f",
        "neg.f32 rf, f",
        "neg.ftz.f32 rf, f",
        "copysign.f32 rf, f, g",
        "selp.f32 rf, f, g, p",
        "slct.f32.f32 rf, f, g, h",
        "slct.ftz.f32.f32 rf, f, g, h",
        "mul.f32 rf, f, 0f40000000",
        "add.f32 rf, f, 0f3dcccccd",
        "fma.rn.f32 rf, f, 0f3dcccccd, h",
        "fma.rn.f32 rf, f, g, 0f7f800000",
        ".reg .f32 t; neg.f32 t, f; add.f32 rf, t, g",
        ".reg .f32 t; abs.f32 t, f; add.f32 rf, t, g",
        ".reg .f32 t; abs.f32 t, f; neg.f32 t, t; mul.f32 rf, t, g",
        ".reg .f32 t; abs.f32 t, f; min.f32 rf, t, g",
        ".reg .f32 t; abs.f32 t, f; selp.f32 rf, t, g, p",
    )
    found += [FloatStatement(text, "f32") for text in texts]
    for name in ("add", "sub", "mul"):
        found.append(FloatStatement(f"{name}.rn.f32x2 rx, xx, yy", "f32x2", 100))
        found.append(FloatStatement(f"{name}.rz.ftz.f32x2 rx, xx, yy", "f32x2", 100))
    swapped = ".reg .b32 s, t; .reg .b64 q; mov.b64 {s, t}, yy; mov.b64 q, "
    found += [
        FloatStatement("fma.rn.f32x2 rx, xx, yy, zz", "f32x2", 100),
        FloatStatement("fma.rm.ftz.f32x2 rx, xx, yy, zz", "f32x2", 100),
        FloatStatement(swapped + "{t, s}; fma.rn.f32x2 rx, q, xx, zz", "f32x2", 100),
        FloatStatement(swapped + "{t, t}; fma.rn.f32x2 rx, q, xx, zz", "f32x2", 100),
    ]
    twice = ".reg .b64 q; mov.b64 q, {0f3fb8aa3b, 0f3fb8aa3b}; "
    found += [
        FloatStatement(twice + "mul.rn.f32x2 rx, xx, q", "f32x2", 100),
        FloatStatement(twice + "fma.rn.f32x2 rx, xx, yy, q", "f32x2", 100),
    ]
    for rounding, saturates in product(_ROUNDINGS, ("", ".sat")):
        suffix = f"{rounding}{saturates}.f32"
        found += [
            FloatStatement(f"add.{suffix}.f16 rf, ha, g", "f32", 100),
            FloatStatement(f"sub.{suffix}.bf16 rf, ba, g", "f32", 100),
            FloatStatement(f"fma.{suffix}.f16 rf, ha, hb, g", "f32", 100),
            FloatStatement(f"fma.{suffix}.bf16 rf, ba, bb, g", "f32", 100),
        ]
    return found


def _of_doubles() -> list[FloatStatement]:
    texts = [
        "abs.f64 rm, m",
        "neg.f64 rm, m",
        "copysign.f64 rm, m, n",
        "min.f64 rm, m, n",
        "max.f64 rm, m, n",
        ".reg .f64 t; neg.f64 t, m; fma.rn.f64 rm, t, n, o",
        ".reg .f64 t; abs.f64 t, m; add.f64 rm, t, n",
        "add.f64 rm, m, 0d3ff199999999999a",
        "mul.f64 rm, m, 0d4000000000000000",
        "fma.rn.f64 rm, m, n, 0d3ff199999999999a",
        "selp.f64 rm, m, n, p",
    ]
    for rounding in _ROUNDINGS:
        texts += [f"{name}.{rounding}.f64 rm, m, n" for name in ("add", "sub", "mul")]
        texts.append(f"fma.{rounding}.f64 rm, m, n, o")
    return [FloatStatement(text, "f64") for text in texts]


def _of_halves() -> list[FloatStatement]:
    found = []
    for type_, (d, a, b, c) in _HALVES.items():
        is_brain = type_.startswith("bf")
        since = 90 if is_brain else 0
        for mode in ("",) if is_brain else ("", ".ftz", ".sat", ".ftz.sat"):
            for name in ("add", "sub", "mul"):
                found.append(FloatStatement(f"{name}.rn{mode}.{type_} {d}, {a}, {b}", type_, since))
                found.append(FloatStatement(f"{name}{mode}.{type_} {d}, {a}, {b}", type_, since))
            fused = FloatStatement(f"fma.rn{mode}.{type_} {d}, {a}, {b}, {c}", type_, since and 80)
            found.append(fused)
        found += [
            FloatStatement(f"fma.rn{mode}.{type_} {d}, {a}, {b}, {c}", type_, 80)
            for mode in ((".relu",) if is_brain else (".relu", ".ftz.relu"))
        ]
        found += [
            FloatStatement(f"{name}{mode}.{type_} {d}, {a}", type_, since and 80)
            for name, mode in product(("neg", "abs"), ("",) if is_brain else ("", ".ftz"))
        ]
    texts = {
        ".reg .b16 t; neg.f16 t, hb; add.f16 rh, ha, t": ("f16", 0),
        ".reg .b16 t; abs.f16 t, hb; mul.f16 rh, ha, t": ("f16", 0),
        ".reg .b16 t; mov.b16 t, 0x3c01; fma.rn.f16 rh, ha, t, hb": ("f16", 0),
        ".reg .b16 t; mov.b16 t, 3; add.f16 rh, ha, t": ("f16", 0),
        ".reg .b32 t; mov.b32 t, 0x3c013555; fma.rn.f16x2 ri, u, t, v": ("f16x2", 0),
        ".reg .b32 t; mov.b32 t, 0x3c013555; fma.rn.f16x2 ri, u, v, t": ("f16x2", 0),
        ".reg .b32 t; mov.b32 t, 0x00037c00; add.f16x2 ri, u, t": ("f16x2", 0),
        ".reg .b32 t; mov.b32 t, 0x7e007c00; mul.f16x2 ri, u, t": ("f16x2", 0),
        "mov.b32 ri, 0x7e017c00": ("raw", 0),
        ".reg .b32 t; mov.b32 t, 0x3f8142aa; fma.rn.bf16x2 ri, U, t, V": ("bf16x2", 80),
        ".reg .b32 t; mov.b32 t, 0x7f810003; fma.rn.bf16x2 ri, U, V, t": ("bf16x2", 80),
        ".reg .b32 t; mov.b32 t, 0x00400003; add.bf16x2 ri, U, t": ("bf16x2", 90),
        ".reg .b32 t; neg.f16x2 t, v; min.f16x2 ri, u, t": ("f16x2", 80),
    }
    found += [FloatStatement(text, *what) for text, what in texts.items()]
    halves = ".reg .b16 lo, hi; .reg .b32 t; mov.b32 {lo, hi}, v; mov.b32 t, "
    found += [
        FloatStatement(halves + "{lo, lo}; fma.rn.f16x2 ri, u, t, w", "f16x2"),
        FloatStatement(halves + "{hi, hi}; add.f16x2 ri, u, t", "f16x2"),
        FloatStatement(halves + "{hi, lo}; mul.f16x2 ri, u, t", "f16x2"),
    ]
    return found


def _extrema() -> list[FloatStatement]:
    found = []
    for name, flushes in product(("min", "max"), ("", ".ftz")):
        head = f"{name}{flushes}"
        found += [
            FloatStatement(f"{head}.f32 rf, f, g", "f32"),
            FloatStatement(f"{head}.NaN.f32 rf, f, g", "f32", 80),
            FloatStatement(f"{head}.xorsign.abs.f32 rf, f, g", "f32", 86),
            FloatStatement(f"{head}.NaN.xorsign.abs.f32 rf, f, g", "f32", 86),
            FloatStatement(f"{head}.f32 rf, f, g, h", "f32", 100),
            FloatStatement(f"{head}.NaN.f32 rf, f, g, h", "f32", 100),
            FloatStatement(f"{head}.NaN.abs.f32 rf, f, g, h", "f32", 100),
        ]
        for (type_, (d, a, b, _)), nan in product(_HALVES.items(), ("", ".NaN")):
            if type_.startswith("bf") and flushes:
                continue
            found.append(FloatStatement(f"{head}{nan}.{type_} {d}, {a}, {b}", type_, 80))
            signed = f"{head}{nan}.xorsign.abs.{type_} {d}, {a}, {b}"
            found.append(FloatStatement(signed, type_, 86))
    return found


def _comparisons() -> list[FloatStatement]:
    found = []
    for order in _ORDERS:
        texts = (
            f"setp.{order}.f32 rp, f, g",
            f"setp.{order}.ftz.f32 rp, f, g",
            f"setp.{order}.f64 rp, m, n",
            f"setp.{order}.f16 rp, ha, hb",
            f"setp.{order}.f16x2 rp|rq, u, v",
            f"set.{order}.f32.f32 rf, f, g",
            f"set.{order}.u32.f32 ri, f, g",
            f"set.{order}.ftz.f32.f32 rf, f, g",
            f"set.{order}.u32.f64 ri, m, n",
            f"set.{order}.f32.f64 rf, m, n",
            f"set.{order}.f16.f16 rh, ha, hb",
            f"set.{order}.f16x2.f16x2 ri, u, v",
            f"set.{order}.ftz.f16x2.f16x2 ri, u, v",
            f"set.{order}.u32.f16 ri, ha, hb",
            f"set.{order}.u32.f16x2 ri, u, v",
        )
        found += [FloatStatement(text) for text in texts]
        brain = (
            f"setp.{order}.bf16 rp, ba, bb",
            f"setp.{order}.bf16x2 rp|rq, U, V",
            f"set.{order}.bf16x2.bf16x2 ri, U, V",
            f"set.{order}.u32.bf16x2 ri, U, V",
        )
        found += [FloatStatement(text, since=90) for text in brain]
    for boolean in _BOOLEANS:
        combined = (
            f"setp.lt.{boolean}.f32 rp|rq, f, g, p",
            f"setp.neu.{boolean}.f32 rp, f, g, !p",
            f"setp.geu.{boolean}.f64 rp|rq, m, n, p",
            f"set.lt.{boolean}.f32.f32 rf, f, g, p",
            f"set.lt.{boolean}.u32.f32 ri, f, g, !p",
            f"setp.lt.{boolean}.f16x2 rp|rq, u, v, p",
            f"setp.lt.{boolean}.f16 rp, ha, hb, p",
            f"set.lt.{boolean}.f16x2.f16x2 ri, u, v, p",
        )
        found += [FloatStatement(text) for text in combined]
    classes = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    found += [FloatStatement(f"testp.{name}.f32 rp, f") for name in classes]
    found += [FloatStatement(f"testp.{name}.f64 rp, m") for name in classes]
    return found


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_arithmetic_is_that_of_ptx(architecture: str) -> None:
    statements = [*_of_singles(), *_of_doubles(), *_of_halves()]
    assert_same_as_ptx(sample(statements, architecture, ARCHITECTURES), architecture, ENGINES)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_comparisons_and_extrema_are_those_of_ptx(architecture: str) -> None:
    statements = [*_extrema(), *_comparisons()]
    assert_same_as_ptx(sample(statements, architecture, ARCHITECTURES), architecture, ENGINES)
