"""A sweep as a page: tables, a tornado, a heat map and Pareto fronts of each kernel and model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kernelcast.report.html.page import Cell, Chart, chart_figure, headed, page, sortable_table
from kernelcast.report.studies.findings import COSTS
from kernelcast.studies.findings import (
    best_devices,
    changes_that_pay,
    grouped,
    pareto_front,
)
from kernelcast.studies.rows import CHANGE
from kernelcast.studies.sensitivity import Effect, effects, indices
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from markupsafe import Markup

    from kernelcast.studies.data_set import SweepResult

__all__ = ["study_page"]

_MOST_ROWS, _MOST_CHARTS = 200, 12


def study_page(result: SweepResult) -> str:
    """The text of the HTML file; KernelcastError where plotly is not installed."""
    rows, found = result.good, effects(result.good)
    charts: dict[str, tuple[Chart, str, str]] = {}
    for number, ((kernel, model), group) in enumerate(grouped(rows, "kernel", "model").items()):
        if len(charts) >= _MOST_CHARTS:
            break
        own = [item for item in found if (item.kernel, item.model) == (kernel, model)]
        name = f"{kernel}, {model}"
        for what, made in _charts(group, own):
            caption = f"{name}: {what}"
            charts[f"chart{number}{len(charts)}"] = made, caption, caption
    parts = [_best(rows), *_sensitivity(result, found), _failures(result)]
    figures = [chart_figure(key, caption, text) for key, (_, caption, text) in charts.items()]
    title = f"Sweep of {len(result.rows):,} points"
    return page(
        title,
        headed(title, [*parts[:1], *figures, *parts[1:]]),
        charts={key: chart for key, (chart, *_) in charts.items()},
    )


def _charts(rows: Sequence[Any], found: Sequence[Effect]) -> Iterator[tuple[str, Chart]]:
    if found:
        yield "tornado", _tornado(found)
    if len(found) > 1 and found[0].device == found[1].device:
        yield "mean time", _heat_map(rows, found[0], found[1])
    for cost, label in COSTS.items():
        if len({row[cost] for row in rows}) > 1:
            yield f"time against {label}", _front(rows, cost, label)


def _tornado(found: Sequence[Effect]) -> Chart:
    device = found[0].device
    own = sorted((item for item in found if item.device == device), key=lambda item: item.swing)
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": [item.fact for item in own],
        "base": [1e6 * item.low_s for item in own],
        "x": [1e6 * (item.high_s - item.low_s) for item in own],
        "text": [f"{item.at_low} to {item.at_high}" for item in own],
        "hovertemplate": "%{y}: %{base:.4g} to %{x:.4g} µs at %{text}<extra></extra>",
        "marker": {"color": "var:blue"},
    }
    return Chart([trace], {"xaxis": {"title": {"text": f"mean time on {device}, µs"}}})


def _heat_map(rows: Sequence[Any], first: Effect, second: Effect) -> Chart:
    own = [row for row in rows if row["device"] == first.device and row["changes"]]
    cells = grouped(own, CHANGE + first.fact, CHANGE + second.fact)
    xs = sorted({x for x, _ in cells}, key=_order)
    ys = sorted({y for _, y in cells}, key=_order)
    trace = {
        "type": "heatmap",
        "x": [str(x) for x in xs],
        "y": [str(y) for y in ys],
        "z": [[_mean_us(cells.get((x, y), [])) for x in xs] for y in ys],
        "colorbar": {"title": {"text": "µs"}},
    }
    layout = {
        "xaxis": {"title": {"text": first.fact}, "type": "category"},
        "yaxis": {"title": {"text": second.fact}, "type": "category"},
    }
    return Chart([trace], layout)


def _order(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _mean_us(rows: Sequence[Any]) -> float | None:
    """The geometric mean in microseconds."""
    if not rows:
        return None
    return 1e6 * math.exp(sum(math.log(row["time_s"]) for row in rows) / len(rows))


def _front(rows: Sequence[Any], cost: str, label: str) -> Chart:
    front = pareto_front(rows, cost)
    traces = [
        _points(rows, cost, {"mode": "markers", "name": "points", "marker": {"size": 5}}),
        _points(
            front,
            cost,
            {"mode": "lines+markers", "name": "Pareto front", "line": {"shape": "hv"}},
        ),
    ]
    layout = {
        "xaxis": {"title": {"text": label}, "type": "log"},
        "yaxis": {"title": {"text": "time, µs"}, "type": "log"},
    }
    return Chart(traces, layout)


def _points(rows: Sequence[Any], cost: str, style: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [row[cost] for row in rows],
        "y": [1e6 * row["time_s"] for row in rows],
        "text": [_how(row) for row in rows],
        "hovertemplate": "%{text}<br>%{x:.4s}, %{y:.4g} µs<extra></extra>",
        **style,
    }


def _how(row: Any) -> str:
    """Device, launch and changes, in which nothing is markup of plotly's."""
    text = ", ".join(filter(None, (row["device"], row["launch"], row["changes"])))
    return text.replace("<", "‹").replace(">", "›")


def _best(rows: Sequence[Any]) -> Markup:
    best = best_devices(rows)
    cells = [
        (
            row["kernel"],
            row["model"],
            row["device"],
            row["launch"],
            row["changes"],
            _time(row["time_s"]),
            row["bottleneck"],
        )
        for row in best
    ]
    columns = ("kernel", "model", "device", "launch", "changes", ">time", "limited by")
    return sortable_table(columns, cells, "Fastest device of each kernel")


def _time(seconds: float) -> Cell:
    return Cell(format_seconds(seconds), seconds)


def _number(value: float | None, text: str) -> Cell:
    return Cell("" if value is None else text.format(value), value)


def _sensitivity(result: SweepResult, found: Sequence[Effect]) -> Iterator[Markup]:
    if not found:
        return
    rows = [
        (
            *(item.kernel, item.device, item.model, item.fact),
            _number(item.elasticity, "{:+.3f}"),
            _number(item.swing, "{:.2f}x"),
            Cell(f"{item.reduction:.0%}", item.reduction, share=min(1.0, item.reduction)),
        )
        for item in found[:_MOST_ROWS]
    ]
    columns = ("kernel", "device", "model", "fact", ">elasticity", ">swing", ">of variance")
    yield sortable_table(columns, rows, "What moves the time")
    drawn = [] if result.design is None else indices(result.rows, result.design)
    if drawn:
        assert result.design is not None
        names = (
            (">first order", ">total") if result.design.method == "sobol" else (">mu*", ">sigma")
        )
        lines = [
            (
                *(item.kernel, item.launch, item.device, item.model, item.fact),
                _number(item.first, "{:.3f}"),
                _number(item.second, "{:.3f}"),
            )
            for item in drawn[:_MOST_ROWS]
        ]
        yield sortable_table(
            ("kernel", "launch", "device", "model", "fact", *names),
            lines,
            f"Indices of the {result.design.method} design",
        )
    pays = [
        (
            *(row["kernel"], row["launch"], row["device"], row["model"], row["changes"]),
            _number(gain, "{:.2f}x"),
        )
        for row, gain in changes_that_pay(result.good)[:_MOST_ROWS]
    ]
    yield sortable_table(
        ("kernel", "launch", "device", "model", "changes", ">speed-up"), pays, "Which change pays"
    )


def _failures(result: SweepResult) -> Markup:
    counts = grouped([row for row in result.rows if row["error"]], "error")
    rows = [
        (error, _number(len(group), "{:,}"))
        for (error,), group in sorted(counts.items(), key=lambda item: -len(item[1]))[:_MOST_ROWS]
    ]
    return sortable_table(("why", ">points"), rows, f"{result.failed:,} points without a time")
