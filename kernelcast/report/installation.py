"""What is installed beside kernelcast, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.installation import Component
from kernelcast.report.tables import column_table

__all__ = ["installation_record", "installation_table"]


def installation_table(components: Sequence[Component], detail: int = 0) -> RenderableType:
    """What is there, a line each, then what is missing with the command that brings it.

    With details also where each part is.
    """
    there = column_table("", "there is", "", *(("at",) if detail else ()), "for")
    there.columns[0].no_wrap = True
    missing = [item for item in components if not item.is_found]
    for item in components:
        if item.is_found:
            cells = (item.found, *((item.place,) if detail else ()), item.adds)
            there.add_row(item.name, *(_cell(text, detail) for text in cells))
    if not missing:
        return Group(
            there, Text("nothing is missing" + ("" if detail else " (-v says where all is)"))
        )
    absent = column_table("", "missing", "would add", "by")
    absent.columns[0].no_wrap = True
    for item in missing:
        absent.add_row(item.name, item.adds, item.how)
    return Group(there, Text(), absent)


def _cell(text: str, detail: int) -> Text:
    """A text of one line unless there are details."""
    return Text(text, no_wrap=not detail, overflow="fold" if detail else "ellipsis")


def installation_record(components: Sequence[Component]) -> dict[str, Any]:
    """Every part; `found` is null where it is missing, `place` where it has none."""
    return {
        "components": [
            {
                "name": item.name,
                "found": item.found or None,
                "place": item.place or None,
                "adds": item.adds,
                "how": item.how,
            }
            for item in components
        ]
    }
