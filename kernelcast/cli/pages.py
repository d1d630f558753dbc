"""Pages that commands write."""

from __future__ import annotations

from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.partial_files import ReplacedFile

__all__ = ["write_page"]


def write_page(path: Path, text: str) -> None:
    """Writes a page at once under its name; InputError where that fails."""
    try:
        with ReplacedFile(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
