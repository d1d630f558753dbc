"""Sources of CUDA without their host code, which a compiler of device code cannot read.

What `nvcc` does when it compiles for a device: functions of the host, and variables that it alone
sees, are left out. They become spaces, so that lines and columns of what stays are as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kernelcast.inputs.cuda.cpp_text import Declaration, Kind, Unbalanced, declarations

__all__ = ["launched_instances", "names_of_headers", "without_host_code"]

_DEVICE = frozenset((
    "__global__", "__device__", "__constant__", "__shared__", "__managed__", "constexpr",
    "consteval",
))  # fmt: skip
_KEPT = frozenset((
    "namespace", "typedef", "using", "enum", "struct", "class", "union", "const", "static_assert",
    "concept", "friend", "public", "private", "protected",
))  # fmt: skip
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\()?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_INSTANCE = re.compile(r"([A-Za-z_][\w:]*\s*<[^<>;{}()]*>)\s*<<<")
_LEADING = re.compile(r"[^\n]")


def without_host_code(text: str, headers: Iterable[str] = ()) -> str:
    """The text without host code; as it is where its declarations cannot be told apart.

    `headers` are the texts of the files that it includes: their macros may stand for `__device__`.
    """
    marks, complete = _macros((text, *headers))
    try:
        found = declarations(text, complete)
    except Unbalanced:
        return text
    for start, end in _host_parts(found, marks):
        text = text[:start] + _blank(text[start:end]) + text[end:]
    return text


def names_of_headers(text: str) -> list[str]:
    """What is included, as it is written."""
    return list(dict.fromkeys(_INCLUDE.findall(text)))


def launched_instances(text: str) -> list[str]:
    """The instances of templates that `<<<...>>>` launches by their arguments, such as `k<256>`."""
    return list(dict.fromkeys(re.sub(r"\s+", " ", name) for name in _INSTANCE.findall(text)))


def _macros(texts: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The words that mark device code, and the macros with parameters that make it whole."""
    marks, complete = set(_DEVICE), set()
    for text in texts:
        for name, parameters, body in _MACRO.findall(text):
            words = set(re.findall(r"\w+", body))
            if words & marks:
                marks.add(name)
                if parameters and "{" in body:
                    complete.add(name)
    return frozenset(marks), frozenset(complete)


def _host_parts(
    found: Iterable[Declaration], marks: frozenset[str], *, in_type: bool = False
) -> Iterator[tuple[int, int]]:
    for item in found:
        if item.words & marks:
            continue
        if item.kind in (Kind.SCOPE, Kind.TYPE):
            inside_type = in_type or item.kind is Kind.TYPE
            yield from _host_parts(item.inside, marks, in_type=inside_type)
        elif item.kind is Kind.FUNCTION or (not in_type and _is_of_host(item)):
            yield item.start, item.end


def _is_of_host(item: Declaration) -> bool:
    """Whether a declaration outside of types is one that only host code can use."""
    return not item.words & _KEPT or _names_host_library(item)


def _names_host_library(item: Declaration) -> bool:
    """Whether a declaration names `std`, but not that of `cuda::std`."""
    texts = ["", "", *(token.text for token in item.head)]
    return any(
        name == "std" and (colons != "::" or library != "cuda")
        for library, colons, name in zip(texts, texts[1:], texts[2:], strict=False)
    )


def _blank(text: str) -> str:
    """Spaces for all but line ends and lines of the preprocessor, whose branches must stay."""
    kept = [(found.start(), found.end()) for found in _DIRECTIVE.finditer(text)]
    parts, place = [], 0
    for start, end in kept:
        parts += [_LEADING.sub(" ", text[place:start]), text[start:end]]
        place = end
    return "".join((*parts, _LEADING.sub(" ", text[place:])))
