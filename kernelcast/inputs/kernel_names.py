"""Kernels by the names that their sources give them."""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.source_names import source_name

__all__ = ["kernels_called"]


def kernels_called(name: str, symbols: Iterable[str]) -> list[str]:
    """The symbols whose source name is `name`."""
    return [symbol for symbol in symbols if symbol != name and source_name(symbol) == name]
