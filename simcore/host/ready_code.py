"""Compiled code that is there already: what the installation brings, and what earlier runs left.

It is found by the digest of all sources that it was made of (`source_digest`), by its function, by
the layout of its arguments and by the processor that it is for. What the installation brings was
made when it was built (`made_into`), for a processor that nearly every machine is; it is as much a
part of the program as its sources are.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kernelcast.partial_files import ReplacedFile
from kernelcast.simcore.host.disk_cache import is_any_kept, read_checked, write_checked
from kernelcast.simcore.host.llvm import Processor
from kernelcast.simcore.host.source_digest import source_digest

__all__ = ["ENTRY", "INSTALLED", "ReadyCode", "find_code", "is_ready", "keep_code", "made_into"]

ENTRY = "entry"
"""The function of an object file that `machine_words` describes."""
INSTALLED = Path(__file__).resolve().parents[1] / "machine_code"
"""What the installation brings; no package, and in no repository."""
_DIGITS = 24
_DIGEST_BYTES = hashlib.sha256().digest_size


class _Making(NamedTuple):
    folder: Path
    asked: set[str]


_made_into: _Making | None = None


class ReadyCode(NamedTuple):
    """An object file, and the types of what its entry returns: of one number or of a tuple."""

    code: bytes
    results: Sequence[str]
    is_tuple: bool


@contextmanager
def made_into(folder: Path) -> Iterator[set[str]]:
    """Code is looked for in the folder only meanwhile, and what is missing is put there.

    Yields the names of files that were asked for.
    """
    global _made_into
    folder.mkdir(parents=True, exist_ok=True)
    _made_into = _Making(folder, set())
    try:
        yield _made_into.asked
    finally:
        _made_into = None


def find_code(function: Callable[..., Any], layout: str, processor: Processor) -> ReadyCode | None:
    """None where there is none, where it was made of other sources, and where it is damaged."""
    name = _name(function, layout, processor)
    if name is None:
        return None
    content = _installed(name)
    if content is None and _made_into is None:
        content = read_checked(name)
    if content is None:
        return None
    head, _, code = content.partition(b"\n")
    return ReadyCode(code, *json.loads(head))


def keep_code(
    function: Callable[..., Any], layout: str, processor: Processor, made: ReadyCode
) -> None:
    """Puts code where `find_code` finds it in later processes, if there is such a place."""
    name = _name(function, layout, processor)
    if name is None:
        return
    content = json.dumps((made.results, made.is_tuple)).encode() + b"\n" + made.code
    if _made_into is None:
        write_checked(name, content)
        return
    with ReplacedFile(_made_into.folder / name) as file:
        file.write(hashlib.sha256(content).digest() + content)


def is_ready(function: Callable[..., Any], processor: Processor) -> bool:
    """Whether there is code of the function for some arguments."""
    start = _start(function, processor)
    if start is None:
        return False
    return any(INSTALLED.glob(f"{start}*")) or is_any_kept(start)


def _installed(name: str) -> bytes | None:
    folder = INSTALLED
    if _made_into is not None:
        folder = _made_into.folder
        _made_into.asked.add(name)
    try:
        content = (folder / name).read_bytes()
    except OSError:
        return None
    digest, content = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def _start(function: Callable[..., Any], processor: Processor) -> str | None:
    """How the names of a function's code begin; None where its sources are not known."""
    sources = source_digest(Path(function.__code__.co_filename))
    if sources is None:
        return None
    parts = (function.__module__, function.__qualname__, sources, sys.platform, processor)
    return f"compiled-{function.__qualname__.rpartition('.')[2]}-{_digest(repr(parts))}-"


def _name(function: Callable[..., Any], layout: str, processor: Processor) -> str | None:
    start = _start(function, processor)
    return None if start is None else f"{start}{_digest(layout)}.code"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
