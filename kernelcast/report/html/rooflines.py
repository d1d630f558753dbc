"""Hierarchical rooflines of all estimates: of floating-point operations, or of instructions.

Williams, Waterman, Patterson (CACM 52(4), 2009) with a roof and a point for each level of the
memory (Yang, Kurth, Williams, CCPE 32(20), 2020). Kernels without floating-point operations have
warp instructions for work (Ding, Williams, IEEE/ACM PMBS 2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.report.details.levels import ISSUE
from kernelcast.report.html.entries import Entry
from kernelcast.report.html.page import Chart
from kernelcast.units import format_si

__all__ = ["Roofline", "roofline"]

Record = Mapping[str, Any]
_DASHES = {"DRAM": "solid", "L2": "dash", "L1": "dot", "shared": "dashdot"}
_SYMBOLS = {"DRAM": "circle", "L2": "square", "L1": "diamond", "shared": "triangle-up"}
_ALL_ROOFS = 2
"""The most estimates that show all their roofs at first; of more, only those of DRAM are seen."""
_ROOM = 6.0
"""The factor by which axes reach beyond points and ridges."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """One chart; `work` is what the kernels in it are measured by, `of` their estimates."""

    chart: Chart
    work: str
    of: tuple[str, ...]


def roofline(of: Sequence[Entry], *, of_instructions: bool) -> Roofline | None:
    """The roofline of the estimates with, or without, floating-point operations; None for none."""
    works = [(entry, _work(entry)) for entry in of]
    chosen = [
        (entry, work)
        for entry, work in works
        if work is not None
        and (work["symbol"] == ISSUE) == of_instructions
        and list(_levels(entry))
    ]
    if not chosen:
        return None
    left, right, low, high = _extent(chosen)
    traces = [
        trace
        for entry, work in chosen
        for trace in _traces(entry, work, (left, right), is_full=len(chosen) <= _ALL_ROOFS)
    ]
    unit = "instruction" if of_instructions else "flop"
    layout = {
        "xaxis": _axis(f"{_NAMES[unit]}s per byte that the level moves", "~g", left, right),
        "yaxis": _axis(f"{_NAMES[unit]}s per second", "~s", low, high),
        "legend": {"groupclick": "toggleitem"},
        "hovermode": "closest",
    }
    labels = tuple(entry.label for entry, _ in chosen)
    return Roofline(Chart(traces, layout, 480), unit, labels)


_NAMES = {"flop": "flop", "instruction": "warp instruction"}


def _work(entry: Entry) -> Record | None:
    """The floating-point rate that is used most, else that of issue slots."""
    rates = entry.details["rates"]
    flops = [rate for rate in rates if rate["unit"] == "flop"]
    issue = [rate for rate in rates if rate["symbol"] == ISSUE]
    return max(flops, key=lambda rate: float(rate["share"])) if flops else next(iter(issue), None)


def _levels(entry: Entry) -> Iterator[Record]:
    """The rates of memory, the nearest to the SM first."""
    return (rate for rate in entry.details["rates"] if rate["unit"] == "B")


def _extent(chosen: Sequence[tuple[Entry, Record]]) -> tuple[float, float, float, float]:
    xs, ys = [], []
    for entry, work in chosen:
        ys += [work["rate"], work["rate"] * work["share"]]
        for level in _levels(entry):
            xs += [work["work"] / level["work"], work["rate"] / level["rate"]]
    return min(xs) / _ROOM, max(xs) * _ROOM, min(ys) / _ROOM, max(ys) * 2


def _traces(
    entry: Entry, work: Record, across: tuple[float, float], *, is_full: bool
) -> Iterator[dict[str, Any]]:
    """The roof of arithmetic, a roof for each level, and a point for each level."""
    left, right = across
    peak, levels = work["rate"], list(_levels(entry))
    first = min(level["rate"] for level in levels)
    unit = f"{work['unit']}/s"
    yield _line(
        entry,
        [peak / max(level["rate"] for level in levels), right],
        [peak, peak],
        (f"{work['name']}: {format_si(peak, unit)} ({work['source']})", "solid"),
    )
    for level in levels:
        bandwidth, ridge = level["rate"], peak / level["rate"]
        text = f"{level['name']}: {format_si(bandwidth, 'B/s')} ({level['source']})"
        found = _line(
            entry,
            [left, ridge],
            [bandwidth * left, peak],
            (text, _DASHES.get(level["symbol"], "dot")),
        )
        is_seen = is_full or bandwidth == first
        yield found if is_seen else {**found, "visible": "legendonly"}
    yield _points(entry, work, levels[::-1])


def _line(
    entry: Entry, x: Sequence[float], y: Sequence[float], told: tuple[str, str]
) -> dict[str, Any]:
    text, dash = told
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text.partition(":")[0],
        "legendgroup": entry.drawn_label,
        "legendgrouptitle": {"text": entry.drawn_label},
        "x": list(x),
        "y": list(y),
        "line": {"color": entry.color, "dash": dash, "width": 1.6},
        "hovertext": [f"{entry.drawn_label}<br>{text}"] * len(x),
        "hoverinfo": "text",
    }


def _points(entry: Entry, work: Record, levels: Sequence[Record]) -> dict[str, Any]:
    reached = work["rate"] * work["share"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": entry.drawn_kernel,
        "legendgroup": entry.drawn_label,
        "legendgrouptitle": {"text": entry.drawn_label},
        "x": [work["work"] / level["work"] for level in levels],
        "y": [reached] * len(levels),
        "marker": {
            "symbol": [_SYMBOLS.get(level["symbol"], "x") for level in levels],
            "size": 12,
            "color": entry.color,
            "line": {"color": "var:text", "width": 1},
        },
        "hovertext": [_point_text(entry, work, level, reached) for level in levels],
        "hoverinfo": "text",
    }


def _point_text(entry: Entry, work: Record, level: Record, reached: float) -> str:
    unit = work["unit"]
    roof = min(work["rate"], level["rate"] * work["work"] / level["work"])
    return (
        f"{entry.drawn_kernel} on {entry.drawn_label}, seen from {level['symbol']}<br>"
        f"{work['work'] / level['work']:.4g} {unit}/B, {format_si(reached, f'{unit}/s')}<br>"
        f"{reached / roof:.1%} of the roof there"
    )


def _axis(title: str, tick_format: str, low: float, high: float) -> dict[str, Any]:
    return {
        "type": "log",
        "title": {"text": title},
        "range": [math.log10(low), math.log10(high)],
        "tickformat": tick_format,
        "dtick": 1,
        "minor": {"showgrid": False},
    }
