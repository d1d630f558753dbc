"""A source text that turns offsets into places."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from kernelcast.errors import PtxSyntaxError, SourceSpan

__all__ = ["SourceText"]


class SourceText:
    """The text of one file; spans are made from offsets only when somebody asks."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._shown = (-1, "")

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def span(self, offset: int, length: int = 1) -> SourceSpan:
        """A place in the text: line, column and the line itself."""
        line = bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        if self._shown[0] != start:
            # one string for all spans of a line, for a whole file may stand on one
            end = self.text.find("\n", start)
            shown = self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
            self._shown = start, shown
        return SourceSpan(self.path, line, offset - start + 1, length, self._shown[1])

    def span_of(self, name: str, offset: int) -> SourceSpan:
        """The first place at or after `offset` where `name` stands as a whole word."""
        found = re.compile(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])").search(self.text, offset)
        return self.span(found.start() if found else offset, len(name))

    def error(self, message: str, offset: int, length: int = 1) -> PtxSyntaxError:
        """A PtxSyntaxError at a place in the text."""
        return PtxSyntaxError(message, self.span(offset, length))
