"""What a sweep says at a glance: fastest devices, and which change of a device pays most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["best_devices", "grouped"]

Row = Mapping[str, Any]


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some columns, in the order in which these come."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def best_devices(rows: Sequence[Row]) -> list[Row]:
    """The row of the least time for each kernel and model; the first of equal ones."""
    groups = grouped(rows, "kernel", "model").values()
    return [min(group, key=lambda row: row["time_s"]) for group in groups]
