"""Which files a C++ source may include: what a compiled text depends on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kernelcast.input_files import read_input

__all__ = ["included_files"]

_DIRECTIVE = re.compile(rb'^[ \t]*#[ \t]*include\b[ \t]*(?:(["<])([^">\n]+)[">])?', re.MULTILINE)


def included_files(source: Path, content: bytes, folders: Sequence[Path]) -> list[Path] | None:
    """The files that the source includes, and theirs, as far as `folders` have them.

    Directives count wherever they are, also those that the preprocessor would skip. None when one
    of them names its file by a macro, or one that cannot be read: then only the compiler knows.
    """
    found: dict[Path, None] = {}
    waiting = [(source, content)]
    while waiting:
        file, text = waiting.pop()
        for directive in _DIRECTIVE.finditer(text):
            if directive[2] is None:
                return None
            name = directive[2].decode("utf-8", "replace")
            near = [file.parent] if directive[1] == b'"' else []
            included = next((f / name for f in (*near, *folders) if (f / name).is_file()), None)
            if included is not None and included not in found:
                found[included] = None
                try:
                    waiting.append((included, read_input(included)))
                except OSError:
                    return None
    return list(found)
