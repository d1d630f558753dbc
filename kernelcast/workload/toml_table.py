"""Reading TOML with messages that name file and key: each look-up checks presence and type."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelcast.errors import WorkloadError, nearest
from kernelcast.input_files import MOST_TEXT_BYTES, read_input
from kernelcast.trust import Trust
from kernelcast.workload.json_object import dotted, place

__all__ = ["Expression", "TomlTable", "read_toml"]

_OF_KERNELS = frozenset({".ptx", ".cu", ".cuh", ".hip", ".cl", ".ocl", ".ll"})
"""Suffixes of texts that are taken for workloads."""

Expression = str | int | float
"""A number, or a text for `kernelcast.workload.expressions`."""

_POSITION = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table of a TOML file; `key` is its dotted name, empty for the whole file.

    `trust` says what the file may have done.
    """

    file: str
    key: str
    entries: dict[str, Any]
    trust: Trust = Trust.OWN

    def where(self, name: str = "") -> str:
        """`file: kernel.source`, the start of every message."""
        return place(self.file, dotted(self.key, name))

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def allow(self, *known: str) -> None:
        """Raises WorkloadError for the first key that is not among `known`."""
        for name in self.entries:
            if name not in known:
                raise WorkloadError(f"{self.where(name)} is not a known key{nearest(name, known)}")

    def text(self, name: str, default: str | None = None) -> str:
        """An entry that must be a text; the default where it is missing."""
        value: str = self._typed(name, default, (str,), "a text")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty when it is absent."""
        items = self._typed(name, [], (list,), "a list of texts")
        for item in items:
            if not isinstance(item, str):
                raise WorkloadError(f"{self.where(name)} must be a list of texts, got {item!r}")
        return tuple(items)

    def integer(self, name: str, default: int | None = None) -> int:
        """An entry that must be an integer; the default where it is missing."""
        value: int = self._typed(name, default, (int,), "an integer")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """An entry that must be a number; the default where it is missing."""
        return float(self._typed(name, default, (int, float), "a number"))

    def expression(self, name: str, default: Expression | None = None) -> Expression:
        """An entry that must be a number or an expression; the default where it is missing."""
        value: Expression = self._typed(
            name, default, (int, float, str), "a number or an expression"
        )
        return value

    def expressions(self, name: str) -> tuple[Expression, ...]:
        """One expression or a list of them."""
        value = self._typed(name, None, (int, float, str, list), "an expression or a list of them")
        items = value if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, bool) or not isinstance(item, (int, float, str)):
                raise WorkloadError(f"{self.where(name)}: {item!r} is not an expression")
        return tuple(items)

    def table(self, name: str) -> TomlTable:
        """The sub-table; an absent one is empty."""
        return TomlTable(
            self.file,
            dotted(self.key, name),
            self._typed(name, {}, (dict,), "a table"),
            self.trust,
        )

    def tables(self, name: str) -> Iterator[TomlTable]:
        """The tables of an array such as `[[args]]`; none when it is absent."""
        for index, item in enumerate(self._typed(name, [], (list,), "an array of tables")):
            if not isinstance(item, dict):
                raise WorkloadError(f"{self.where(name)} must be an array of tables: [[{name}]]")
            key = f"{dotted(self.key, name)}[{item.get('name', index)}]"
            yield TomlTable(self.file, key, item, self.trust)

    def _typed(self, name: str, default: Any, types: Collection[type], description: str) -> Any:
        if name not in self.entries:
            if default is None:
                raise WorkloadError(f"{self.where(name)} is missing")
            return default
        value = self.entries[name]
        if isinstance(value, bool) or not isinstance(value, tuple(types)):
            raise WorkloadError(f"{self.where(name)} must be {description}, got {value!r}")
        return value


def read_toml(path: Path, trust: Trust = Trust.OWN) -> TomlTable:
    """Reads a TOML file; WorkloadError with its place when it is missing or no TOML."""
    try:
        text = read_input(path, MOST_TEXT_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise WorkloadError(f"{path}: {reason}") from None
    try:
        return TomlTable(str(path), "", tomllib.loads(text), trust)
    except RecursionError:
        raise WorkloadError(f"{path}: brackets nested too deeply") from None
    except ValueError as error:  # of TOML, or of a number with thousands of digits
        if path.suffix in _OF_KERNELS:
            raise WorkloadError(
                f"{path} is a kernel: a workload file beside it (.toml) says with which thread "
                "blocks and arguments it is launched"
            ) from None
        found = _POSITION.match(str(error))
        line = (found and found["line"]) or len(text.splitlines())
        message = found["what"] if found else str(error)
        raise WorkloadError(f"{path}:{line}: not TOML: {message}") from None
