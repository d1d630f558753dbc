"""Which modifiers PTX has for its instructions, by type: the table of opcodes executes more.

PTX ISA 9.0, chapter 9.7, the syntax lines of each instruction; how they are written down stands at
`PtxForms`.
"""

from __future__ import annotations

from kernelcast.simcore.isa.opcodes.columns import PtxForms

__all__ = [
    "APPROXIMATED",
    "CONVERSION",
    "EXTREMUM",
    "EXTREMUM_OF_THREE",
    "FLUSHED",
    "FUSED",
    "GUARDED",
    "HIGH_SUM",
    "INTEGER_PACKING",
    "INVERSE_ROOT",
    "MIXED_FUSED",
    "MIXED_SUM",
    "PACKING",
    "POWER",
    "PRODUCT",
    "PRODUCT_SUM",
    "QUOTIENT",
    "RANDOM_FOUR",
    "RANDOM_PAIR",
    "RECIPROCAL",
    "ROOT",
    "SUM",
    "TANGENT",
]

_ROUND = "rn|rz|rm|rp"
_MUST_ROUND = f"!{_ROUND}"
_TO_INTEGRAL = "rni|rzi|rmi|rpi"
_OF_FLOATS = {
    "f16 f16x2": "rn ftz sat",
    "bf16 bf16x2": "rn",
    "f32": f"{_ROUND} ftz sat",
    "f64": _ROUND,
    "f32x2": f"{_ROUND} ftz",
}
SUM = PtxForms({"s32": "sat", **_OF_FLOATS})
PRODUCT = PtxForms(_OF_FLOATS)
FUSED = PtxForms(
    {
        "f16 f16x2": "!rn ftz sat|relu",
        "bf16 bf16x2": f"{_MUST_ROUND} relu",
        "f32": f"{_MUST_ROUND} ftz sat",
        "f64": _MUST_ROUND,
        "f32x2": f"{_MUST_ROUND} ftz",
    }
)
GUARDED = PtxForms({"f16 f16x2": "!rn sat|relu", "bf16 bf16x2": f"{_MUST_ROUND} relu"})
PRODUCT_SUM = PtxForms({"f32": f"{_MUST_ROUND} ftz sat", "f64": _MUST_ROUND})
HIGH_SUM = PtxForms({"s32": "sat"})
QUOTIENT = PtxForms({"f32": f"{_MUST_ROUND}|approx|full ftz", "f64": _MUST_ROUND})
RECIPROCAL = PtxForms({"f32": f"{_MUST_ROUND}|approx ftz", "f64": f"{_MUST_ROUND}|approx+ftz ftz"})
ROOT = PtxForms({"f32": f"{_MUST_ROUND}|approx ftz", "f64": _MUST_ROUND})
INVERSE_ROOT = PtxForms({"f32 f64": "!approx ftz"})
EXTREMUM = PtxForms(
    {
        "s32 s16x2": "relu",
        "f16 f16x2 f32": "ftz NaN xorsign+abs",
        "bf16 bf16x2": "NaN xorsign+abs",
    }
)
EXTREMUM_OF_THREE = PtxForms({"f32": "ftz NaN abs"})
FLUSHED = PtxForms({"f16 f16x2 f32": "ftz"})
POWER = PtxForms({"f32": "!approx ftz", "f16 f16x2": "!approx", "bf16 bf16x2": "!approx+ftz"})
APPROXIMATED = PtxForms({"f32": "!approx ftz"})
TANGENT = PtxForms({"f16 f16x2 bf16 bf16x2 f32": "!approx"})
MIXED_SUM = PtxForms({"f32": f"{_ROUND} sat"})
MIXED_FUSED = PtxForms({"f32": f"{_MUST_ROUND} sat"})
CONVERSION = PtxForms(
    {
        "int.int f64.f16": "sat",
        "int.f16 int.f64": f"!{_TO_INTEGRAL} sat",
        "int.f32": f"!{_TO_INTEGRAL} ftz sat",
        "int.bf16": f"!{_TO_INTEGRAL}",
        "f16.int f64.int f16.f64": f"{_MUST_ROUND} sat",
        "f32.int f32.f64": f"{_MUST_ROUND} ftz sat",
        "bf16.int bf16.f64": _MUST_ROUND,
        "f16.f16 f64.f64": f"{_TO_INTEGRAL} sat",
        "f32.f32": f"{_TO_INTEGRAL} ftz sat",
        "bf16.bf16": _TO_INTEGRAL,
        "f16.f32": f"{_MUST_ROUND} ftz sat|relu+satfinite|relu|satfinite",
        "bf16.f32": f"{_MUST_ROUND} ftz relu satfinite",
        "f32.f16 f64.f32": "ftz sat",
        "f32.bf16": f"{_ROUND} ftz",
        "f16.bf16 f64.bf16 bf16.f16": _ROUND,
        "tf32.f32": "!rn|rz|rna relu satfinite",
    },
    apart={
        "f16.f32 bf16.f32": "rm+relu rp+relu rm+satfinite rp+satfinite ftz+relu ftz+satfinite",
        "tf32.f32": "rna+relu",
    },
    of_both_types=True,
)
_NARROW = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2")
_HALF_PAIRS = ("f16x2", "bf16x2")
PACKING = PtxForms(
    {
        "f16x2.f32 bf16x2.f32": "!rn|rz relu satfinite",
        " ".join(f"{to}.{by}" for to in _NARROW for by in ("f32", *_HALF_PAIRS)): (
            "!rn relu !satfinite"
        ),
        " ".join(f"{to}.{by}" for to in _HALF_PAIRS for by in _NARROW): "!rn relu",
        "ue8m0x2.f32 ue8m0x2.bf16x2": "!rz|rp satfinite",
        "bf16x2.ue8m0x2": "!rn",
    },
    of_both_types=True,
)
INTEGER_PACKING = PtxForms({"held": "!sat"}, of_both_types=True)
RANDOM_PAIR = PtxForms({"f16x2.f32 bf16x2.f32": "relu satfinite"}, of_both_types=True)
RANDOM_FOUR = PtxForms(
    {" ".join(f"{type_[:-1]}4.f32" for type_ in _NARROW): "relu !satfinite"}, of_both_types=True
)
