"""Which modifiers PTX has for an instruction of a type: the table of opcodes executes more.

PTX ISA 9.0, chapter 9.7, the syntax lines of each instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from kernelcast.simcore.isa.opcodes.integer_packing import PACKED_INTEGERS
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["illegal_modifiers"]

_ROUND = "rn|rz|rm|rp"
_MUST_ROUND = f"!{_ROUND}"
_SUM = {
    "s32": "sat",
    "f16 f16x2": "rn ftz sat",
    "bf16 bf16x2": "rn",
    "f32": f"{_ROUND} ftz sat",
    "f64": _ROUND,
    "f32x2": f"{_ROUND} ftz",
}
_EXTREMUM = {
    "s32 s16x2": "relu",
    "f16 f16x2 f32": "ftz NaN xorsign+abs",
    "bf16 bf16x2": "NaN xorsign+abs",
}
_FLUSHED = {"f16 f16x2 f32": "ftz"}
_APPROXIMATED = {"f32": "!approx ftz"}
_TO_INTEGRAL = "rni|rzi|rmi|rpi"
_CONVERSIONS = {
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
}
_APART = {
    "f16.f32 bf16.f32": "rm+relu rp+relu rm+satfinite rp+satfinite ftz+relu ftz+satfinite",
    "tf32.f32": "rna+relu",
}
"""Modifiers of conversions that do not stand together."""
_NARROW = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2")
_HALF_PAIRS = ("f16x2", "bf16x2")
_PAIRS = {
    "f16x2.f32 bf16x2.f32": "!rn|rz relu satfinite",
    " ".join(f"{to}.{by}" for to in _NARROW for by in ("f32", *_HALF_PAIRS)): (
        "!rn relu !satfinite"
    ),
    " ".join(f"{to}.{by}" for to in _HALF_PAIRS for by in _NARROW): "!rn relu",
    "ue8m0x2.f32 ue8m0x2.bf16x2": "!rz|rp satfinite",
    "bf16x2.ue8m0x2": "!rn",
}
_FOURS = " ".join(f"{type_[:-1]}4.f32" for type_ in _NARROW)
_MIXED = {"f32": f"{_ROUND} sat"}
_FORMS: Mapping[str, Mapping[str, str]] = {
    "add": _SUM,
    "sub": _SUM,
    "mul": {types: forms for types, forms in _SUM.items() if types != "s32"},
    "fma": {
        "f16 f16x2": "!rn ftz sat|relu",
        "bf16 bf16x2": f"{_MUST_ROUND} relu",
        "f32": f"{_MUST_ROUND} ftz sat",
        "f64": _MUST_ROUND,
        "f32x2": f"{_MUST_ROUND} ftz",
    },
    "fma.oob": {"f16 f16x2": "!rn sat|relu", "bf16 bf16x2": f"{_MUST_ROUND} relu"},
    "mad": {"f32": f"{_MUST_ROUND} ftz sat", "f64": _MUST_ROUND},
    "mad.hi": {"s32": "sat"},
    "mad24.hi": {"s32": "sat"},
    "div": {"f32": f"{_MUST_ROUND}|approx|full ftz", "f64": _MUST_ROUND},
    "rcp": {"f32": f"{_MUST_ROUND}|approx ftz", "f64": f"{_MUST_ROUND}|approx+ftz ftz"},
    "sqrt": {"f32": f"{_MUST_ROUND}|approx ftz", "f64": _MUST_ROUND},
    "rsqrt": {"f32 f64": "!approx ftz"},
    "min": _EXTREMUM,
    "max": _EXTREMUM,
    "min.three": {"f32": "ftz NaN abs"},
    "max.three": {"f32": "ftz NaN abs"},
    "neg": _FLUSHED,
    "abs": _FLUSHED,
    "ex2": {"f32": "!approx ftz", "f16 f16x2": "!approx", "bf16 bf16x2": "!approx+ftz"},
    "lg2": _APPROXIMATED,
    "sin": _APPROXIMATED,
    "cos": _APPROXIMATED,
    "tanh": {"f16 f16x2 bf16 bf16x2 f32": "!approx"},
    "add.mixed": _MIXED,
    "sub.mixed": _MIXED,
    "fma.mixed": {"f32": f"{_MUST_ROUND} sat"},
    "cvt": _CONVERSIONS,
    "cvt.pair": _PAIRS,
    "cvt.packed": _PAIRS,
    **{f"cvt.pack.{name}": {"held": "!sat"} for name in PACKED_INTEGERS},
    "cvt.pair.rs": {"f16x2.f32 bf16x2.f32": "relu satfinite"},
    "cvt.four.rs": {_FOURS: "relu !satfinite"},
}
"""Entry of the table of opcodes -> types -> groups of modifiers of which one or none may stand; of
those after `!` one must. `+` joins modifiers that stand together. Other types have none.

Conversions have both types, `int` for all integers."""


def illegal_modifiers(
    entry: str, type_: ScalarType, source: ScalarType, modifiers: Iterable[str]
) -> str:
    """What is wrong with the modifiers of an instruction; empty when PTX has it."""
    types = shown = type_.ptx_name
    if entry.startswith("cvt"):
        shown = f"{type_.ptx_name}.{source.ptx_name}"
        types = "held" if _holds(type_, source) else f"{_class(type_)}.{_class(source)}"
    left = frozenset(modifiers)
    if entry not in _FORMS:
        left &= frozenset(("rn",))
    for is_needed, choices in _groups(entry, types):
        taken = [choice for choice in choices if choice <= left]
        if not taken and is_needed:
            names = " or ".join("." + ".".join(sorted(choice)) for choice in choices)
            return f"it needs {names}"
        left -= max(taken, key=len, default=frozenset())
    if left:
        return f"modifier '.{min(left)}' of {entry!r} of type .{shown}"
    return _clash(types, frozenset(modifiers)) if entry == "cvt" else ""


def _clash(types: str, modifiers: frozenset[str]) -> str:
    for known, pairs in _APART.items():
        if types in known.split():
            for pair in pairs.split():
                first, second = pair.split("+")
                if {first, second} <= modifiers:
                    return f"modifiers '.{first}' and '.{second}' do not stand together"
    return ""


def _holds(target: ScalarType, source: ScalarType) -> bool:
    """Whether one integer type holds all numbers of another: nothing is there to saturate."""
    if not (target.is_integer and source.is_integer):
        return False
    if target.is_signed == source.is_signed:
        return target.bits >= source.bits
    return target.is_signed and target.bits > source.bits


def _class(type_: ScalarType) -> str:
    return "int" if type_.is_integer else type_.ptx_name


@cache
def _groups(entry: str, type_name: str) -> tuple[tuple[bool, tuple[frozenset[str], ...]], ...]:
    """(whether one must stand, the choices) by group."""
    for types, groups in _FORMS.get(entry, {}).items():
        if type_name in types.split():
            return tuple(
                (
                    group.startswith("!"),
                    tuple(frozenset(one.split("+")) for one in group.removeprefix("!").split("|")),
                )
                for group in groups.split()
            )
    return ()
