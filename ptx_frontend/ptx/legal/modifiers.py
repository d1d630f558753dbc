"""Whether PTX has the modifiers of an instruction, by the column `forms` of its opcode."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from kernelcast.simcore.isa.opcodes.columns import PtxForms
from kernelcast.simcore.isa.opcodes.table import Opcode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["illegal_modifiers"]

_ROUNDING = frozenset(("rn",))
"""What is no modifier where an opcode has no forms: front ends take it for harmless."""


def illegal_modifiers(
    entry: Opcode, type_: ScalarType, source: ScalarType, modifiers: Iterable[str]
) -> str:
    """What is wrong with the modifiers of an instruction; empty when PTX has it."""
    left, forms = frozenset(modifiers), entry.forms
    if forms is None:
        return _surplus(entry, type_.ptx_name, left & _ROUNDING)
    types = shown = type_.ptx_name
    if forms.of_both_types:
        shown = f"{type_.ptx_name}.{source.ptx_name}"
        types = "held" if _holds(type_, source) else f"{_class(type_)}.{_class(source)}"
    for is_needed, choices in _groups(forms, types):
        taken = [choice for choice in choices if choice <= left]
        if not taken and is_needed:
            names = " or ".join("." + ".".join(sorted(choice)) for choice in choices)
            return f"it needs {names}"
        left -= max(taken, key=len, default=frozenset())
    return _surplus(entry, shown, left) or _clash(forms, types, frozenset(modifiers))


def _surplus(entry: Opcode, types: str, left: frozenset[str]) -> str:
    return f"modifier '.{min(left)}' of {entry.name!r} of type .{types}" if left else ""


def _clash(forms: PtxForms, types: str, modifiers: frozenset[str]) -> str:
    for known, pairs in forms.apart.items():
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
def _groups(forms: PtxForms, type_name: str) -> tuple[tuple[bool, tuple[frozenset[str], ...]], ...]:
    """(whether one must stand, the choices) by group."""
    for types, groups in forms.modifiers.items():
        if type_name in types.split():
            return tuple(
                (
                    group.startswith("!"),
                    tuple(frozenset(one.split("+")) for one in group.removeprefix("!").split("|")),
                )
                for group in groups.split()
            )
    return ()
