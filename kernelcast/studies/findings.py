"""What a sweep says at a glance: fastest devices, and which change of a device pays most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["best_devices", "changes_that_pay", "grouped", "pareto_front"]

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


def pareto_front(rows: Sequence[Row], cost: str) -> list[Row]:
    """The rows that no other one beats in both time and `cost`, the cheapest first.

    Of rows that are equal in both the first one stays.
    """
    front: list[Row] = []
    for row in sorted(rows, key=lambda item: (item[cost], item["time_s"])):
        if not front or row["time_s"] < front[-1]["time_s"]:
            front.append(row)
    return front


def changes_that_pay(rows: Sequence[Row]) -> list[tuple[Row, float]]:
    """The change with the largest speed-up over the device as it is, and that speed-up.

    One for each kernel, device and model, of whichever launch; the largest first.
    """
    found: dict[tuple[Any, ...], tuple[Row, float]] = {}
    for where, group in grouped(rows, "kernel", "device", "model", "launch").items():
        before = [row for row in group if not row["changes"]]
        after = [row for row in group if row["changes"]]
        if not before or not after:
            continue
        best = min(after, key=lambda row: row["time_s"])
        gain = before[0]["time_s"] / best["time_s"]
        if where[:3] not in found or gain > found[where[:3]][1]:
            found[where[:3]] = best, gain
    return sorted(found.values(), key=lambda item: -item[1])
