"""The part of a page that tells of the whole program: HTML and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelcast.report.html.page import Cell, Chart, chart_figure, rendered, sortable_table
from kernelcast.report.programs.charts import kernels_chart, timeline_chart
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from markupsafe import Markup

    from kernelcast.report.html.entries import Entry
    from kernelcast.report.programs.overview import KernelTime, Overview

__all__ = ["ProgramPart", "program_part"]


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """`body` with the places of the `charts`; `record` is saved with those of the estimates."""

    title: str
    body: Markup
    charts: Mapping[str, Chart]
    record: Mapping[str, Any]


def program_part(shown: Overview, of: Sequence[Entry]) -> ProgramPart:
    """The part; kernels with an entry among `of` lead to its details."""
    charts = {"kernels": kernels_chart(shown), "timeline": timeline_chart(shown)}
    drawn = {name: chart for name, chart in charts.items() if chart is not None}
    body = rendered(
        "program.html",
        title=shown.title,
        totals=sortable_table(shown.columns, shown.rows, f"{shown.title}: totals", as_cards=True),
        kernels=_kernels_table(shown, of),
        notes=shown.notes,
        has=drawn,
        chart=chart_figure,
        explained=len({entry.kernel for entry in of}),
        all=len({item.kernel for item in shown.kernels}),
    )
    return ProgramPart(shown.title, body, drawn, shown.record)


def _kernels_table(shown: Overview, of: Sequence[Entry]) -> Markup:
    numbers = {(entry.kernel, entry.item["device"]): entry.number for entry in reversed(of)}
    rows = [_kernel_row(shown, item, numbers) for item in shown.kernels]
    columns = (
        *("kernel", "device", ">launches", ">time of all", ">share", ">mean", "limited by"),
        *(("remark",) if any(item.remark for item in shown.kernels) else ()),
    )
    return sortable_table(
        columns, [row[: len(columns)] for row in rows], "Time by kernel", name="kernels-table"
    )


def _kernel_row(
    shown: Overview, item: KernelTime, numbers: Mapping[tuple[str, str], int]
) -> list[Cell]:
    number, share = numbers.get((source_name(item.kernel), item.device)), shown.share(item)
    return [
        Cell(item.name, href="" if number is None else f"#details-{number}"),
        Cell(item.device),
        Cell(f"{item.launches:,}", item.launches),
        _time(item.total_s),
        Cell("" if share is None else f"{100 * share:.1f} %", share, share=share),
        _time(None if item.total_s is None else item.total_s / item.launches),
        Cell(item.bottleneck),
        Cell(item.remark),
    ]


def _time(seconds: float | None) -> Cell:
    return Cell("no estimate") if seconds is None else Cell(format_seconds(seconds), seconds)
