"""Variants of a workload as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.ranking.variants import TunedVariant, VariantTuning
from kernelcast.report.tables import column_table
from kernelcast.units import format_seconds

__all__ = ["tuning_record", "tuning_rows", "tuning_table"]

_PASSED_OVER = "without a rank: told by a few thread blocks (estimated without --quick)"


def tuning_record(found: Sequence[VariantTuning]) -> dict[str, Any]:
    """One device's variants themselves, or a list of several under `tunings`."""
    records = [item.as_dict() for item in found]
    return records[0] if len(records) == 1 else {"tunings": records}


def tuning_rows(found: Sequence[VariantTuning]) -> list[Sequence[object]]:
    """A row for each variant that fits its device; those without a rank were not estimated."""
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
            for rank, row in _ranked(item)
        ),
    ]


def tuning_table(found: Sequence[VariantTuning]) -> RenderableType:
    """A table for each device, and below it why other variants cannot be launched.

    Variants without a rank were not estimated: their times are what a few thread blocks tell.
    """
    return Group(*map(_table, found))


def _table(found: VariantTuning) -> RenderableType:
    columns = (">rank", "configuration", ">time", ">registers", "limited by")
    table = column_table(f"{found.workload} on {found.device}", *columns)
    for rank, row in _ranked(found):
        table.add_row(
            str(rank or "-"),
            _label(row.configuration),
            format_seconds(row.estimate.time_s),
            str(row.registers or ""),
            row.estimate.bottleneck,
        )
    notes = [Text(_PASSED_OVER)] if found.passed_over else []
    refused = (Text(f"refused {_label(values)}: {reason}") for values, reason in found.refused)
    return Group(table, *notes, *refused)


def _ranked(found: VariantTuning) -> Iterator[tuple[int | str, TunedVariant]]:
    """Variants with their ranks, those that were passed over without one."""
    yield from enumerate(found.rows, 1)
    for row in found.passed_over:
        yield "", row


def _label(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
