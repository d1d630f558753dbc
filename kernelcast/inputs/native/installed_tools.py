"""Which assemblers and disassemblers are installed, for which architectures, in which versions."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.inputs.native.tool_process import run_tool
from kernelcast.inputs.native.tools import (
    ASSEMBLER,
    DISASSEMBLER,
    NATIVE_EXTRA,
    NEWEST_FROM,
    OLDER_FROM,
    toolset,
)

__all__ = ["FETCH_COMMAND", "InstalledTool", "installed_tools"]

FETCH_COMMAND = "kernelcast tools --fetch-cuda12"
_VERSION = re.compile(r"\bV(\d+\.\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class InstalledTool:
    """One program for the architectures from `first` to `last`, None for all newer ones.

    `path` None: it is not installed, and `how` says how to get it. `version` is empty where the
    program does not tell.
    """

    name: str
    first: int
    last: int | None
    path: Path | None
    version: str
    how: str

    @property
    def architectures(self) -> str:
        """`sm_50 to sm_72`."""
        last = "on" if self.last is None else f"to sm_{self.last}"
        return f"sm_{self.first} {last}"


def installed_tools() -> list[InstalledTool]:
    """Both programs of both generations."""
    older = (OLDER_FROM, NEWEST_FROM - 3, FETCH_COMMAND)
    found = []
    for first, last, how in (older, (NEWEST_FROM, None, NATIVE_EXTRA)):
        tools = toolset(first)
        paths = (None, None) if tools is None else (tools.assembler, tools.disassembler)
        for name, path in zip((ASSEMBLER, DISASSEMBLER), paths, strict=True):
            version = "" if path is None else _version(path)
            found.append(InstalledTool(name, first, last, path, version, how))
    return found


def _version(tool: Path) -> str:
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = run_tool(tool.absolute(), ["--version"], Path(folder), f"running {tool}")
    except KernelcastError:
        return ""
    match = _VERSION.search(done.output.decode("utf-8", "replace"))
    return match[1] if match else ""
