"""Kernels as ranges of a PTX text, so that one can be assembled without the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PtxEntry", "entries", "entry_at_line", "with_one_entry"]

_PIECE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:[^"\\\n]|\\.)*" | \.pragma\b[^;]*;
    | (?P<entry>(?:\.(?:visible|weak|extern)\s+)*\.entry\s+(?P<name>[\w$%]+)) | [{};]""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PtxEntry:
    """The characters of a kernel, or of a declaration of it, from `start` up to `end`."""

    name: str
    start: int
    end: int


def entries(text: str) -> Iterator[PtxEntry]:
    """The kernels of a PTX text in order."""
    depth, name, start = 0, "", 0
    for piece in _PIECE.finditer(text):
        mark = piece[0]
        if piece["entry"] and not depth:
            name, start = piece["name"], piece.start()
        elif mark == "{":
            depth += 1
        elif mark in "};":
            depth -= mark == "}"
            if name and not depth:
                yield PtxEntry(name, start, piece.end())
                name = ""


def with_one_entry(text: str, name: str) -> str:
    """The text with blanks in place of all other kernels; lines keep their numbers."""
    kept, place = [], 0
    for entry in entries(text):
        if entry.name != name:
            kept += [
                text[place : entry.start],
                re.sub(r"[^\n]", " ", text[entry.start : entry.end]),
            ]
            place = entry.end
    return "".join([*kept, text[place:]])


def entry_at_line(text: str, line: int) -> str:
    """The name of the kernel whose text has a line, counted from 1; empty where none has."""
    for entry in entries(text):
        first = text.count("\n", 0, entry.start) + 1
        if first <= line <= first + text.count("\n", entry.start, entry.end):
            return entry.name
    return ""
