"""Debug locations: which line of the OpenCL source an instruction comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelcast.errors import SourceSpan

__all__ = ["Locations"]

_FIELD = re.compile(r"(\w+): (\"[^\"]*\"|!?[\w.]+)")
_MOST_SCOPES = 100


class Locations:
    """Places of the source by number of the metadata node; files by the scopes around."""

    def __init__(self, metadata: Mapping[str, str]) -> None:
        self._metadata = metadata
        self._known: dict[str, SourceSpan | None] = {}

    def place(self, number: str) -> SourceSpan | None:
        """None where the IR does not say it, or says line 0: from nowhere."""
        if not number:
            return None
        if number not in self._known:
            self._known[number] = self._read(number)
        return self._known[number]

    def _read(self, number: str) -> SourceSpan | None:
        fields = self._fields(number)
        line, file = fields.get("line", "0"), self._file(fields.get("scope", ""))
        if not line.isdecimal() or line == "0" or not file:
            return None
        column = fields.get("column", "1")
        return SourceSpan(file, int(line), max(1, int(column) if column.isdecimal() else 1))

    def _file(self, scope: str) -> str:
        for _ in range(_MOST_SCOPES):
            fields = self._fields(scope.lstrip("!"))
            if "filename" in fields:
                return fields["filename"].strip('"')
            scope = fields.get("file", "") or fields.get("scope", "")
            if not scope:
                return ""
        return ""

    def _fields(self, number: str) -> dict[str, str]:
        return dict(_FIELD.findall(self._metadata.get(number, "")))
