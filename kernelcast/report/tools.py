"""The installed assemblers and disassemblers, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from kernelcast.inputs.native.installed_tools import InstalledTool

__all__ = ["tools_record", "tools_table"]


def tools_record(tools: Sequence[InstalledTool]) -> dict[str, Any]:
    """Each program with its architectures, version and path, as a record."""
    return {
        "tools": [
            {
                "name": tool.name,
                "first_architecture": tool.first,
                "last_architecture": tool.last,
                "path": None if tool.path is None else str(tool.path),
                "version": tool.version or None,
                "install": None if tool.path is not None else tool.how,
            }
            for tool in tools
        ]
    }


def tools_table(tools: Sequence[InstalledTool]) -> Table:
    """A row a program; what is missing says how to get it."""
    table = Table("architectures", "program", "version", "path")
    for tool in tools:
        path = f"missing: {tool.how}" if tool.path is None else str(tool.path)
        table.add_row(tool.architectures, tool.name, tool.version, path)
    return table
