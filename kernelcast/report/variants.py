"""Variants of a workload as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.ranking.variants import VariantTuning
from kernelcast.report.tables import column_table
from kernelcast.units import format_seconds

__all__ = ["tuning_record", "tuning_rows", "tuning_table"]


def tuning_record(found: Sequence[VariantTuning]) -> dict[str, Any]:
    """One device's variants themselves, or a list of several under `tunings`."""
    records = [item.as_dict() for item in found]
    return records[0] if len(records) == 1 else {"tunings": records}


def tuning_rows(found: Sequence[VariantTuning]) -> list[Sequence[object]]:
    """A row for each variant that fits its device."""
    return [
        ("device", "rank", "configuration", "time_s", "bottleneck", "registers"),
        *(
            (
                item.device,
                rank,
                _label(row.configuration),
                row.estimate.time_s,
                row.estimate.bottleneck,
                row.registers or "",
            )
            for item in found
            for rank, row in enumerate(item.rows, 1)
        ),
    ]


def tuning_table(found: Sequence[VariantTuning]) -> RenderableType:
    """A table for each device, and below it why other variants cannot be launched."""
    return Group(*map(_table, found))


def _table(found: VariantTuning) -> RenderableType:
    columns = (">rank", "configuration", ">time", ">registers", "limited by")
    table = column_table(f"{found.workload} on {found.device}", *columns)
    for rank, row in enumerate(found.rows, 1):
        table.add_row(
            str(rank),
            _label(row.configuration),
            format_seconds(row.estimate.time_s),
            str(row.registers or ""),
            row.estimate.bottleneck,
        )
    refused = (Text(f"refused {_label(values)}: {reason}") for values, reason in found.refused)
    return Group(table, *refused)


def _label(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
