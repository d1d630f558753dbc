"""What sources say of kernels: their names, and what their pointers point to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kernelcast.simcore.isa.ir.element_types import without_qualifiers
from kernelcast.simcore.isa.ir.source_names import source_name

__all__ = ["called_by", "declared_elements", "kernels_called", "shortest_names"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_KERNEL = re.compile(
    r"(?:\b__global__\b|\b(?:__)?kernel\b)[^;{}()]*(?:\([^()]*\)[^;{}()]*)?\bvoid\b[^;{}()]*?"
    r"(?:__launch_bounds__\s*\([^()]*\)\s*)?(?P<name>\w+)\s*\((?P<parameters>[^(){};]*)\)\s*\{"
)
_POINTER = re.compile(r"(?P<element>[\w\s]+?)\*(?P<rest>[\w\s]*)$")


def called_by(names: Iterable[str], symbols: Iterable[str]) -> list[str]:
    """The symbols that are one of the names, or whose source name is one."""
    wanted = set(names)
    return [symbol for symbol in symbols if symbol in wanted or source_name(symbol) in wanted]


def kernels_called(name: str, symbols: Iterable[str]) -> list[str]:
    """The symbols whose source name is `name`."""
    return [symbol for symbol in symbols if symbol != name and source_name(symbol) == name]


def shortest_names(symbols: Iterable[str]) -> list[str]:
    """What to call each kernel: its source name where no other kernel has that, else its symbol."""
    symbols = list(symbols)
    count = Counter(map(source_name, symbols))
    return [name if count[name := source_name(symbol)] == 1 else symbol for symbol in symbols]


def declared_elements(source: bytes) -> dict[str, tuple[str, ...]]:
    """What each parameter of a kernel points to; empty for values and for what is not plain.

    For names that hold no types: those of `extern "C"` kernels, and of OpenCL. A declaration is
    read only where it is plain: one definition of the name, every parameter by a type and a name,
    none of them a macro of the text. A typedef is a name that means nothing to those who ask.
    """
    text = _COMMENT.sub(" ", source.decode("utf-8", "replace"))
    macros = set(_DIRECTIVE.findall(text))
    found: dict[str, tuple[str, ...]] = {}
    several: set[str] = set()
    for match in _KERNEL.finditer(text):
        name = match["name"]
        if name in found:
            several.add(name)
        found[name] = tuple(_element(item, macros) for item in match["parameters"].split(","))
    return {name: elements for name, elements in found.items() if name not in several}


def _element(parameter: str, macros: set[str]) -> str:
    match = _POINTER.match(parameter.strip())
    if match is None or macros & set(re.findall(r"\w+", parameter)):
        return ""
    return without_qualifiers(match["element"])
