"""Operands of SASS as the disassembler prints them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

__all__ = [
    "ConstantOperand",
    "DescriptorOperand",
    "ImmediateOperand",
    "LabelOperand",
    "MemoryOperand",
    "NameOperand",
    "RegisterOperand",
    "SassOperand",
    "parse_operand",
]


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """A register: `file` is R, UR, P, UP, B or SB; `number` None for RZ, URZ, PT and UPT.

    `sign`: `-` negates arithmetically, `~` all bits, `!` a predicate. `parts` are what stands
    behind dots: `H0_H0`, `64`, `B1`, `ROW`, ...
    """

    file: str
    number: int | None
    sign: str = ""
    is_absolute: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImmediateOperand:
    """A number: `value` of an integer, signed; None where it is printed as a decimal fraction."""

    text: str
    value: int | None


@dataclass(frozen=True, slots=True)
class ConstantOperand:
    """A place in a constant bank, `c[bank][index + offset]`.

    `bank_register`: the uniform register that has the bank, where none is printed.
    """

    bank: int
    offset: int
    index: RegisterOperand | None = None
    bank_register: RegisterOperand | None = None
    sign: str = ""
    is_absolute: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryOperand:
    """An address, `[base + uniform + offset]`; `scale` multiplies the base.

    `is_wide`: the base has 64 bits. `descriptor`: the pair of uniform registers in front.
    """

    base: RegisterOperand | None
    uniform: RegisterOperand | None
    offset: int
    scale: int = 1
    is_wide: bool = False
    descriptor: RegisterOperand | None = None


@dataclass(frozen=True, slots=True)
class DescriptorOperand:
    """A place that a descriptor describes: `kind` is gdesc, tmem, idesc, ...; `parts` as above."""

    kind: str
    register: RegisterOperand | None
    offset: int = 0
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelOperand:
    """A place in the code or a symbol; `half` is `lo` or `hi` of its address, or empty."""

    name: str
    half: str = ""


@dataclass(frozen=True, slots=True)
class NameOperand:
    """Anything else: a special register, a texture's dimensions, a scoreboard."""

    name: str


SassOperand: TypeAlias = (
    RegisterOperand
    | ImmediateOperand
    | ConstantOperand
    | MemoryOperand
    | DescriptorOperand
    | LabelOperand
    | NameOperand
)

_REGISTER = re.compile(
    r"([-~!]?)(\|?)(UR|UP|R|P|B)(\d+|Z|T)((?:\.[A-Za-z0-9_]+)*)(\|?)((?:\.[A-Za-z0-9_]+)*)"
)
_INTEGER = re.compile(r"([-~+]?)(0x[0-9a-fA-F]+|\d+)")
_DECIMAL = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|INF|QNAN|SNAN|NAN)(?:\s|$)")
_CONSTANT = re.compile(
    r"([-~!]?)(\|?)c\[(0x[0-9a-fA-F]+|UR\d+)\]\s*\[([^\]]*)\]((?:\.[A-Za-z0-9_]+)*)(\|?)((?:\.[A-Za-z0-9_]+)*)"
)
_MEMORY = re.compile(r"(?:desc\[(UR\d+|URZ)\])?\[([^\]]*)\]")
_DESCRIBED = re.compile(r"([a-z]+)\[([^\]]*)\]((?:\.[A-Za-z0-9_]+)*)")
_LABEL = re.compile(r"`\(([^)]*)\)")
_HALF = re.compile(r"32@(lo|hi)\(+(.*?)\)+$")
_FUNCTION = re.compile(r"(?:fun|func)@(?:(lo|hi)\()?([^)]*)\)?")


@cache
def parse_operand(text: str) -> SassOperand:
    """The operand of a text without blanks around it; a NameOperand where no form fits."""
    for read in (_register, _integer, _constant, _memory, _label):
        found = read(text)
        if found is not None:
            return found
    if _DECIMAL.fullmatch(text):
        return ImmediateOperand(text.strip(), None)
    return _described(text) or NameOperand(text)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(".") if part and part != "reuse")


def _register(text: str) -> RegisterOperand | None:
    match = _REGISTER.fullmatch(text)
    if match is None:
        return None
    sign, opened, file, number, inside, closed, behind = match.groups()
    if bool(opened) != bool(closed):
        return None
    value = int(number) if number.isdigit() else None
    return RegisterOperand(file, value, sign, bool(opened), _parts(inside + behind))


def _integer(text: str) -> ImmediateOperand | None:
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, digits = match.groups()
    value = int(digits, 0)
    if sign == "-":
        value = -value
    elif sign == "~":
        value = ~value
    # a number without 0x may stand for a fraction: the instruction says which
    return ImmediateOperand(text, value)


def _constant(text: str) -> ConstantOperand | None:
    match = _CONSTANT.fullmatch(text)
    if match is None:
        return None
    sign, opened, bank, place, inside, closed, behind = match.groups()
    if bool(opened) != bool(closed):
        return None
    terms = _terms(place)
    if terms is None or len(terms[0]) > 1:
        return None
    index = terms[0][0] if terms[0] else None
    parts = _parts(inside + behind)
    if bank.startswith("UR"):
        register = _register(bank)
        return ConstantOperand(0, terms[1], index, register, sign, bool(opened), parts)
    return ConstantOperand(int(bank, 0), terms[1], index, None, sign, bool(opened), parts)


def _terms(place: str) -> tuple[list[RegisterOperand], int] | None:
    """The registers of a sum, and the number in it."""
    registers: list[RegisterOperand] = []
    offset = 0
    for term in re.findall(r"[-+]?[^-+]+", place.replace(" ", "")):
        number = _integer(term.removeprefix("+"))
        if number is not None and number.value is not None:
            offset += number.value
            continue
        register = _register(term.removeprefix("+"))
        if register is None:
            return None
        registers.append(register)
    return registers, offset


def _memory(text: str) -> MemoryOperand | None:
    match = _MEMORY.fullmatch(text)
    if match is None:
        return None
    descriptor = None if match[1] is None else _register(match[1])
    terms = _terms(match[2])
    if terms is None or len(terms[0]) > 2:
        return None
    base = next((r for r in terms[0] if r.file == "R"), None)
    uniform = next((r for r in terms[0] if r.file == "UR"), None)
    parts = base.parts if base is not None else uniform.parts if uniform is not None else ()
    scale = next((int(part[1:]) for part in parts if re.fullmatch(r"X\d+", part)), 1)
    return MemoryOperand(base, uniform, terms[1], scale, "64" in parts, descriptor)


def _label(text: str) -> LabelOperand | None:
    match = _LABEL.fullmatch(text)
    if match is not None:
        return LabelOperand(match[1].strip())
    match = _HALF.fullmatch(text)
    if match is not None:
        return LabelOperand(match[2].strip("() "), match[1])
    match = _FUNCTION.fullmatch(text)
    if match is not None:
        return LabelOperand(match[2], match[1] or "")
    return None


def _described(text: str) -> DescriptorOperand | None:
    match = _DESCRIBED.fullmatch(text)
    if match is None:
        return None
    terms = _terms(match[2])
    if terms is None or len(terms[0]) > 1:
        return None
    register = terms[0][0] if terms[0] else None
    return DescriptorOperand(match[1], register, terms[1], _parts(match[3]))
