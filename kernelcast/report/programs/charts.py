"""The charts of a program: where its time goes by kernel, and its time line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernelcast.report.html.entries import COLORS, drawn
from kernelcast.report.html.page import Chart
from kernelcast.report.programs.overview import Overview, Track
from kernelcast.units import format_seconds

__all__ = ["kernels_chart", "timeline_chart"]

_BAR, _AROUND = 28, 110
"""Pixels of a bar, and of axes and legend."""
_MOST_NAMES = 9
_OTHERS, _COPIES = "other kernels", "copies and fills"
_NEAR = 1 / 300
"""Spans of one kernel with less than that share of the time line between them are one bar."""
_SECONDS = {"ticksuffix": "s", "tickformat": "~s", "rangemode": "tozero"}
_LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}


def kernels_chart(shown: Overview) -> Chart:
    """The time of all kernels and copies as a bar for each device, a part for each kernel."""
    devices = list(dict.fromkeys(item.device for item in shown.kernels))
    traces = []
    for name, color in _colors(shown).items():
        seconds = [_seconds(shown, name, device) for device in devices]
        if any(seconds):
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": drawn(name),
                    "y": devices,
                    "x": seconds,
                    "marker": {"color": color, "line": {"width": 1, "color": "var:page"}},
                    "hovertext": [
                        f"{drawn(name)}<br>{device}: {format_seconds(value)}"
                        for device, value in zip(devices, seconds, strict=True)
                    ],
                    "hoverinfo": "text",
                }
            )
    layout = {
        "barmode": "stack",
        "legend": _LEGEND,
        "showlegend": True,
        "xaxis": {**_SECONDS, "title": {"text": "time of all launches"}},
        "yaxis": _rows(devices),
    }
    return Chart(traces, layout, _AROUND + 20 * (len(traces) // 4) + _BAR * len(devices))


def timeline_chart(shown: Overview) -> Chart | None:
    """Launches and copies in time, a row for each stream of each device; None without any."""
    if not shown.tracks:
        return None
    colors = _colors(shown)
    end = max(span.end_s for track in shown.tracks for span in track.spans)
    labels = [drawn(track.label) for track in shown.tracks]
    found: dict[str, list[tuple[str, float, float, int]]] = {}
    for track, label in zip(shown.tracks, labels, strict=True):
        for name, start, stop, count in _joined(track, _NEAR * end, colors):
            found.setdefault(name, []).append((label, start, stop, count))
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": drawn(name),
            "y": [label for label, *_ in bars],
            "base": [start for _, start, _, _ in bars],
            "x": [stop - start for _, start, stop, _ in bars],
            "marker": {"color": colors[name], "line": {"width": 0}},
            "hovertext": [
                f"{drawn(name)}, {count:,} times<br>from {format_seconds(start)} to "
                f"{format_seconds(stop)}"
                for _, start, stop, count in bars
            ],
            "hoverinfo": "text",
        }
        for name, bars in sorted(found.items(), key=lambda item: list(colors).index(item[0]))
    ]
    layout: dict[str, Any] = {
        "barmode": "overlay",
        "legend": _LEGEND,
        "showlegend": True,
        "xaxis": {**_SECONDS, "title": {"text": "since the first call"}},
        "yaxis": _rows(labels),
    }
    return Chart(traces, layout, _AROUND + 20 * (len(traces) // 4) + _BAR * len(labels))


def _rows(labels: Sequence[str]) -> dict[str, Any]:
    return {"categoryorder": "array", "categoryarray": labels, "autorange": "reversed"}


def _colors(shown: Overview) -> dict[str, str]:
    """Colours of the kernels that take longest, of all others, and of copies."""
    names = list(dict.fromkeys(item.name for item in shown.kernels))[:_MOST_NAMES]
    found = {name: f"var:{color}" for name, color in zip(names, COLORS, strict=False)}
    return {**found, _OTHERS: "var:gray", _COPIES: "var:gray@0.5"}


def _seconds(shown: Overview, name: str, device: str) -> float:
    if name == _COPIES:
        return shown.copies_s.get(device, 0.0)
    colors = _colors(shown)
    return sum(
        item.total_s or 0.0
        for item in shown.kernels
        if item.device == device and (item.name if item.name in colors else _OTHERS) == name
    )


def _joined(
    track: Track, near_s: float, known: dict[str, str]
) -> Iterator[tuple[str, float, float, int]]:
    """Name, start, end and number of the spans that a bar stands for."""
    last: dict[str, tuple[float, float, int]] = {}
    for span in sorted(track.spans, key=lambda item: item.start_s):
        name = span.name if span.name in known else _OTHERS
        if name in last:
            start, end, count = last[name]
            if span.start_s <= end + near_s:
                last[name] = start, max(end, span.end_s), count + 1
                continue
            yield name, start, end, count
        last[name] = span.start_s, span.end_s, 1
    for name, bar in last.items():
        yield name, *bar
