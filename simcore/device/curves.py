"""Reads the sections `[curves.<name>]` of a device file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kernelcast.errors import DeviceFileError, nearest
from kernelcast.simcore.device.device import MeasuredCurve, Provenance, Source

__all__ = ["read_curves"]

_TEXTS = ("x_name", "x_unit", "y_name", "y_unit", "source", "ref")
_LISTS = ("x", "y", "spread")


def read_curves(file: str, table: Any) -> dict[str, MeasuredCurve]:
    """Curves by name; DeviceFileError naming the file and the key of what is wrong."""
    if not isinstance(table, Mapping) or not all(
        isinstance(item, Mapping) for item in table.values()
    ):
        raise DeviceFileError(f"{file}: curves: must be sections [curves.<name>]")
    return {name: _CurveReader(file, name, entries).curve() for name, entries in table.items()}


@dataclass(frozen=True)
class _CurveReader:
    file: str
    name: str
    entries: Mapping[str, Any]

    def curve(self) -> MeasuredCurve:
        for key in self.entries:
            if key not in (*_TEXTS, *_LISTS):
                raise self._error(key, f"is unknown{nearest(key, (*_TEXTS, *_LISTS))}")
        x, y, spread = (self._numbers(key) for key in _LISTS)
        if not len(x) == len(y) == len(spread):
            raise self._error("x", "x, y and spread must have one length")
        if any(left >= right for left, right in pairwise(x)):
            raise self._error("x", "must rise from point to point")
        return MeasuredCurve(
            x_name=self._text("x_name"),
            x_unit=self._text("x_unit"),
            y_name=self._text("y_name"),
            y_unit=self._text("y_unit"),
            x=x,
            y=y,
            spread=spread,
            provenance=Provenance(self._source(), self._text("ref")),
        )

    def _text(self, key: str) -> str:
        value = self.entries.get(key)
        if not isinstance(value, str) or not value:
            raise self._error(key, "must be a text" if key in self.entries else "is missing")
        return value

    def _source(self) -> Source:
        known = [source.value for source in Source]
        value = self._text("source")
        if value not in known:
            raise self._error("source", f"must be one of {', '.join(known)}, got {value!r}")
        return Source(value)

    def _numbers(self, key: str) -> tuple[float, ...]:
        if key not in self.entries:
            raise self._error(key, "is missing")
        values = self.entries[key]
        if not isinstance(values, list) or not values:
            raise self._error(key, "must be a list of numbers")
        for value in values:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and math.isfinite(value) and value >= 0):
                raise self._error(key, f"must hold finite numbers from 0 on, got {value!r}")
        return tuple(float(value) for value in values)

    def _error(self, key: str, message: str) -> DeviceFileError:
        return DeviceFileError(f"{self.file}: curves.{self.name}.{key}: {message}")
