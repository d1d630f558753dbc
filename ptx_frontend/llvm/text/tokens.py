"""Cuts LLVM IR, as LLVM itself prints it, into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

__all__ = ["Token", "TokenKind", "tokens_of", "unquoted"]


class TokenKind(Enum):
    """The kinds of tokens in LLVM IR."""

    LOCAL = "local"
    GLOBAL = "global"
    METADATA = "metadata"
    NUMBER = "number"
    STRING = "string"
    WORD = "word"
    PUNCTUATION = "punctuation"


@dataclass(frozen=True, slots=True)
class Token:
    """`text` of names is without the sign that says what they are; `at` counts from 0."""

    kind: TokenKind
    text: str
    at: int


_NAME = r'(?:"(?:[^"\\]|\\.)*"|[\w$.\-]+)'
_PATTERN = re.compile(
    rf"""
    (?P<space>\s+|;.*)
  | %(?P<local>{_NAME})
  | @(?P<global>{_NAME})
  | !(?P<metadata>[\w.\-]+)
  | (?P<number>f?0x[0-9A-Fa-fHKLMR]+|[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|inf|qnan|nan|\d+)(?![\w]))
  | c?(?P<string>"[^"]*")
  | (?P<word>[A-Za-z_$][\w.$\-]*)
  | (?P<punctuation>\.\.\.|[-\#!,()\[\]{{}}<>=*:|+/^&])
  | (?P<other>\d+\w*)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|\\)")


def tokens_of(text: str) -> list[Token]:
    """The tokens of a line or several; ValueError names what is none."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None:
            raise ValueError(f"unexpected {text[at]!r}")
        kind = match.lastgroup or ""
        if kind == "other":
            kind = "word"
        if kind != "space":
            piece = match.group(match.lastgroup or 0)
            if kind in ("local", "global") and piece.startswith('"'):
                piece = unquoted(piece).decode("latin-1")
            found.append(Token(TokenKind(kind), piece, at))
        at = match.end()
    return found


def unquoted(text: str) -> bytes:
    r"""The bytes of a string in quotes, whose special ones are written `\0A`."""
    inner = text[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
    plain = _ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)), inner)
    return plain.encode("latin-1")
