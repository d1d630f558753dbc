"""The cheapest change that reaches a target, with what less and more of it would buy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.report.tables import column_table, first_rows, rest_text
from kernelcast.report.text import exact_number
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.simcore.device.rescaling import Scalar
    from kernelcast.studies.search import Candidate, Found

__all__ = ["search_page", "search_record", "search_rows", "search_text"]

_MOST_ROWS = 12


def search_record(found: Found) -> dict[str, Any]:
    """The cheapest change, null where there is none, and the frontier."""
    cheapest = found.cheapest
    return {
        "kernel": found.kernel,
        "device": found.device,
        "model": found.model,
        "target": found.target,
        "time_s": found.time_s,
        "cheapest": None if cheapest is None else _candidate(cheapest),
        "derived": {item.name: item.after for item in found.followed},
        "frontier": [_candidate(item) for item in found.frontier],
        "estimates": found.estimates,
    }


def _candidate(item: Candidate) -> dict[str, Any]:
    return {"set": dict(item.changes), "cost": item.cost, "speedup": item.speedup}


def search_rows(found: Found) -> list[Sequence[object]]:
    """The frontier, a column for each fact, empty where it is as it is."""
    names = list(dict.fromkeys(name for item in found.frontier for name in item.changes))
    rows = [
        (*(item.changes.get(name, "") for name in names), item.cost, item.speedup)
        for item in found.frontier
    ]
    return [(*names, "cost", "speedup"), *rows]


def _answer(found: Found) -> str:
    if found.cheapest is None:
        most = found.frontier[-1]
        return f"nothing within the bounds makes it {found.target:g}x as fast: {most.speedup:.2f}x"
    return (
        f"{found.cheapest.speedup:.2f}x with {_changes(found.cheapest)}, "
        f"{found.cheapest.cost:.3g} doublings"
    )


def _changes(item: Candidate) -> str:
    """What is changed, in four digits: the record has all of them."""
    changes = (
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in item.changes.items()
    )
    return ", ".join(changes) or "as it is"


def _now(found: Found) -> str:
    kernel = source_name(found.kernel)
    return f"{kernel} on {found.device}: {format_seconds(found.time_s)} by {found.model}"


def search_page(found: Found) -> str:
    """The text of an HTML file: the frontier as a chart and a table, and what follows.

    KernelcastError where plotly is not installed.
    """
    from kernelcast.report.html.page import Cell, Chart, chart_figure, headed, page, sortable_table

    changes = [_changes(item) for item in found.frontier]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "cheapest changes",
        "line": {"shape": "hv"},
        "x": [item.cost for item in found.frontier],
        "y": [item.speedup for item in found.frontier],
        "text": changes,
        "hovertemplate": "%{text}<br>%{x:.3g} doublings, %{y:.2f}x<extra></extra>",
    }
    wanted = {
        "type": "scatter",
        "mode": "lines",
        "name": "target",
        "x": [0.0, max(item.cost for item in found.frontier)],
        "y": [found.target, found.target],
        "line": {"dash": "dash"},
    }
    layout = {
        "xaxis": {"title": {"text": "doublings of what is changed"}},
        "yaxis": {"title": {"text": "times as fast"}},
    }
    rows = [
        (Cell(f"{item.cost:.3g}", item.cost), Cell(f"{item.speedup:.2f}x", item.speedup), text)
        for item, text in zip(found.frontier, changes, strict=True)
    ]
    followed = [(item.name, _shown(item.before), _shown(item.after)) for item in found.followed]
    title = _now(found)
    parts = [
        chart_figure("frontier", _answer(found), title),
        sortable_table((">doublings", ">speed-up", "changes"), rows, "What each doubling buys"),
    ]
    if followed:
        columns = ("fact", "before", "after")
        parts.append(sortable_table(columns, followed, "What follows from the change"))
    return page(title, headed(title, parts), charts={"frontier": Chart([trace, wanted], layout)})


def search_text(found: Found, detail: int) -> RenderableType:
    """The answer, the frontier, and once what follows from the change."""
    table = column_table("what each doubling buys", ">doublings", ">speed-up", "changes")
    shown = first_rows(found.frontier, _MOST_ROWS, detail)
    for item in shown:
        table.add_row(f"{item.cost:.3g}", f"{item.speedup:.2f}x", _changes(item))
    lines = [rest_text(len(shown), len(found.frontier), "changes")]
    if found.followed and detail:
        followed = (f"{i.name} {_shown(i.before)} -> {_shown(i.after)}" for i in found.followed)
        lines.append("derived: " + ", ".join(followed))
    elif found.followed:
        names = ", ".join(item.name for item in found.followed)
        lines.append(f"derived (-v shows the values): {names}")
    return Group(
        Text(_now(found)), Text(_answer(found)), table, *(Text(line) for line in lines if line)
    )


def _shown(value: Scalar) -> str:
    return exact_number(value) if isinstance(value, float) else str(value)
