"""Which files a C++ source may include: what a compiled text depends on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.input_files import read_input
from kernelcast.trust import TO_ALLOW, is_within

__all__ = ["check_confined", "included_files"]

_DIRECTIVE = re.compile(rb'^[ \t]*#[ \t]*include\b[ \t]*(?:(["<])([^">\n]+)[">])?', re.MULTILINE)

_SPACE = rb"(?:[\s\0]|/\*.*?\*/)*"
_READING = re.compile(
    rb"(?:#|%:)" + _SPACE + rb"(?:(?P<reads>include_next|include|import|embed)|line|[0-9])(?![\w])"
    rb"(?:" + _SPACE + rb"(?P<quote>[\"<])(?P<name>[^\">\n]*)[\">])?"
    rb"|__has_(?:include|embed)",
    re.DOTALL,
)
"""What may look like a directive that names a file, in comments and texts too."""
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_TRIGRAPHS = ((b"??=", b"#"), (b"??/", b"\\"))


def check_confined(
    source: Path, content: bytes, folders: Sequence[Path], confined_to: Path
) -> None:
    """Raises InputError where a foreign source may read a file outside of the folder `confined_to`.

    What it includes is checked too. Headers that `folders` do not have are the compiler's own.
    """
    checked = {source}
    waiting = [(source, content)]
    while waiting:
        file, text = waiting.pop()
        for found in _READING.finditer(_joined(text)):
            if found["reads"] is None or found["name"] is None:
                directive = found[0].decode("utf-8", "replace")
                raise _outside(file, f"{directive!r} may name any file")
            name = found["name"].decode("utf-8", "replace")
            places = [place / name for place in (file.parent, *folders)]
            existing = [place for place in places if os.path.exists(place)]  # no name is too long
            if not all(is_within(place, confined_to) for place in existing or places[:1]):
                raise _outside(file, f"{name!r} is outside of the foreign workload's folder")
            for place in existing:
                if _may_be_read(place) and place not in checked:
                    checked.add(place)
                    waiting.append((place, _contents(place)))


def _may_be_read(place: Path) -> bool:
    """Whether a compiler would take it: a folder is none, at a FIFO it would wait for ever."""
    return os.path.exists(place) and not os.path.isdir(place)


def _contents(file: Path) -> bytes:
    try:
        return read_input(file)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def _joined(text: bytes) -> bytes:
    """The text as the preprocessor sees it before it looks for directives."""
    for trigraph, meaning in _TRIGRAPHS:
        text = text.replace(trigraph, meaning)
    return _SPLICE.sub(b"", text)


def _outside(file: Path, why: str) -> InputError:
    return InputError(f"{file}: {why}{TO_ALLOW}")


def included_files(source: Path, content: bytes, folders: Sequence[Path]) -> list[Path] | None:
    """The files that the source includes, and theirs, as far as `folders` have them.

    Directives count wherever they are, also those that the preprocessor would skip. None when one
    of them names its file by a macro: then only the compiler knows. InputError for what is there
    and cannot be read, such as a FIFO.
    """
    found: dict[Path, None] = {}
    waiting = [(source, content)]
    while waiting:
        file, text = waiting.pop()
        for directive in _DIRECTIVE.finditer(text):
            if directive[2] is None:
                return None
            name = directive[2].decode("utf-8", "replace")
            near = [file.parent] if directive[1] == b'"' or os.path.isabs(name) else []
            places = (folder / name for folder in (*near, *folders))
            included = next((place for place in places if _may_be_read(place)), None)
            if included is not None and included not in found:
                found[included] = None
                waiting.append((included, _contents(included)))
    return list(found)
