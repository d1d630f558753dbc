"""PTX text to tokens.

A token is a string and its offset. Its first character tells its kind: a letter, `_`, `$` or `%`
begins a name or mnemonic (with all its dotted modifiers), `.` a directive, a digit a number, `"` a
string; everything else is punctuation, one character each.
"""

from __future__ import annotations

import re
from itertools import accumulate, compress

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend.source import SourceText

__all__ = ["END", "Tokens", "is_name"]

END = ""
"""The token after the last one."""

# A split finds everything in one pass: what remains between tokens is white space.
_TOKEN = re.compile(
    r"""
    ( [A-Za-z_$%][\w$]* (?: \.\w+ (?: ::\w+ )* )*
    | \.[A-Za-z_]\w* (?: ::\w+ )*
    | 0[xX][\da-fA-F]+U? | 0[fFdD][\da-fA-F]+
    | \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+ | \d\w*
    | "[^"\n]*"
    | //[^\n]* | /\*.*?\*/ | @@DWARF[^\n]*
    | /\* | \S
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_NOT_COMMENTS = frozenset(("/", "/*", "@"))
_NAME_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$%")


def is_name(token: str) -> bool:
    return token[:1] in _NAME_STARTS


class Tokens:
    """A cursor over the tokens of one text; `texts` ends with END at the text's end."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        pieces = _TOKEN.split(source.text)
        offsets = list(accumulate(map(len, pieces)))[0::2]
        texts = pieces[1::2]
        keep = [text[0] not in "/@" or text in _NOT_COMMENTS for text in texts]
        self.texts = list(compress(texts, keep))
        self.offsets = list(compress(offsets, keep))
        self.texts.append(END)
        self.offsets.append(len(source.text))
        self.index = 0

    @property
    def next(self) -> str:
        return self.texts[self.index]

    @property
    def offset(self) -> int:
        return self.offsets[self.index]

    def take(self) -> str:
        text = self.texts[self.index]
        if text is not END:
            self.index += 1
        return text

    def accept(self, text: str) -> bool:
        """Steps over the next token if it is `text`."""
        if self.texts[self.index] == text:
            self.index += 1
            return True
        return False

    def expect(self, text: str, what: str) -> None:
        """Steps over `text`; an error that says where `what` was to go otherwise."""
        if not self.accept(text):
            raise self.unexpected(f"expected {text!r} {what}")

    def name(self, what: str) -> str:
        if not is_name(self.next):
            raise self.unexpected(f"expected {what}")
        return self.take()

    def integer(self, what: str) -> int:
        text = self.next
        if not text.isdecimal():
            raise self.unexpected(f"expected {what}")
        self.index += 1
        return int(text)

    def unexpected(self, message: str) -> PtxSyntaxError:
        """The error for the next token, or for the end of the text."""
        text = self.next
        if text is END:
            last = self.source.text.rstrip()
            return self.source.error(f"{message}, but the text ends", max(0, len(last) - 1))
        return self.source.error(f"{message}, found {text!r}", self.offset, len(text))

    def missing(self, text: str, what: str) -> PtxSyntaxError:
        """The error for a token that should stand right after the previous one."""
        if self.next is END:
            return self.unexpected(f"expected {text!r} {what}")
        before = self.index - 1
        end = self.offsets[before] + len(self.texts[before])
        return self.source.error(f"expected {text!r} {what}", end)
