"""Kernels by the names that their sources give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kernelcast.simcore.isa.ir.source_names import source_name

__all__ = ["called_by", "kernels_called", "shortest_names"]


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
