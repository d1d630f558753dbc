"""Video instructions: what selects parts of words moves from operands and types into modifiers."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Operand
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.opcodes.video import (
    COMPARISONS,
    PACKED_VIDEO,
    SCALAR_VIDEO,
    SECOND_OPERATIONS,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["VIDEO_ROOTS", "lower_video"]

VIDEO_ROOTS = frozenset((*SCALAR_VIDEO, *(f"{x}{n}" for x in PACKED_VIDEO for n in (2, 4))))
_WORD = r"[us]32"
_SECOND = f"(?P<second>{'|'.join(SECOND_OPERATIONS)})"
_TYPES = rf"(?P<d>{_WORD})\.(?P<a>{_WORD})\.(?P<b>{_WORD})"
_COMPARED = rf"(?P<a>{_WORD})\.(?P<b>{_WORD})\.(?P<own>{'|'.join(COMPARISONS)})"
_SCALAR = {
    "vset": rf"{_COMPARED}(\.{_SECOND})?",
    **dict.fromkeys(
        ("vshl", "vshr"),
        rf"(?P<d>{_WORD})\.(?P<a>{_WORD})\.(?P<b>u32)(\.(?P<sat>sat))?"
        rf"\.(?P<own>clamp|wrap)(\.{_SECOND})?",
    ),
    "vmad": rf"{_TYPES}(\.(?P<own>po))?(\.(?P<sat>sat))?(\.(?P<scale>shr7|shr15))?",
}
_SIMPLE = rf"{_TYPES}(\.(?P<sat>sat))?(\.{_SECOND})?"
_PACKED = rf"{_TYPES}(\.(?P<sat>sat)|\.(?P<second>add))?"
_PACKED_SET = rf"{_COMPARED}(\.(?P<second>add))?"
_PART = re.compile(r"b[0-3]|h[01]")
_PACKED_PARTS = {
    # of a result, which are written; of an operand, which of both are read
    2: (re.compile(r"h(10|1|0)"), re.compile(r"h[0-3]{2}")),
    4: (re.compile(r"b(?=.)3?2?1?0?"), re.compile(r"b[0-7]{4}")),
}
_OPERANDS = 4
_ZERO = Immediate(0)


@dataclass(frozen=True, slots=True)
class _Form:
    root: str
    modifiers: frozenset[str]
    has_second: bool
    parts: int
    """Parts of a packed instruction; 0 of a scalar one."""


@cache
def _form(mnemonic: str) -> _Form | Refusal:
    root, _, rest = mnemonic.partition(".")
    parts = int(root[-1]) if root[-1].isdigit() else 0
    if parts:
        pattern = _PACKED_SET if root.startswith("vset") else _PACKED
    else:
        pattern = _SCALAR.get(root, _SIMPLE)
    found = re.fullmatch(pattern, rest)
    if found is None:
        return Refusal.of(mnemonic, f"no form of {root!r} fits")
    groups = found.groupdict()
    types = {f"{x}.{groups[x]}" for x in "dab" if groups.get(x)}
    others = {groups[name] for name in ("sat", "own", "scale", "second") if groups.get(name)}
    return _Form(root, frozenset(types | others), bool(groups.get("second")), parts)


def lower_video(site: Site) -> list[Compute]:
    """One instruction; the third operand is 0 where the source has none."""
    form = _form(site.mnemonic)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    operands, selectors = _taken_apart(site, form)
    target = any(name.startswith("d.") for name in selectors)
    needs_third = form.parts or form.root == "vmad" or form.has_second or target
    site.expect_operands(_OPERANDS if needs_third else _OPERANDS - 1)
    if target and form.has_second and not form.parts:
        raise site.error("either a part of the result or a second operation", 0)
    word = ScalarType.U32
    sources: list[Operand] = [
        site.source(operand, index, word) for index, operand in enumerate(operands[1:], start=1)
    ]
    compute = Compute(
        **site.fields(),
        opcode=OPCODES[form.root],
        type=word,
        source_type=word,
        destinations=(site.destination(operands[0], 0, word),),
        sources=tuple(sources) if needs_third else (*sources, _ZERO),
        modifiers=form.modifiers | selectors,
    )
    return [compute]


def _taken_apart(site: Site, form: _Form) -> tuple[list[syntax.Operand], frozenset[str]]:
    """The operands without selectors and signs, and these as modifiers."""
    operands: list[syntax.Operand] = []
    modifiers: set[str] = set()
    for letter, operand in zip("dabc", site.operands, strict=False):
        if isinstance(operand, syntax.OppositeOperand):
            modifiers.add(f"-{letter}")
            operand = syntax.NameOperand(operand.name)
        if isinstance(operand, syntax.NameOperand) and (letter != "c") and "." in operand.name:
            name, _, selector = operand.name.rpartition(".")
            if _is_selector(form, letter, selector):
                modifiers.add(f"{letter}.{selector}")
                operand = syntax.NameOperand(name)
        operands.append(operand)
    _check_signs(site, form, modifiers)
    return operands, frozenset(modifiers)


def _is_selector(form: _Form, letter: str, text: str) -> bool:
    if not form.parts:
        return _PART.fullmatch(text) is not None and not (form.root == "vmad" and letter == "d")
    written, read = _PACKED_PARTS[form.parts]
    return (written if letter == "d" else read).fullmatch(text) is not None


def _check_signs(site: Site, form: _Form, modifiers: Collection[str]) -> None:
    """Only `vmad` takes signs, of its product or its addend, and not with `.po`."""
    signs = sorted(modifier for modifier in modifiers if modifier.startswith("-"))
    is_wrong = form.root != "vmad" or "po" in form.modifiers or "-d" in signs
    of_product = ("-a" in signs) != ("-b" in signs)
    if signs and (is_wrong or (of_product and "-c" in signs)):
        raise site.error(f"{site.mnemonic!r} cannot take a sign here")
