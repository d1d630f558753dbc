"""Layer conditions as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.address.layer_sizes import LayerRow, LayerTable
from kernelcast.ranking.variations import folding_label, shape_label
from kernelcast.report.tables import column_table
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_quantity

__all__ = ["layers_record", "layers_rows", "layers_table"]

Rows = list[Sequence[object]]


def layers_record(table: LayerTable) -> dict[str, Any]:
    """`largest_extent` is of the sizes named in `scaled`; null where the condition always holds."""
    return {
        "kernel": table.kernel,
        "scaled": list(table.scaled),
        "rows": [
            {
                "device": row.device,
                "block": list(row.configuration.thread_block),
                "folding": folding_label(row.configuration.folding),
                "level": row.level,
                "reuse": row.axis.value,
                "wave_cells": list(row.wave_cells),
                "layer_bytes": row.layer_bytes,
                "capacity_bytes": row.capacity_bytes,
                "overlap_bytes_per_work": row.overlap_bytes,
                "holds": row.holds,
                "largest_extent": row.largest_extent,
            }
            for row in table.rows
        ],
        "refused": [
            {
                "block": list(item.thread_block),
                "folding": folding_label(item.folding),
                "reason": reason,
            }
            for item, reason in table.refused
        ],
    }


def layers_rows(table: LayerTable) -> Rows:
    """Layer conditions as rows below a header; no row without conditions."""
    records = layers_record(table)["rows"]
    names = tuple(records[0]) if records else ()
    return [
        names,
        *(
            tuple(
                shape_label(value) if isinstance(value, list) else _cell(value)
                for value in record.values()
            )
            for record in records
        ),
    ]


def _cell(value: object) -> object:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def layers_table(table: LayerTable) -> RenderableType:
    """A line for each condition, then what could not run."""
    scaled = " = ".join(table.scaled)
    columns = ("device", "block", "folding", "wave", "level", "kept between uses", ">needs")
    shown = column_table(
        source_name(table.kernel), *columns, ">has", "holds", f">up to {scaled}", ">else B/unit"
    )
    configuration = None
    for row in table.rows:
        if configuration not in (None, row.configuration):
            shown.add_section()
        configuration = row.configuration
        shown.add_row(*_cells(row))
    lines = [Text(f"not calculated: {item.label}: {reason}") for item, reason in table.refused]
    return Group(shown, *lines)


def _cells(row: LayerRow) -> list[str]:
    extent = "any" if row.largest_extent is None else str(row.largest_extent or "never")
    return [
        row.device,
        shape_label(row.configuration.thread_block),
        folding_label(row.configuration.folding),
        shape_label(row.wave_cells),
        row.level,
        row.axis.value,
        format_quantity(row.layer_bytes, "B"),
        format_quantity(row.capacity_bytes, "B"),
        "yes" if row.holds else "no",
        extent,
        f"{row.overlap_bytes:.4g}",
    ]
