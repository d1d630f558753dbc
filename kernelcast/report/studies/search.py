"""The cheapest change that reaches a target, with what less and more of it would buy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.report.tables import column_table, first_rows, rest_text
from kernelcast.report.text import exact_number
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.studies.rows import label_of
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.simcore.device.rescaling import Scalar
    from kernelcast.studies.search import Candidate, Found

__all__ = ["search_record", "search_rows", "search_text"]

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


def search_text(found: Found, detail: int) -> RenderableType:
    """The answer, the frontier, and once what follows from the change."""
    kernel = source_name(found.kernel)
    now = f"{kernel} on {found.device}: {format_seconds(found.time_s)} by {found.model}"
    if found.cheapest is None:
        most = found.frontier[-1]
        answer = (
            f"nothing within the bounds makes it {found.target:g}x as fast: {most.speedup:.2f}x"
        )
    else:
        answer = (
            f"{found.cheapest.speedup:.2f}x with {label_of(found.cheapest.changes)}, "
            f"{found.cheapest.cost:.3g} doublings"
        )
    table = column_table("what each doubling buys", ">doublings", ">speed-up", "changes")
    shown = first_rows(found.frontier, _MOST_ROWS, detail)
    for item in shown:
        table.add_row(
            f"{item.cost:.3g}", f"{item.speedup:.2f}x", label_of(item.changes) or "as it is"
        )
    lines = [rest_text(len(shown), len(found.frontier), "changes")]
    if found.followed and detail:
        followed = (f"{i.name} {_shown(i.before)} -> {_shown(i.after)}" for i in found.followed)
        lines.append("derived: " + ", ".join(followed))
    elif found.followed:
        names = ", ".join(item.name for item in found.followed)
        lines.append(f"derived (-v shows the values): {names}")
    return Group(Text(now), Text(answer), table, *(Text(line) for line in lines if line))


def _shown(value: Scalar) -> str:
    return exact_number(value) if isinstance(value, float) else str(value)
