"""Estimates on changed architectures as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.report.tables import column_table, first_rows, rest_text
from kernelcast.report.text import exact_number
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.architectures import WhatIf
    from kernelcast.simcore.device.rescaling import Scalar

__all__ = ["whatif_record", "whatif_rows", "whatif_table"]

Rows = list[Sequence[object]]
_MOST_ROWS = 15
_FEW_VALUES = 3


def whatif_record(result: WhatIf) -> dict[str, Any]:
    """`set` is empty for the device as it is; `derived`: what follows, before and after."""
    return {
        "kernel": result.kernel,
        "rows": [
            {
                "set": dict(row.architecture.changes),
                "device": row.architecture.base,
                "model": row.estimate.model,
                "time_s": row.estimate.time_s,
                "bottleneck": row.estimate.bottleneck,
                "speedup": row.speedup,
                "derived": {item.name: item.after for item in row.architecture.followed},
            }
            for row in result.rows
        ],
        "statements": list(result.statements),
    }


def whatif_rows(result: WhatIf) -> Rows:
    """A column for each changed fact, empty where the device is as it is."""
    names = _changed_names(result)
    header = ("device", *names, "model", "time_s", "bottleneck", "speedup")
    return [
        header,
        *(
            (
                row.architecture.base,
                *(_cell(row.architecture.changes.get(name, "")) for name in names),
                row.estimate.model,
                row.estimate.time_s,
                row.estimate.bottleneck,
                row.speedup,
            )
            for row in result.rows
        ),
    ]


def whatif_table(result: WhatIf, detail: int) -> RenderableType:
    """A line for each model and architecture, then what is to be said of models and launches.

    With details all that follows from the changes.
    """
    table = column_table(
        source_name(result.kernel),
        *("device", "changed", "model", ">time", ">speed-up", "limited by"),
    )
    shown = first_rows(result.rows, _MOST_ROWS, detail)
    for row in shown:
        table.add_row(
            row.architecture.base,
            row.architecture.label.replace(", ", "\n"),
            row.estimate.model,
            format_seconds(row.estimate.time_s),
            f"{row.speedup:.3f}",
            row.estimate.bottleneck,
        )
    followed = list(_followed_lines(result))
    if followed and not detail:
        followed = ["what depends on the changed facts follows them (-v lists it)"]
    rest = rest_text(len(shown), len(result.rows), "rows")
    lines = (rest, *followed, *result.statements)
    return Group(table, *(Text(line) for line in lines if line))


def _followed_lines(result: WhatIf) -> Iterator[str]:
    """A line for each device: what follows there, from which value to which ones."""
    for base in dict.fromkeys(row.architecture.base for row in result.rows):
        facts: dict[str, list[Scalar]] = {}
        before: dict[str, Scalar] = {}
        for row in result.rows:
            for item in row.architecture.followed if row.architecture.base == base else ():
                facts.setdefault(item.name, []).append(item.after)
                before[item.name] = item.before
        if facts:
            changes = ", ".join(
                f"{name} {_shown(before[name])} -> {_values(after)}"
                for name, after in facts.items()
            )
            yield f"derived for {base}: {changes}"


def _values(found: Sequence[Scalar]) -> str:
    """All of a few values, the ends of many."""
    unique = list(dict.fromkeys(found))
    if len(unique) <= _FEW_VALUES:
        return ", ".join(map(_shown, unique))
    numbers = [item for item in unique if not isinstance(item, str)]
    return f"{_shown(min(numbers))} to {_shown(max(numbers))}"


def _changed_names(result: WhatIf) -> list[str]:
    return list(dict.fromkeys(name for row in result.rows for name in row.architecture.changes))


def _cell(value: Scalar) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _shown(value: Scalar) -> str:
    return exact_number(value) if isinstance(value, float) else str(value)
