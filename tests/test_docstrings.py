"""Docstrings that stand alone: what a hover or the first line of `help()` shows needs no signature.

Ruff wants a docstring on every public module, package, class, method and function (D100 to D104,
D106 and D419 in pyproject.toml). Its exemptions are `__dunder__` methods but `__call__`, overloads,
setters and functions within functions; and tests, whose names say what they find. This module
checks all docstrings that are there, those of private names and of attributes too: a first line
begins with a subject or a verb, and ends where a sentence does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "benchmarks",
    "examples",
    "kernelcast",
    "models",
    "opencl_bench",
    "ptx_frontend",
    "simcore",
    "tests",
    "traces",
    "validation",
)
LONGEST_FIRST_LINE = 100
ENDS = (".", "!", "?", ":")

PREPOSITIONS = """
    about above across after against along among around as at before behind below beneath beside
    besides between beyond by during except for from in inside into like of off on onto out outside
    over per since than through throughout till to toward towards under until up upon via with
    within without
"""
PRONOUNS = "he her hers him his it its she such that their theirs them these they this those whose"
CONJUNCTIONS = "also and because but nor or so"
OPENINGS = {
    word: kind
    for kind, words in (
        ("preposition", PREPOSITIONS),
        ("pronoun", PRONOUNS),
        ("conjunction", CONJUNCTIONS),
    )
    for word in words.split()
}
"""Words that point at something before the docstring, by the kind that a message names."""
SAME = re.compile(r"the same\b", re.IGNORECASE)
QUESTION = re.compile(
    r"(whether|why|how|what|when|where|which|who) (it|they|them|these|this)\b", re.I
)
ERROR = re.compile(r"[A-Z][a-z]\w*(Applicable|Error|Exceeded|Fault|Problem)\b[ ,]")
WORD = re.compile(r"[A-Za-z]+(?:[-'][A-Za-z]+)*")


class Docstring(NamedTuple):
    """The text below a name, as it stands in the source; a module has the name `module`."""

    line: int
    name: str
    text: str
    is_attribute: bool


def docstrings(source: str) -> Iterator[Docstring]:
    """Every docstring of a module, and every text behind an assignment that is no local one."""
    yield from _below(ast.parse(source), "module", 1)


def _below(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, name: str, line: int
) -> Iterator[Docstring]:
    """The docstring of a definition, and those of the definitions within."""
    text = ast.get_docstring(node, clean=False)
    if text is not None:
        yield Docstring(line, name, text, is_attribute=False)
    prefix = "" if isinstance(node, ast.Module) else f"{name}."
    if isinstance(node, ast.Module | ast.ClassDef):
        yield from _of_attributes(node, prefix)
    for inner in _definitions(node):
        yield from _below(inner, prefix + inner.name, inner.lineno)


def _definitions(
    node: ast.AST,
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Definitions within a node, below `if`, `try` and `with` too, but not within each other."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _definitions(child)


def _of_attributes(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[Docstring]:
    """Texts that follow an assignment."""
    for before, after in zip(node.body, node.body[1:], strict=False):
        if not isinstance(before, ast.Assign | ast.AnnAssign):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            target = before.target if isinstance(before, ast.AnnAssign) else before.targets[0]
            if isinstance(after.value.value, str):
                name = prefix + ast.unparse(target)
                yield Docstring(after.lineno, name, after.value.value, is_attribute=True)


def faults(docstring: Docstring) -> Iterator[str]:
    """Each rule that a docstring breaks, in a few words."""
    text = docstring.text.strip()
    first_line = text.split("\n", 1)[0].rstrip()
    if not text:
        yield "is empty"
        return
    word = WORD.match(text)
    opening = word.group() if word else ""
    if SAME.match(text):
        yield "begins with 'The same': as what?"
    elif found := QUESTION.match(text):
        yield f"begins with {found.group()!r}: what is {found.group(2)!r}?"
    elif ERROR.match(text):
        yield "begins with an error, not with what is done or returned"
    elif opening.lower() in OPENINGS:
        yield f"begins with the {OPENINGS[opening.lower()]} {opening!r}"
    if not docstring.is_attribute and not first_line.endswith(ENDS):
        yield "its first line does not end a sentence"
    if len(first_line) > LONGEST_FIRST_LINE:
        yield f"its first line is longer than {LONGEST_FIRST_LINE} characters"


def sources(folder: str) -> list[Path]:
    """The Python files of a folder, those reached by links left out."""
    return sorted(file for file in (ROOT / folder).rglob("*.py") if file.resolve() == file)


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_stand_alone(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{docstring.line}: {docstring.name}: {fault}"
        for file in sources(folder)
        for docstring in docstrings(file.read_text(encoding="utf-8"))
        for fault in faults(docstring)
    ]
    assert not found, "\n" + "\n".join(found)


def _only_fault(text: str, *, is_attribute: bool = False) -> str:
    """The fault of a docstring, which has one at most; empty for a good one."""
    found = list(faults(Docstring(1, "name", text, is_attribute)))
    assert len(found) <= 1
    return found[0] if found else ""


@pytest.mark.parametrize(
    "text",
    [
        "In elements.",
        "Of the grid, 64 bits.",
        "By pc.",
        "With zeros; returns before it ends.",
        "Towards zero.",
        "As `load_value`.",
        "That the launch covers along each axis.",
        "Their pcs.",
        "These may be negative.",
        "Whose names to use.",
        "The same for sums of more than 32 bits.",
        "The same; None where none does.",
        "Whether it may open.",
        "When they are there.",
        "And the seconds of a launch.",
        "in elements.",
        "KernelcastError where none is named.",
        "LimitExceeded, at the place of `block`, when the run must end.",
    ],
)
def test_openings_that_point_elsewhere_are_refused(text: str) -> None:
    assert _only_fault(text).startswith("begins with")
    assert _only_fault(text, is_attribute=True).startswith("begins with")


@pytest.mark.parametrize(
    "text",
    [
        "The number of elements.",
        "Whether nothing is left.",
        "In-order pipelines of an SM.",
        "Per-warp counts, shape (warps,).",
        "The sameness of two kernels.",
        "Forms of addresses.",
        "Errors of all groups.",
        "Raises KernelcastError where none is named.",
        "`load` and `store` of a value.",
        "(row, column) of each lane.",
        "A sentence.\n\nBy pc, what else there is.",
    ],
)
def test_sentences_pass(text: str) -> None:
    assert not _only_fault(text)


def test_the_first_line_is_a_whole_sentence() -> None:
    assert "does not end" in _only_fault("Whether the kernel names other thread blocks, or\nasks.")
    assert "does not end" in _only_fault("A value")
    assert "longer than" in _only_fault("A" * LONGEST_FIRST_LINE + ".")
    assert _only_fault(" ") == "is empty"
    assert not _only_fault("Bytes of a lane, or\nof a warp", is_attribute=True)


def test_every_kind_of_docstring_is_found() -> None:
    source = '''"""Module."""
LIMIT = 3
"""Attribute."""
if LIMIT:
    def function() -> None:
        """Function."""
        LOCAL = 1
        """No docstring."""
class Outer:
    """Class."""
    field: int = 0
    """Field."""
    class Inner:
        def method(self) -> None:
            """Method."""
def plain() -> None:
    "no", "docstring"
'''
    assert [(item.line, item.name, item.text) for item in docstrings(source)] == [
        (1, "module", "Module."),
        (3, "LIMIT", "Attribute."),
        (5, "function", "Function."),
        (9, "Outer", "Class."),
        (12, "Outer.field", "Field."),
        (14, "Outer.Inner.method", "Method."),
    ]
