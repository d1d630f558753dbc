"""PTX text to tokens.

A token is a string and its offset. Its first character tells its kind: a letter, `_`, `$` or `%`
begins a name or mnemonic (with all its dotted modifiers), `.` a directive, a digit a number, `"` a
string; everything else is punctuation, one character each. Some tokens are longer on the fast path:
an instruction that stands on one line in its common shape is the token STATEMENT; a section with
all that it holds and a `.loc` with its attributes are one directive each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, compress
from typing import TypeAlias

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.simcore.host.deadline import check_time

__all__ = ["END", "LONGEST_NUMBER", "STATEMENT", "Tokens", "is_name", "is_whole_directive"]

END = ""
"""The token after the last one."""

STATEMENT = "\n"
"""The token that stands for a whole instruction; no text can have it."""

_PLAIN = r"""
    [A-Za-z_$%][\w$]* (?: \.\w+ (?: ::\w+ )* )*
    | \.[A-Za-z_]\w* (?: ::\w+ )*
    | 0[xX][\da-fA-F]+U? | 0[fFdD][\da-fA-F]+
    | \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+ | \d\w*
    | "[^"\n]*"
    | //[^\n]* | /\*.*?(?:\*/|\Z) | @@DWARF[^\n]*
    | \S
"""
_OPERAND = r"(?: !?[%$\w-][\w$.|%]* | \[[\w$%+\-\ \t]+\] | \{[\w$%.,\ \t]+\} )"
_COMMA = r"[\ \t]*,[\ \t]*"
_NUMBERS = r"(?:[\ \t]+\d{1,9}){3}"
_STATEMENT = rf"""
    (?: @(!?[a-zA-Z_$%][\w$]*)[\ \t]+ )?
    ([a-z]\w* (?: \.\w+ (?: ::\w+ )* )*) [\ \t]+ ({_OPERAND})
    (?: {_COMMA} ({_OPERAND}) (?: {_COMMA} ({_OPERAND})
    (?: {_COMMA} ({_OPERAND}) (?: {_COMMA} ({_OPERAND}) )? )? )? )? [\ \t]*;
    | \.loc {_NUMBERS} (?: [\ \t]*,[\ \t]* function_name [\ \t]+ [a-zA-Z_$%][\w$]*
        (?: [\ \t]* \+ [\ \t]* \d{{1,9}} )? [\ \t]*,[\ \t]* inlined_at {_NUMBERS} )? (?![\w.])
    | \.section [\ \t]+ [\w.]+ \s* \{{ (?: [^{{}}/"@] | //[^\n]*\n )*+ \}}
"""
_FLAGS = re.VERBOSE | re.DOTALL | re.ASCII
# A split finds everything in one pass: what remains between tokens is white space.
_TOKEN = re.compile(f"({_PLAIN})", _FLAGS)
_TOKEN_OR_STATEMENT = re.compile(f"({_STATEMENT}|{_PLAIN})", _FLAGS)
StatementTexts: TypeAlias = tuple[str, str | None, str, str, *tuple[str | None, ...]]
"""All of a statement, its guard, its mnemonic and its operands, filled up with None."""

_STRIDE = _TOKEN_OR_STATEMENT.groups + 1
_MNEMONIC = 3  # the column of a split that is empty for all but statements
LONGEST_NUMBER = 1000
_PIECE = 1 << 20
"""Characters between two looks at the clock."""
_NAME_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$%")


def is_name(token: str) -> bool:
    """Whether a token begins as a name does."""
    return token[:1] in _NAME_STARTS


def is_whole_directive(token: str) -> bool:
    """Whether a directive came as one token with all that belongs to it."""
    return token[:1] == "." and (" " in token or "\t" in token)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces of whole lines, with the offset of each.

    No token but a comment and a section goes over the end of a line, and a section may as well come
    in parts.
    """
    start = 0
    while len(text) - start > _PIECE and "/*" not in text:
        end = text.find("\n", start + _PIECE) + 1
        if not end:
            break
        yield start, text[start:end]
        start = end
    yield start, text[start:]


class Tokens:
    """A cursor over the tokens of one text; `texts` ends with END at the text's end.

    With `whole_statements`, instructions in their common shape are one token each. Whoever meets
    one where it cannot use it gets a PtxSyntaxError and starts again without them. `statements` has
    what they consist of, at the same index.
    """

    def __init__(self, source: SourceText, whole_statements: bool = False) -> None:
        self.source = source
        self.index = 0
        self.texts: list[str] = []
        self.offsets: list[int] = []
        self.statements: list[StatementTexts] = []
        for start, piece in _pieces(source.text):
            check_time(f"reading {source.path}")
            self._split(piece, start, whole_statements)
        self.texts.append(END)
        self.offsets.append(len(source.text))

    def _split(self, text: str, start: int, whole_statements: bool) -> None:
        """Adds the tokens of `text`, which begins at offset `start`."""
        stride = _STRIDE if whole_statements else 2
        pattern = _TOKEN_OR_STATEMENT if whole_statements else _TOKEN
        pieces = pattern.split(text)
        texts = pieces[1::stride]
        lengths = [0] * (2 * len(texts) + 1)
        lengths[0::2] = map(len, pieces[0::stride])
        lengths[1::2] = map(len, texts)
        lengths[0] += start
        offsets = list(accumulate(lengths))[0::2]
        self._refuse_oddities(texts, offsets)
        # Comments go; a statement may begin with `@` too, but not with two of them.
        keep = [text[0] not in "/@" or text[:2] not in ("//", "/*", "@@") for text in texts]
        self.offsets += compress(offsets, keep)
        if whole_statements:
            columns = [pieces[column::stride] for column in range(1, stride)]
            self.statements += compress(zip(*columns, strict=True), keep)
            texts = [
                text if mnemonic is None else STATEMENT
                for text, mnemonic in zip(texts, columns[_MNEMONIC - 1], strict=True)
            ]
        self.texts += compress(texts, keep)

    def _refuse_oddities(self, texts: list[str], offsets: list[int]) -> None:
        """Refuses numbers that take long to convert, and a comment that takes all that is left."""
        if texts and texts[-1][:2] == "/*" and (len(texts[-1]) < 4 or texts[-1][-2:] != "*/"):
            raise self.source.error("the comment that begins here does not end", offsets[-2], 2)
        if max(map(len, texts), default=0) > LONGEST_NUMBER:
            for text, offset in zip(texts, offsets, strict=False):
                if len(text) > LONGEST_NUMBER and text[0].isdecimal():
                    raise self.source.error(f"a number of {len(text)} digits", offset)

    @property
    def next(self) -> str:
        """The next token."""
        return self.texts[self.index]

    @property
    def offset(self) -> int:
        """The place of the next token in the text."""
        return self.offsets[self.index]

    def take(self) -> str:
        """The next token; PtxSyntaxError when it is a whole statement."""
        text = self.texts[self.index]
        if text is STATEMENT or is_whole_directive(text):
            raise self.unexpected("expected a token")
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

    def skip_past(self, text: str, what: str) -> None:
        """Steps over everything up to and with `text`."""
        while not self.accept(text):
            if self.take() is END:
                raise self.unexpected(f"expected {text!r} {what}")

    def name(self, what: str) -> str:
        """Takes a name; PtxSyntaxError that tells `what` was expected."""
        if not is_name(self.next):
            raise self.unexpected(f"expected {what}")
        return self.take()

    def integer(self, what: str) -> int:
        """A decimal number; PtxSyntaxError when `what` is something else."""
        text = self.next
        if not (text.isdecimal() and text.isascii()):
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
