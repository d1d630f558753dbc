"""Constants that the assembly text of a kernel has beside its instructions.

LLVM makes them of arrays in functions, of tables for `switch`, and of tables of a library. Their
names begin with `.L`, and are in the text only: an object has none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["constants_of"]

_OBJECT = re.compile(r"^\t\.type\t(?P<name>\.L[\w.$]+),@object", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^\t\.(?P<kind>\w+)\t(?P<value>\"(?:[^\"\\]|\\.)*\"|[^;\n]*)", re.MULTILINE
)
_BYTES = {"byte": 1, "short": 2, "long": 4, "quad": 8}
_TEXTS = {"ascii": b"", "asciz": b"\0"}
"""Directives of characters, and what ends them."""
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_NAMED = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def constants_of(text: str) -> dict[str, bytes]:
    """The content of each constant of an assembly text, but of those that hold addresses."""
    found: dict[str, bytes] = {}
    for item in _OBJECT.finditer(text):
        name = item["name"]
        start = text.find(f"\n{name}:\n", item.end())
        end = text.find(f"\n\t.size\t{name}, ", start)
        if start < 0 or end < 0:
            continue
        try:
            found[name] = b"".join(_pieces(text[start:end]))
        except ValueError:
            continue
    return found


def _pieces(body: str) -> Iterator[bytes]:
    """The bytes of each directive; ValueError for what is no number."""
    for directive in _DIRECTIVE.finditer(body):
        kind, value = directive["kind"], directive["value"].strip()
        if kind in _BYTES:
            count = _BYTES[kind]
            yield (int(value, 0) & ((1 << 8 * count) - 1)).to_bytes(count, "little")
        elif kind in _TEXTS:
            yield _ESCAPE.sub(_unescaped, value[1:-1].encode()) + _TEXTS[kind]
        elif kind == "zero":
            yield bytes(int(value, 0))
        else:
            raise ValueError(kind)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    octal, letter = escape.groups()
    return bytes([int(octal, 8)]) if octal else _NAMED.get(letter, letter)
