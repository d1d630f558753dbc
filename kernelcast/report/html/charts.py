"""The charts of a report, but for rooflines: times, shares of peaks, cycles, instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernelcast.report.html.entries import Entry
from kernelcast.report.html.page import Chart
from kernelcast.units import format_count, format_seconds, format_si

__all__ = ["cycles_chart", "light_chart", "mix_chart", "times_chart", "topdown_chart"]

Record = Mapping[str, Any]
_LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}
_BAR, _AROUND = 20, 110
"""Pixels of a bar, and of axes and legend."""
_MOST_BARS = 6
"""The most estimates whose bars stand side by side."""
_LOGARITHMIC_FROM = 30.0
_LEVELS = ("shared", "L1", "L2", "DRAM")
_SMALL = 0.015
"""Parts of a time below that share are drawn as one."""
_GROUP_COLORS = {
    "issue": "green",
    "functional units": "blue",
    "memory bandwidth": "red",
    "exposed latency": "orange",
    "barriers and fences": "purple",
    "thread blocks that come and go": "teal",
    "tail": "brown",
    "imbalance": "pink",
    "launch": "gray",
}
_OTHERS = ("olive", "teal", "brown", "pink", "gray")


def times_chart(of: Sequence[Entry]) -> Chart:
    """The time of each estimate with its range."""
    seconds = [entry.item["time_s"] for entry in of]
    is_logarithmic = max(seconds) > _LOGARITHMIC_FROM * min(seconds)
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "y": [entry.drawn_label for entry in of],
        "x": seconds,
        "marker": {"color": [entry.color for entry in of], "size": 12, "symbol": "diamond"},
        "text": [format_seconds(value) for value in seconds],
        "textposition": "top center",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [entry.item["time_high_s"] - entry.item["time_s"] for entry in of],
            "arrayminus": [entry.item["time_s"] - entry.item["time_low_s"] for entry in of],
            "color": "var:text",
            "thickness": 1.5,
            "width": 6,
        },
        "hovertext": [
            f"{entry.drawn_label}: {format_seconds(entry.item['time_s'])}, from "
            f"{format_seconds(entry.item['time_low_s'])} to "
            f"{format_seconds(entry.item['time_high_s'])}"
            for entry in of
        ],
        "hoverinfo": "text",
    }
    axis: dict[str, Any] = {"ticksuffix": "s", "tickformat": "~s"}
    axis |= {"type": "log", "dtick": 1} if is_logarithmic else {"rangemode": "tozero"}
    labels = [entry.drawn_label for entry in of]
    names = {"categoryarray": labels, "range": [len(of) - 0.5, -0.9]}
    layout = {"xaxis": axis, "yaxis": {"categoryorder": "array", **names}}
    return Chart([trace], layout, 70 + 2 * _BAR * len(of))


def light_chart(of: Sequence[Entry]) -> Chart:
    """How near each launch comes to the peak rate of each part of its device."""
    rates = (rate for entry in of for rate in entry.details["rates"])
    names = [rate["name"] for rate in sorted(rates, key=_nearness)]
    names = list(dict.fromkeys(names))
    if len(of) > _MOST_BARS:
        shares = [{rate["name"]: rate["share"] for rate in entry.details["rates"]} for entry in of]
        return _heat(of, names, shares, "of the peak rate")
    traces = []
    for entry in of:
        rates = entry.details["rates"]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": entry.drawn_label,
                "y": [rate["name"] for rate in rates],
                "x": [100 * rate["share"] for rate in rates],
                "marker": {"color": entry.color},
                "text": [f"{100 * rate['share']:.0f} %" for rate in rates],
                "textposition": "auto",
                "insidetextfont": {"color": "var:page"},
                "outsidetextfont": {"color": "var:text"},
                "hovertext": [_light_text(entry, rate) for rate in rates],
                "hoverinfo": "text",
            }
        )
    most = max((rate["share"] for entry in of for rate in entry.details["rates"]), default=1.0)
    layout = {
        "barmode": "group",
        "legend": _LEGEND,
        "showlegend": len(of) > 1,
        "xaxis": {
            "title": {"text": "share of the peak rate"},
            "range": [0, max(100.0, 105.0 * most)],
            "ticksuffix": " %",
        },
        "yaxis": {"categoryorder": "array", "categoryarray": names, "autorange": "reversed"},
    }
    return Chart(traces, layout, _AROUND + len(names) * (14 + 16 * len(of)))


def _nearness(rate: Record) -> int:
    """The order of parts: what computes, then memory from the SM outwards."""
    symbol = rate["symbol"]
    return 1 + _LEVELS.index(symbol) if symbol in _LEVELS else 0


def _light_text(entry: Entry, rate: Record) -> str:
    unit = f"{rate['unit']}/s"
    reached, peak = (format_si(rate["rate"] * share, unit) for share in (rate["share"], 1.0))
    return (
        f"{entry.drawn_label}, {rate['name']}<br>{reached} of {peak}: {rate['share']:.1%}"
        f"<br>{rate['source']}"
    )


def cycles_chart(of: Sequence[Entry]) -> Chart | None:
    """The time of each estimate as a bar of its parts, those that add up; None where none do."""
    summed = [entry for entry in of if entry.item["terms"]["combine"] == "sum"]
    if not summed:
        return None
    parts = {entry.number: list(_leaves(entry.item["terms"])) for entry in summed}
    names: dict[str, str] = {}
    for entry in summed:
        for group, name, seconds in parts[entry.number]:
            if seconds >= _SMALL * entry.item["time_s"]:
                names.setdefault(name, group)
    traces = [
        _cycles_trace(summed, parts, name, group, shade) for group, name, shade in _shaded(names)
    ]
    rest = [
        sum(value for _, name, value in parts[entry.number] if name not in names)
        for entry in summed
    ]
    if any(rest):
        traces.append(_stack("all others", rest, summed, "var:gray@0.5"))
    layout = {
        "barmode": "stack",
        "legend": {**_LEGEND, "y": 1.06},
        "showlegend": True,
        "xaxis": {"range": [0, 100], "ticksuffix": " %"},
        "yaxis": _names(summed),
        "margin": {"l": 60, "r": 20, "t": 90, "b": 30},
    }
    return Chart(traces, layout, 150 + 2 * _BAR * len(summed))


def _shaded(names: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """Parts by their groups, the more of a group the fainter."""
    groups = dict.fromkeys((*_GROUP_COLORS, *names.values()))
    for group in groups:
        of_group = [name for name, own in names.items() if own == group]
        for number, name in enumerate(of_group):
            yield group, name, 1.0 - 0.6 * number / max(1, len(of_group))


def _cycles_trace(
    of: Sequence[Entry],
    parts: Mapping[int, Sequence[tuple[str, str, float]]],
    name: str,
    group: str,
    shade: float,
) -> dict[str, Any]:
    seconds = [sum(value for _, part, value in parts[entry.number] if part == name) for entry in of]
    color = _GROUP_COLORS.get(group) or _OTHERS[len(group) % len(_OTHERS)]
    return _stack(name, seconds, of, f"var:{color}@{shade:.2f}")


def _stack(name: str, seconds: Sequence[float], of: Sequence[Entry], color: str) -> dict[str, Any]:
    shares = [value / entry.item["time_s"] for value, entry in zip(seconds, of, strict=True)]
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [entry.drawn_label for entry in of],
        "x": [100 * share for share in shares],
        "marker": {"color": color, "line": {"width": 1, "color": "var:page"}},
        "hovertext": [
            f"{name}<br>{entry.drawn_label}: {format_seconds(value)}, {share:.1%} of the time"
            for entry, value, share in zip(of, seconds, shares, strict=True)
        ],
        "hoverinfo": "text",
    }


def _leaves(term: Record, group: str = "") -> Iterator[tuple[str, str, float]]:
    """Group, name and seconds of the parts that have none below them."""
    for part in term["parts"]:
        if part["parts"]:
            yield from _leaves(part, group or part["name"])
        else:
            yield group or part["name"], part["name"], part["seconds"]


def topdown_chart(parts: Sequence[Record]) -> Chart:
    """Shares of the issue slots in three levels, one beside the other."""
    rows = list(_topdown_rows(parts, "issue slots"))
    colors = {"Retire": "green", "Divergence": "purple", "Frontend": "orange", "Backend": "red"}
    trace = {
        "type": "icicle",
        "ids": ["issue slots", *(row[0] for row in rows)],
        "labels": ["issue slots", *(row[1] for row in rows)],
        "parents": ["", *(row[2] for row in rows)],
        "values": [sum(part["percent"] for part in parts), *(row[3] for row in rows)],
        "branchvalues": "total",
        "texttemplate": "%{label}<br>%{value:.1f} %",
        "hovertemplate": "%{label}: %{value:.1f} % of the issue slots<extra></extra>",
        "tiling": {"orientation": "h"},
        "sort": False,
        "leaf": {"opacity": 1},
        "textfont": {"color": "var:page"},
        "pathbar": {"visible": False},
        "marker": {
            "colors": [
                "var:gray",
                *(f"var:{colors.get(row[4], 'blue')}" for row in rows),
            ],
            "line": {"color": "var:page", "width": 1},
        },
    }
    layout = {
        "margin": {"l": 0, "r": 0, "t": 6, "b": 6},
        "uniformtext": {"minsize": 10, "mode": "hide"},
    }
    return Chart([trace], layout, 340)


def _topdown_rows(
    parts: Sequence[Record], parent: str, first: str = ""
) -> Iterator[tuple[str, str, str, float, str]]:
    """Id, label, id of the parent, percent, and the name on the first level."""
    for part in parts:
        if part["percent"] > 0:
            mine = f"{parent}/{part['name']}"
            top = first or part["name"]
            yield mine, part["name"], parent, part["percent"], top
            yield from _topdown_rows(part["parts"], mine, top)


def mix_chart(of: Sequence[Entry]) -> Chart | None:
    """Which units the warp instructions go to; None where no profile tells."""
    counted = [entry for entry in of if entry.details["mix"]]
    if not counted:
        return None
    units = list(dict.fromkeys(row["unit"] for entry in counted for row in entry.details["mix"]))
    found = [_by_unit(entry, units) for entry in counted]
    if len(of) > _MOST_BARS:
        shares = [
            {unit: count / (sum(warps) or 1) for unit, count in zip(units, warps, strict=True)}
            for warps in found
        ]
        return _heat(counted, units, shares, "of the warp instructions")
    traces = []
    for entry, warps in zip(counted, found, strict=True):
        total = sum(warps) or 1
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": entry.drawn_label,
                "y": units,
                "x": [100 * count / total for count in warps],
                "marker": {"color": entry.color},
                "hovertext": [
                    f"{entry.drawn_label}, {unit}<br>{format_count(count)} warp instructions "
                    f"a launch, {count / total:.1%}"
                    for unit, count in zip(units, warps, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    layout = {
        "barmode": "group",
        "legend": _LEGEND,
        "showlegend": len(counted) > 1,
        "xaxis": {"title": {"text": "share of the warp instructions"}, "ticksuffix": " %"},
        "yaxis": {"categoryorder": "array", "categoryarray": units, "autorange": "reversed"},
    }
    return Chart(traces, layout, _AROUND + len(units) * max(24, 14 * len(counted)))


def _by_unit(entry: Entry, units: Sequence[str]) -> list[float]:
    """Warp instructions of each unit."""
    return [
        sum(row["warps"] for row in entry.details["mix"] if row["unit"] == unit) for unit in units
    ]


def _heat(
    of: Sequence[Entry], names: Sequence[str], shares: Sequence[Mapping[str, float]], told: str
) -> Chart:
    """A field for each estimate and name, where bars would be too many."""
    percents = [
        [100 * share[name] if name in share else None for name in names] for share in shares
    ]
    trace = {
        "type": "heatmap",
        "x": list(names),
        "y": [entry.drawn_label for entry in of],
        "z": percents,
        "zmin": 0,
        "zmax": 100,
        "colorscale": [[0, "var:page"], [1, "var:red"]],
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "text": [["" if value is None else f"{value:.0f} %" for value in row] for row in percents],
        "texttemplate": "%{text}",
        "hoverongaps": False,
        "hovertemplate": f"%{{y}}, %{{x}}: %{{z:.1f}} % {told}<extra></extra>",
    }
    layout = {
        "xaxis": {"side": "top", "showgrid": False},
        "yaxis": {**_names(of), "showgrid": False},
        "margin": {"l": 60, "r": 20, "t": 60, "b": 10},
    }
    return Chart([trace], layout, _AROUND + _BAR * len(of))


def _names(of: Sequence[Entry]) -> dict[str, Any]:
    labels = [entry.drawn_label for entry in of]
    return {"categoryorder": "array", "categoryarray": labels, "autorange": "reversed"}
