"""Docstrings that stand alone: present on everything public, and clear without their signature.

Ruff wants a docstring on every public module, package, class and function (D100 to D104 and D106).
This module checks what ruff has no rule for. A first line is read by itself, in `help()` or in an
editor's hover, so it begins with a subject or a verb and ends where a sentence does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("kernelcast", "models", "opencl_bench", "ptx_frontend", "simcore", "traces")
OTHER_FOLDERS = ("benchmarks", "examples", "tests", "validation")
"""Folders of which only the docstrings that are there are checked, besides what ruff asks for."""

LONGEST_LINE = 100

PREPOSITIONS = frozenset(
    "about above across after against along among around as at before behind below beneath beside "
    "besides between beyond by during except for from in inside into like of off on onto out "
    "outside over per since than through throughout to toward towards under until up upon via with "
    "within without".split()
)
PRONOUNS = frozenset(
    "he her hers him his it its she such that their theirs them these they this those whose".split()
)
CONJUNCTIONS = frozenset("also and because but nor or so".split())
SAME = re.compile(r"the same\b", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z]+(?:[-'][A-Za-z]+)*")


class Documented(NamedTuple):
    """A docstring, or the place where one is missing."""

    line: int
    name: str
    text: str | None
    is_attribute: bool


class Finding(NamedTuple):
    """A docstring that does not stand alone, or is missing; printed as `file:line: name: reason`."""

    place: str
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.name}: {self.reason}"


def opening_fault(text: str) -> str | None:
    """Why a docstring's first words need more than themselves; None where they stand alone."""
    if SAME.match(text):
        return "begins with 'The same': as what?"
    match = WORD.match(text)
    first = match.group().lower() if match else ""
    for kind, openings in (
        ("preposition", PREPOSITIONS),
        ("pronoun", PRONOUNS),
        ("conjunction", CONJUNCTIONS),
    ):
        if first in openings:
            return f"begins with the {kind} '{first}'"
    return None


def faults(documented: Documented) -> Iterator[str]:
    """Each rule that a docstring breaks, in a few words."""
    text = (documented.text or "").strip()
    if not text:
        yield "has no docstring"
        return
    opening = opening_fault(text)
    if opening is not None:
        yield opening
    first_line = text.splitlines()[0].rstrip()
    if documented.is_attribute:
        return
    if not first_line.endswith((".", "!", "?", ":")):
        yield "its first line does not end a sentence"
    if len(first_line) > LONGEST_LINE:
        yield f"its first line is longer than {LONGEST_LINE} characters"
