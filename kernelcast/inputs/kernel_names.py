"""What sources say of kernels: their names, and what their pointers point to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kernelcast.simcore.isa.ir.source_names import instance_name, source_name

__all__ = ["called_by", "kernels_called", "shortest_names"]

_SUFFIX = re.compile(r"\b(\d+)[uUlL]+\b")
_CONST = re.compile(r"\bconst\s+([\w:]+)")
_UNSIGNED = re.compile(r"\bunsigned\b(?!\s+(?:int|char|short|long))")


def called_by(names: Iterable[str], symbols: Iterable[str]) -> list[str]:
    """The symbols that are one of the names, or whose source or instance name is one."""
    wanted = list(names)
    return [symbol for symbol in symbols if any(_is_called(symbol, name) for name in wanted)]


def kernels_called(name: str, symbols: Iterable[str]) -> list[str]:
    """The symbols whose source name is `name`, or with template arguments their instance name."""
    return [symbol for symbol in symbols if symbol != name and _is_called(symbol, name)]


def shortest_names(symbols: Iterable[str]) -> list[str]:
    """What to call each kernel: its source name where no other kernel has that.

    Else its instance name, and where another one has that too, its symbol.
    """
    symbols = list(symbols)
    ways = [[way(symbol) for symbol in symbols] for way in (source_name, instance_name)]
    counts = [Counter(names) for names in ways]
    return [
        next((name for name, count in zip(names, counts, strict=True) if count[name] == 1), symbol)
        for symbol, *names in zip(symbols, *ways, strict=True)
    ]


def _is_called(symbol: str, name: str) -> bool:
    if "<" not in name:
        return name in (symbol, source_name(symbol))
    return name == symbol or _spelled(name) == _spelled(instance_name(symbol))


def _spelled(name: str) -> str:
    """A name in one of the spellings that mean the same."""
    name = _UNSIGNED.sub("unsigned int", _CONST.sub(r"\1 const", _SUFFIX.sub(r"\1", name)))
    return re.sub(r"\s+(?=\W)|(?<=\W)\s+", "", name)
