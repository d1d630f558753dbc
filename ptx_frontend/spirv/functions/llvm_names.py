"""Names as LLVM IR spells them, each given once."""

from __future__ import annotations

import re

__all__ = ["NameSpace", "quoted"]

_PLAIN = re.compile(r"[A-Za-z$._][\w$.\-]*", re.ASCII)
_FOREIGN = re.compile(r"[^\w$.\-]", re.ASCII)


class NameSpace:
    """The names that one function, or one module, has given away."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str, otherwise: str, is_symbol: bool = False) -> str:
        """A free name like the wanted one. Symbols keep all their characters."""
        name = wanted if is_symbol else _FOREIGN.sub("_", wanted)
        if not name or (not is_symbol and _PLAIN.fullmatch(name) is None):
            name = otherwise
        base = name
        while name in self._taken:
            self._next[base] = number = self._next.get(base, 0) + 1
            name = f"{base}.{number}"
        self._taken.add(name)
        return name


def quoted(name: str) -> str:
    """The name after its `%` or `@`."""
    if _PLAIN.fullmatch(name):
        return name
    escaped = "".join(
        chr(x) if 0x20 <= x < 0x7F and x not in b'"\\' else f"\\{x:02X}" for x in name.encode()
    )
    return f'"{escaped}"'
