"""A listing of `nvdisasm -c` to statements, by section of the cubin.

Lines are instructions (`/*0010*/ @P0 FADD R1, R2, R3 ;`), labels, places in the sources
(`//## File "..", line N`) and directives, which say nothing that the container does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand, SassOperand, parse_operand

__all__ = ["Listing", "Section", "Statement", "read_listing"]

_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*)")
_LABEL = re.compile(r"([$.\w@]+):\s*$")
_SECTION = re.compile(r"\s*\.section\s+([^,\s]+)")
_PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_GUARD = re.compile(r"@(!?)(UP|P)(\d+|T)\s+")
_TARGETS = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')
_COMMENT = re.compile(r"\(\*.*?\*\)|/\*.*?\*/")
_TEXT_SECTION = ".text."
_PTX_FILE = ".nv_debug_ptx_txt"


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction: `address` in bytes from the section's beginning, 128 bits of encoding.

    `targets`: labels that an indirect branch may go to. `ptx_line` and `source`: where in the PTX
    and in the higher-level source it comes from, 0 and ("", 0) when that is not known. `text`: the
    instruction as it is listed.
    """

    address: int
    mnemonic: str
    operands: tuple[SassOperand, ...]
    guard: RegisterOperand | None = None
    targets: tuple[str, ...] = ()
    encoding: int = 0
    ptx_line: int = 0
    source: tuple[str, int] = ("", 0)
    text: str = ""

    @property
    def opcode(self) -> str:
        """The mnemonic without modifiers."""
        return self.mnemonic.split(".", 1)[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """What stands behind the opcode's dots."""
        return tuple(self.mnemonic.split(".")[1:])

    @property
    def immediate_word(self) -> int:
        """The 32 bits of the encoding that hold an immediate operand, exact where text rounds."""
        return self.encoding >> 32 & 0xFFFFFFFF


@dataclass(slots=True)
class Section:
    """The code of one `.text` section; `labels` are addresses by name.

    `returning`: whether the code at an address returns to a caller, as far as that was asked.
    """

    name: str
    statements: list[Statement] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    returning: dict[int, bool] = field(default_factory=dict)

    def target(self, label: str) -> int | None:
        """The address of a label of this section."""
        return self.labels.get(label)


Listing = Mapping[str, Section]
"""Sections by the name of their function."""


def read_listing(text: str, codes: Mapping[str, bytes], path: str) -> Listing:
    """The statements of every section of code; `codes` are the sections' bytes by function.

    InputError for a line that stands for no instruction of the sections' bytes.
    """
    found: dict[str, Section] = {}
    section: Section | None = None
    ptx_line, source = 0, ("", 0)
    for line in text.split("\n"):
        if (named := _SECTION.match(line)) is not None:
            section = _section(named[1].strip('"'), found)
            ptx_line, source = 0, ("", 0)
        if section is None:
            continue
        if (place := _PLACE.match(line)) is not None:
            if place[1] == _PTX_FILE:
                ptx_line = int(place[2])
            elif "inlined" not in line:
                source = (place[1], int(place[2]))
        elif (match := _INSTRUCTION.match(line)) is not None:
            address = int(match[1], 16)
            code = codes.get(section.name, b"")
            encoding = int.from_bytes(code[address : address + 16], "little")
            if address + 16 > len(code):
                raise InputError(f"{path}: the listing of {section.name!r} is longer than its code")
            section.statements.append(_statement(match[2], address, encoding, ptx_line, source))
        elif (label := _LABEL.match(line)) is not None:
            here = section.statements[-1].address + 16 if section.statements else 0
            section.labels[label[1]] = here
    return found


def _section(name: str, found: dict[str, Section]) -> Section | None:
    if not name.startswith(_TEXT_SECTION):
        return None
    function = name.removeprefix(_TEXT_SECTION)
    return found.setdefault(function, Section(function))


def _statement(
    text: str, address: int, encoding: int, ptx_line: int, source: tuple[str, int]
) -> Statement:
    targets: tuple[str, ...] = ()
    if (listed := _TARGETS.search(text)) is not None:
        targets = tuple(name.strip() for name in listed[1].split(","))
    text = listed_text = _COMMENT.sub("", text).strip().removesuffix(";").strip()
    guard = None
    if (guarded := _GUARD.match(text)) is not None:
        number = int(guarded[3]) if guarded[3].isdigit() else None
        guard = RegisterOperand(guarded[2], number, guarded[1])
        text = text[guarded.end() :]
    mnemonic, _, rest = text.partition(" ")
    operands = tuple(parse_operand(item) for item in _split(rest))
    return Statement(
        address, mnemonic, operands, guard, targets, encoding, ptx_line, source, listed_text
    )


def _split(text: str) -> Iterator[str]:
    """The operands; commas inside of brackets separate none, and some have only a blank between."""
    depth, start = 0, 0
    for position, letter in enumerate(text):
        if letter in "[(":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth == 0:
            yield from _words(text[start:position])
            start = position + 1
    yield from _words(text[start:])


_BETWEEN = re.compile(r"\s+(?=[-`R(0c])")


def _words(text: str) -> Iterator[str]:
    """`R2 -0x9a0` and ``R4 `(k)`` are two operands; `c[0x0] [0x160]` and `+INF ` are one."""
    text = text.strip()
    if not text:
        return
    if text.startswith(("c[", "-c[", "~c[", "|c[", "-|c[", "!c[")) or "[" in text:
        yield text.replace("] [", "][")
        return
    yield from _BETWEEN.split(text)
