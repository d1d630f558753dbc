"""Conversions as machine code: results are those of the PTX it was assembled from.

Where the assembler itself leaves PTX, statements are missing: it flushes no subnormal f32 that goes
to f16 with `.rm` or `.rp`, and `cvt.rna.tf32` makes infinities of NaNs of a short payload.
"""

from __future__ import annotations

from itertools import product

import pytest

from tests.ptx_frontend.sass.arithmetic.float_statements import (
    FloatStatement,
    assert_same_as_ptx,
    sample,
)
from tests.ptx_frontend.sass.native_programs import ENGINES

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_120a")
_ROUNDINGS, _INTEGRAL = ("rn", "rz", "rm", "rp"), ("rni", "rzi", "rmi", "rpi")
_INTEGERS = {
    "s32": ("ri", "i"),
    "u32": ("ri", "i"),
    "s64": ("rx", "x"),
    "u64": ("rx", "x"),
    "s16": ("rh", "si"),
    "u16": ("rh", "si"),
    "s8": ("ri", "i"),
    "u8": ("ri", "i"),
}
_FLOATS = {"f32": ("rf", "f"), "f64": ("rm", "m"), "f16": ("rh", "ha"), "bf16": ("rh", "ba")}
_ONLY_BLACKWELL = 100


def _integers() -> list[FloatStatement]:
    found = []
    for (integer, (wide, source)), (kind, (d, a)) in product(_INTEGERS.items(), _FLOATS.items()):
        if kind == "bf16" and integer.endswith("8"):
            continue
        since = 90 if kind == "bf16" else 0
        for rounding in _ROUNDINGS:
            text = f"cvt.{rounding}.{kind}.{integer} {d}, {source}"
            found.append(FloatStatement(text, kind, since))
        for rounding, flushes in product(_INTEGRAL, ("", ".ftz") if kind == "f32" else ("",)):
            text = f"cvt.{rounding}{flushes}.{integer}.{kind} {wide}, {a}"
            found.append(FloatStatement(text, since=since))
    return found


def _floats() -> list[FloatStatement]:
    found = []
    for rounding in _INTEGRAL:
        for kind, (d, a) in _FLOATS.items():
            since = 90 if kind == "bf16" else 0
            found.append(FloatStatement(f"cvt.{rounding}.{kind}.{kind} {d}, {a}", kind, since))
        found.append(FloatStatement(f"cvt.{rounding}.ftz.f32.f32 rf, f", "f32"))
        found.append(FloatStatement(f"cvt.{rounding}.sat.f32.f32 rf, f", "f32"))
    for rounding in _ROUNDINGS:
        found += [
            FloatStatement(f"cvt.{rounding}.f32.f64 rf, m", "f32"),
            FloatStatement(f"cvt.{rounding}.sat.f32.f64 rf, m", "f32"),
            FloatStatement(f"cvt.{rounding}.f16.f64 rh, m", "f16"),
            FloatStatement(f"cvt.{rounding}.f16.f32 rh, f", "f16"),
            FloatStatement(f"cvt.{rounding}.sat.f16.f32 rh, f", "f16"),
            FloatStatement(f"cvt.{rounding}.bf16.f64 rh, m", "bf16", 90),
            FloatStatement(f"cvt.{rounding}.f16.bf16 rh, ba", "f16", 90),
            FloatStatement(f"cvt.{rounding}.bf16.f16 rh, ha", "bf16", 90),
            FloatStatement(f"cvt.{rounding}.bf16.f32 rh, f", "bf16", 90),
        ]
    exact = {
        "cvt.f64.f32 rm, f": "f64",
        "cvt.ftz.f64.f32 rm, f": "f64",
        "cvt.f64.f16 rm, ha": "f64",
        "cvt.sat.f64.f64 rm, m": "f64",
        "cvt.f32.f16 rf, ha": "f32",
        "cvt.ftz.f32.f16 rf, ha": "f32",
        "cvt.sat.f32.f16 rf, ha": "f32",
        "cvt.sat.f32.f32 rf, f": "f32",
        "cvt.ftz.f32.f32 rf, f": "f32",
        "cvt.sat.f16.f16 rh, ha": "f16",
    }
    found += [FloatStatement(text, kind) for text, kind in exact.items()]
    found.append(FloatStatement("cvt.f32.bf16 rf, ba", "f32", 90))
    found.append(FloatStatement("cvt.f64.bf16 rm, ba", "f64", 90))
    return found


def _packed() -> list[FloatStatement]:
    found = []
    for rounding, relu, finite in product(("rn", "rz"), ("", ".relu"), ("", ".satfinite")):
        modes = f"{rounding}{relu}{finite}"
        for kind in ("f16", "bf16"):
            text = f"cvt.{modes}.{kind}x2.f32 ri, f, g"
            found.append(FloatStatement(text, f"{kind}x2", 80))
            found.append(FloatStatement(f"cvt.{modes}.{kind}.f32 rh, f", kind, 80))
        since = _ONLY_BLACKWELL if finite else 90
        found.append(FloatStatement(f"cvt.{modes}.tf32.f32 ri, f", "f32", since))
    for relu in ("", ".relu"):
        for kind in ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2"):
            since = 89 if kind in ("e4m3x2", "e5m2x2") else _ONLY_BLACKWELL
            found.append(FloatStatement(f"cvt.rn{relu}.f16x2.{kind} ri, si", "f16x2", since))
            text = f"cvt.rn.satfinite{relu}.{kind}.f32 rh, f, g"
            found.append(FloatStatement(text, since=since))
            if since == 89:
                text = f"cvt.rn.satfinite{relu}.{kind}.f16x2 rh, u"
                found.append(FloatStatement(text, since=since))
        found += [
            FloatStatement(
                f".reg .b8 t; cvt.rn.satfinite{relu}.e2m1x2.f32 t, f, g; cvt.u32.u8 ri, t",
                since=_ONLY_BLACKWELL,
            ),
            FloatStatement(
                f".reg .b8 t; cvt.u8.u32 t, i; cvt.rn{relu}.f16x2.e2m1x2 ri, t",
                "f16x2",
                _ONLY_BLACKWELL,
            ),
        ]
    found += [
        FloatStatement("cvt.rz.satfinite.ue8m0x2.f32 rh, f, g", since=_ONLY_BLACKWELL),
        FloatStatement("cvt.rp.satfinite.ue8m0x2.f32 rh, f, g", since=_ONLY_BLACKWELL),
        FloatStatement("cvt.rp.satfinite.ue8m0x2.bf16x2 rh, U", since=_ONLY_BLACKWELL),
        FloatStatement("cvt.rn.bf16x2.ue8m0x2 ri, si", "bf16x2", _ONLY_BLACKWELL),
        FloatStatement(
            ".reg .b16 s, t; cvt.rn.satfinite.e4m3x2.f32 s, f, g;"
            " cvt.rn.satfinite.e4m3x2.f32 t, g, h; mov.b32 ri, {s, t}",
            since=89,
        ),
        FloatStatement(
            ".reg .b16 s, t; mov.b32 {s, t}, i; cvt.rn.f16x2.e5m2x2 ri, t", "f16x2", since=89
        ),
    ]
    return found


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_conversions_of_integers_are_those_of_ptx(architecture: str) -> None:
    assert_same_as_ptx(sample(_integers(), architecture, ARCHITECTURES), architecture, ENGINES)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_conversions_of_floats_are_those_of_ptx(architecture: str) -> None:
    statements = [*_floats(), *_packed()]
    assert_same_as_ptx(sample(statements, architecture, ARCHITECTURES), architecture, ENGINES)


def test_conversions_that_round_at_random() -> None:
    """The bits that decide stand in the last operand."""
    statements = [
        FloatStatement(f"cvt.rs{modes}.{kind}x2.f32 ri, f, g, i", f"{kind}x2")
        for modes, kind in product(("", ".relu", ".satfinite"), ("f16", "bf16"))
    ]
    assert_same_as_ptx(statements, "sm_100a", ENGINES)
