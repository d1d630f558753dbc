"""What is installed beside kernelcast, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.installation import Component
from kernelcast.report.tables import column_table

__all__ = ["installation_record", "installation_table"]


def installation_table(components: Sequence[Component]) -> RenderableType:
    """What is there, then what is missing with the command that brings it."""
    there = column_table("", "there is", "", "for")
    there.columns[0].no_wrap = True
    missing = [item for item in components if not item.is_found]
    for item in components:
        if item.is_found:
            there.add_row(item.name, item.found, item.adds)
    if not missing:
        return Group(there, Text("nothing is missing"))
    absent = column_table("", "missing", "would add", "by")
    absent.columns[0].no_wrap = True
    for item in missing:
        absent.add_row(item.name, item.adds, item.how)
    return Group(there, Text(), absent)


def installation_record(components: Sequence[Component]) -> dict[str, Any]:
    """Every part; `found` is null where it is missing."""
    return {
        "components": [
            {"name": item.name, "found": item.found or None, "adds": item.adds, "how": item.how}
            for item in components
        ]
    }
