"""Reads the assembly text that LLVM prints of a kernel for AMD's GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from kernelcast.errors import InputError, SourceSpan
from kernelcast.ptx_frontend.amdgcn.constant_data import constants_of

__all__ = ["AsmInstruction", "AsmKernel", "read_kernel"]

_LABEL = re.compile(r"^([\w.$]+):")
_PLACES = re.compile(r"^\t\.loc\t[^;]*;\s*(?P<places>\S.*)")
_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+)(?: @\[ |[ \]]*$)")
_OUR_HEADERS = "/inputs/amd/headers/"
"""Files that stand for ROCm's headers: what they inline is of the line that uses them."""
_INSTRUCTION = re.compile(r"^\t(?P<opcode>[a-z]\w*)(?:[ \t]+(?P<rest>[^;]*?))?\s*(?:;.*)?$")
_ALIGNED = re.compile(r"^\t\.p2align\t(\d+)")
_DIRECTIVE = re.compile(r"^\t\t\.amdhsa_(\w+) (\d+)", re.MULTILINE)
_ENCODING = re.compile(r"_(?:e32|e64|sdwa|dpp|e64_dpp)$")
_WORD = re.compile(
    r"^[a-z_0-9]+:|^(?!sext)\w+\(|^(?:glc|slc|dlc|scc|sc0|sc1|nt|gds|lds|clamp|idxen|offen"
    r"|row_mirror|row_half_mirror)$"
)
_TOGETHER = " :: "
"""What stands between two instructions that are issued as one."""
_SPLIT = re.compile(r",\s*(?![^\[\]]*\])(?![^()]*\))")


@dataclass(frozen=True, slots=True)
class AsmInstruction:
    """`opcode` is without the name of its encoding; `modifiers` are what follows the operands.

    `labels` stand before the instruction. `partner` is issued with it, as one: both read their
    operands before either writes; `mnemonic` names both. It begins at a multiple of `alignment`
    bytes from the beginning of the kernel.
    """

    opcode: str
    mnemonic: str
    operands: tuple[str, ...]
    modifiers: Mapping[str, str]
    labels: tuple[str, ...]
    span: SourceSpan
    origin: SourceSpan | None
    partner: AsmInstruction | None = None
    alignment: int = 1

    @property
    def returns_old(self) -> bool:
        """Whether a modifier of an atomic asks for what was there."""
        has_word = "glc" in self.modifiers or "sc0" in self.modifiers
        return has_word or "RETURN" in self.modifiers.get("th", "")


@dataclass(frozen=True, slots=True)
class AsmKernel:
    """`settings` are the numbers of the kernel's descriptor, `next_free_vgpr` among them.

    `constants`: what the text holds besides, bytes by name.
    """

    instructions: tuple[AsmInstruction, ...]
    settings: Mapping[str, int]
    constants: Mapping[str, bytes] = field(default_factory=dict)


def read_kernel(text: str, name: str, path: str) -> AsmKernel:
    """One kernel of an assembly text, which messages call `path`; InputError where it is not."""
    lines = text.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith(f"{name}:")), None)
    begin = text.find(f"\t.amdhsa_kernel {name}\n")
    if start is None or begin < 0:
        raise InputError(f"{path}: the code has no kernel {name!r}")
    descriptor = text[begin : text.find("\t.end_amdhsa_kernel", begin)]
    settings = {key: int(number) for key, number in _DIRECTIVE.findall(descriptor)}
    instructions = tuple(_instructions(lines, start + 1, path))
    return AsmKernel(instructions, settings, constants_of(text))


def _instructions(lines: list[str], start: int, path: str) -> Iterator[AsmInstruction]:
    labels: list[str] = []
    alignment, origin = 1, None
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith((".Lfunc_end", "\t.section")):
            return
        if label := _LABEL.match(line):
            labels.append(label[1])
        elif aligned := _ALIGNED.match(line):
            alignment = 1 << int(aligned[1])
        elif places := _PLACES.match(line):
            origin = _origin(places["places"])
        elif (found := _INSTRUCTION.match(line)) and not found["opcode"].startswith("."):
            span = SourceSpan(path, number, 2, len(line.strip()), line.strip())
            whole = f"{found['opcode']} {found['rest'] or ''}"
            instruction = _instruction(whole, tuple(labels), span, origin)
            yield replace(instruction, alignment=alignment)
            labels, alignment = [], 1


def _instruction(
    text: str, labels: tuple[str, ...], span: SourceSpan, origin: SourceSpan | None
) -> AsmInstruction:
    own, is_dual, other = text.partition(_TOGETHER)
    mnemonic, _, rest = own.partition(" ")
    operands, modifiers = _operands(rest)
    opcode, partner = _ENCODING.sub("", mnemonic), None
    if is_dual:
        partner = _instruction(other.strip(), (), span, origin)
        mnemonic = f"{mnemonic}::{partner.mnemonic}"
    return AsmInstruction(opcode, mnemonic, operands, modifiers, labels, span, origin, partner)


def _origin(places: str) -> SourceSpan | None:
    """`header.h:21:1 @[ kernel.hip:4:27 ]`: the innermost place that is in no header of ours."""
    chain = [
        SourceSpan(found["file"], int(found["line"]), int(found["column"]))
        for found in _PLACE.finditer(places)
    ]
    outside = (place for place in chain if _OUR_HEADERS not in place.file)
    return next(outside, chain[0] if chain else None)


def _operands(rest: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Operands, separated by commas, and the words behind the last one."""
    parts = _SPLIT.split(rest.strip()) if rest.strip() else []
    modifiers: dict[str, str] = {}
    operands: list[str] = []
    for part in parts:
        words = part.split()
        kept = [word for word in words if not _WORD.match(word)]
        for word in words:
            if _WORD.match(word):
                name, _, value = word.partition(":")
                modifiers[name] = value
        if kept:
            operands.append(" ".join(kept))
    return tuple(operands), modifiers
