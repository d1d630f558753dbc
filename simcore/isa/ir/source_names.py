"""C++ names of mangled symbols: enough to call a kernel by the name that its source gives it."""

from __future__ import annotations

import re

__all__ = ["source_name"]

_MANGLED = re.compile(r"_ZN?(?=[\dL]|St)")
_LENGTH = re.compile(r"L?(\d+)")


def source_name(symbol: str) -> str:
    """`_ZN3lib5scaleIfEEvPT_` -> `lib::scale`; a symbol that is not mangled as it is.

    Itanium C++ ABI, 5.1: names are preceded by their lengths. Template arguments and parameter
    types are left out.
    """
    match = _MANGLED.match(symbol)
    if match is None:
        return symbol
    parts: list[str] = []
    position = match.end()
    while (length := _LENGTH.match(symbol, position)) is not None:
        position = length.end() + int(length[1])
        parts.append(symbol[length.end() : position])
        if not symbol.startswith("_ZN"):
            break
    return "::".join(parts) or symbol
