"""The page of estimates, of the records that `estimate --json -v` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelcast.glossary import glossary
from kernelcast.report.html.charts import (
    cycles_chart,
    light_chart,
    mix_chart,
    times_chart,
    topdown_chart,
)
from kernelcast.report.html.entries import Entry, entries
from kernelcast.report.html.listing import shortened, source_lines
from kernelcast.report.html.memory_chart import Box, format_capacity, memory_chart, shared_box
from kernelcast.report.html.page import Cell, Chart, chart_figure, page, rendered, sortable_table
from kernelcast.report.html.rooflines import Roofline, roofline
from kernelcast.report.programs.part import program_part
from kernelcast.units import format_count, format_quantity, format_seconds, format_si

if TYPE_CHECKING:
    from markupsafe import Markup

    from kernelcast.report.data_table import DataTable
    from kernelcast.report.programs.overview import Overview
    from kernelcast.report.summary import Answer

__all__ = ["report_page"]

Record = Mapping[str, Any]

_SORTED_BY = {
    ">time": "time_s",
    ">range": "time_low_s",
    ">speed-up": "speed_up",
    ">without it": "gain",
}
_LEAST_SHOWN = 0.0005
"""Reasons with less than that share of the slots would show as 0.0 %."""
_DEVICE_FACTS = (
    ("sm_count", "SMs", ""),
    ("clock_hz", "clock", "Hz"),
    ("fp32_flops_per_s", "fp32 peak", "flop/s"),
    ("fp64_flops_per_s", "fp64 peak", "flop/s"),
    ("dram_bytes_per_s", "DRAM", "B/s"),
    ("l2_bytes", "L2", "B"),
    ("shared_bytes_per_sm", "shared memory an SM", "B"),
)


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template is given besides the entries."""

    rooflines: Sequence[tuple[str, Roofline]]
    charts: Mapping[str, Chart]


def report_page(
    records: Sequence[Record],
    answers: Sequence[Answer],
    comparison: DataTable | None = None,
    program: Overview | None = None,
) -> str:
    """The text of the file: `answers` of the records in words, `comparison` with a baseline.

    `program`: what the estimates are some launches of.

    The records are those of `report_records`. Lines of code come from the files that the records
    name, where these are still there.
    """
    shown = shortened(records)
    of = entries(shown)
    part = None if program is None else program_part(program, of)
    drawn = _drawn(of, {} if part is None else part.charts)
    title = _title(of) if part is None else part.title
    body = rendered(
        "report.html",
        title=title,
        program=part,
        entries=of,
        answers=[
            (told, _answer_table(told, _of_answer(of, shown, number)))
            for number, told in enumerate(answers)
        ],
        chart=chart_figure,
        has=drawn.charts,
        rooflines=drawn.rooflines,
        memory={entry.number: memory_chart(entry) for entry in of},
        shared={entry.number: shared_box(entry) for entry in of},
        is_box=lambda part: isinstance(part, Box),
        stalls={entry.number: _stalls_table(entry) for entry in of},
        mixes={entry.number: _mix_table(entry) for entry in of},
        parameters={entry.number: _parameters(entry) for entry in of},
        rates=_rates_table(of),
        devices=_devices_table(of),
        comparison=None if comparison is None else _comparison_table(comparison),
        comparison_note="" if comparison is None else comparison.note,
        versions=shown[0]["versions"],
        seconds=format_seconds,
        glossary=glossary(),
    )
    return page(
        f"{title} - kernelcast",
        body,
        charts=drawn.charts,
        data={
            "records": shown,
            "sources": source_lines(of),
            "program": None if part is None else part.record,
        },
        scripts=("report.js",),
        styles=("report.css",),
    )


def _title(of: Sequence[Entry]) -> str:
    return " and ".join(dict.fromkeys(entry.kernel for entry in of))


def _drawn(of: Sequence[Entry], of_program: Mapping[str, Chart]) -> _Page:
    charts: dict[str, Chart | None] = {
        **of_program,
        "times": times_chart(of) if len(of) > 1 and not of_program else None,
        "light": light_chart(of),
        "cycles": cycles_chart(of),
        "mix": mix_chart(of),
    }
    found = []
    for name, of_instructions in (("roofline", False), ("roofline-instructions", True)):
        drawn = roofline(of, of_instructions=of_instructions)
        if drawn is not None:
            charts[name] = drawn.chart
            found.append((name, drawn))
    for entry in of:
        if entry.details["topdown"]:
            charts[f"topdown-{entry.number}"] = topdown_chart(entry.details["topdown"])
    return _Page(found, {name: chart for name, chart in charts.items() if chart is not None})


def _of_answer(of: Sequence[Entry], records: Sequence[Record], number: int) -> Sequence[Entry]:
    """The entries of one record."""
    before = sum(len(record["estimates"]) for record in records[:number])
    return of[before : before + len(records[number]["estimates"])]


def _answer_table(told: Answer, of: Sequence[Entry]) -> Markup:
    rows = [
        [
            Cell(text, _value(name, entry), share=_share(name, entry))
            for name, text in zip(told.columns, row, strict=True)
        ]
        for row, entry in zip(told.rows, of, strict=True)
    ]
    caption = f"{told.title}: estimated times"
    return sortable_table(told.columns, rows, caption, as_cards=True)


def _value(column: str, entry: Entry) -> float | None:
    item = entry.item
    if column in _SORTED_BY:
        found: float | None = item[_SORTED_BY[column]]
        return found
    return _share(column, entry)


def _share(column: str, entry: Entry) -> float | None:
    """What is drawn as a bar: shares of peaks."""
    achieved = entry.item["achieved"]
    if column == ">of DRAM":
        found: float | None = achieved.get("DRAM")
        return found
    if column == ">of FLOP/s":
        return next((share for name, share in achieved.items() if name != "DRAM"), None)
    return None


def _stalls_table(entry: Entry) -> Markup | None:
    slots = entry.details["slots"]
    if slots is None:
        return None
    total, warps = slots["slots"] or 1, slots["warp_cycles"] or 1
    rows = [
        [
            Cell("issued"),
            Cell(_percent(slots["issued"] / total), slots["issued"], share=slots["issued"] / total),
            Cell(""),
            Cell("a warp issues"),
        ]
    ]
    rows += [
        [
            Cell(row["reason"]),
            Cell(_percent(row["slots"] / total), row["slots"], share=row["slots"] / total),
            Cell(_percent(row["warp_cycles"] / warps), row["warp_cycles"]),
            Cell(row["meaning"]),
        ]
        for row in slots["lost"]
        if row["slots"] / total >= _LEAST_SHOWN or row["warp_cycles"] / warps >= _LEAST_SHOWN
    ]
    caption = "Slots of one SM, and cycles of its warps, by the names of Nsight Compute"
    columns = ("reason", ">of slots", ">of warps", "what for")
    return sortable_table(columns, rows, caption)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _mix_table(entry: Entry) -> Markup | None:
    mix = entry.details["mix"]
    if not mix:
        return None
    total = sum(row["warps"] for row in mix) or 1
    rows = [
        [
            Cell(row["opcode"]),
            Cell(row["unit"]),
            Cell(format_count(row["warps"]), row["warps"]),
            Cell(_percent(row["warps"] / total), row["warps"], share=row["warps"] / total),
            Cell(format_count(row["threads"]), row["threads"]),
        ]
        for row in mix
    ]
    caption = f"Instructions of one launch on {entry.label}"
    return sortable_table(
        ("instruction", "unit", ">by warps", ">share", ">by threads"), rows, caption
    )


def _parameters(entry: Entry) -> Markup | None:
    rows = [
        [
            Cell(row["symbol"]),
            Cell(
                format_quantity(row["value"], row["unit"]),
                None if isinstance(row["value"], str) else row["value"],
            ),
        ]
        for row in entry.item["parameters"]
    ]
    if not rows:
        return None
    return sortable_table(
        ("parameter", ">value"), rows, f"Quantities of model {entry.item['model']}"
    )


def _rates_table(of: Sequence[Entry]) -> Markup:
    """What speed of light and rooflines show, as numbers."""
    rows = [
        [
            Cell(rate["name"]),
            Cell(entry.label),
            *(
                Cell(format_si(value, unit, 3), value)
                for value, unit in (
                    (rate["work"], rate["unit"]),
                    (rate["rate"] * rate["share"], f"{rate['unit']}/s"),
                    (rate["rate"], f"{rate['unit']}/s"),
                )
            ),
            Cell(_percent(rate["share"]), rate["share"], share=min(1.0, rate["share"])),
            Cell(rate["source"]),
        ]
        for entry in of
        for rate in entry.details["rates"]
    ]
    columns = ("part", "on", ">a launch", ">reached", ">peak", ">share", "peak is a")
    return sortable_table(columns, rows, "Rates that are reached, beside the highest known")


def _devices_table(of: Sequence[Entry]) -> Markup:
    found = {entry.details["device"]["name"]: entry.details["device"] for entry in of}
    columns = ("device", "name", "architecture", *(f">{title}" for _, title, _ in _DEVICE_FACTS))
    rows = [
        [
            Cell(item["name"]),
            Cell(item["title"]),
            Cell(f"{item['architecture']} {item['compute_capability']}"),
            *(
                Cell("" if item[key] is None else _plain(item[key], unit), item[key])
                for key, _, unit in _DEVICE_FACTS
            ),
        ]
        for item in found.values()
    ]
    return sortable_table(columns, rows, "What the devices have")


def _plain(value: float, unit: str) -> str:
    if unit == "B":
        return format_capacity(value)
    return format_si(value, unit, 3) if unit else f"{value:,.6g}"


def _comparison_table(table: DataTable) -> Markup:
    rows = [[Cell(text) for text in row] for row in table.rows]
    return sortable_table(table.columns, rows, "Before and after")
