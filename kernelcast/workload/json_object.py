"""Reading JSON with messages that name file and field: each look-up checks presence and type."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelcast.errors import MetricsError, nearest
from kernelcast.input_files import read_input

__all__ = [
    "JsonObject",
    "dotted",
    "place",
    "read_json",
]


def read_json(file: Path) -> JsonObject:
    """The object that a file holds; MetricsError, in one line, when it holds none."""
    try:
        record = json.loads(read_input(file))
    except OSError as error:
        raise MetricsError(f"{file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise MetricsError(f"{file}: not JSON: {error}") from None
    return JsonObject.of(record, str(file), "")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """One object of a JSON file; `key` is its dotted place. Numbers are finite and not negative."""

    file: str
    key: str
    entries: Mapping[str, Any]

    @classmethod
    def of(cls, value: object, file: str, key: str) -> JsonObject:
        """The object `value`; MetricsError for anything else."""
        if not isinstance(value, dict):
            raise MetricsError(f"{place(file, key)} must be an object, got {_shown(value)}")
        return cls(file, key, value)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def where(self, name: str = "") -> str:
        """The file with the dotted place of an entry, for messages."""
        return place(self.file, dotted(self.key, name))

    def allow(self, *known: str) -> None:
        """Refuses entries with other names than `known`."""
        for name in self.entries:
            if name not in known:
                raise MetricsError(f"{self.where(name)} is not a known field{nearest(name, known)}")

    def text(self, name: str) -> str:
        """An entry that must be a text."""
        return str(self._typed(name, (str,), "a text"))

    def flag(self, name: str) -> bool:
        """An entry that must be true or false."""
        return bool(self._typed(name, (bool,), "true or false"))

    def whole(self, name: str) -> int:
        """An entry that must be a whole number, not negative."""
        return int(self._not_negative(name, self._typed(name, (int,), "a whole number")))

    def number(self, name: str) -> float:
        """An entry that must be a number, not negative."""
        return self._not_negative(name, float(self._typed(name, (int, float), "a number")))

    def numbers(self) -> dict[str, float]:
        """All entries, which must be numbers; only these may be negative."""
        return {name: float(self._typed(name, (int, float), "a number")) for name in self.entries}

    def texts(self, name: str) -> tuple[str, ...]:
        """An entry that must be a list of texts."""
        items = self._typed(name, (list,), "a list of texts")
        if not all(isinstance(item, str) for item in items):
            raise MetricsError(f"{self.where(name)} must be a list of texts")
        return tuple(items)

    def dimensions(self, name: str) -> tuple[int, int, int]:
        """An entry that must be three positive whole numbers."""
        items = self._typed(name, (list,), "a list of three sizes")
        if len(items) != 3 or not all(type(item) is int and item > 0 for item in items):
            raise MetricsError(f"{self.where(name)} must be three positive whole numbers")
        return items[0], items[1], items[2]

    def object(self, name: str) -> JsonObject:
        """An entry that must be an object."""
        return JsonObject.of(self._present(name), self.file, dotted(self.key, name))

    def objects(self, name: str) -> Iterator[JsonObject]:
        """Yields the objects of an entry that must be a list of them."""
        for position, item in enumerate(self._typed(name, (list,), "a list")):
            yield JsonObject.of(item, self.file, f"{dotted(self.key, name)}[{position}]")

    def optional_text(self, name: str) -> str | None:
        """A text, or None where the entry is null."""
        return None if self._present(name) is None else self.text(name)

    def optional_whole(self, name: str) -> int | None:
        """A whole number, or None where the entry is null."""
        return None if self._present(name) is None else self.whole(name)

    def optional_number(self, name: str) -> float | None:
        """A number, or None where the entry is null."""
        return None if self._present(name) is None else self.number(name)

    def optional_object(self, name: str) -> JsonObject | None:
        """An object, or None where the entry is null."""
        return None if self._present(name) is None else self.object(name)

    def _present(self, name: str) -> Any:
        if name not in self.entries:
            raise MetricsError(f"{self.where(name)} is missing")
        return self.entries[name]

    def _typed(self, name: str, types: tuple[type, ...], what: str) -> Any:
        value = self._present(name)
        is_wrong = isinstance(value, bool) and bool not in types
        if is_wrong or not isinstance(value, types):
            raise MetricsError(f"{self.where(name)} must be {what}, got {_shown(value)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise MetricsError(f"{self.where(name)} must be finite, got {value}")
        return value

    def _not_negative(self, name: str, value: float) -> float:
        if value < 0:
            raise MetricsError(f"{self.where(name)} must not be negative, got {value:g}")
        return value


def _shown(value: object) -> str:
    return "null" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"


def dotted(key: str, name: str) -> str:
    """`kernel.source`; either part may be empty."""
    return ".".join(part for part in (key, name) if part)


def place(file: str, key: str) -> str:
    """`file: kernel.source`, the start of every message; without a key the file alone."""
    return f"{file}: {key}" if key else file
