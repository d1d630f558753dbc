"""Rankings of launch configurations as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.ranking.ranking import Ranking, RankingRow
from kernelcast.ranking.variations import folding_label, shape_label
from kernelcast.report.tables import column_table, first_rows
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

__all__ = ["rank_record", "rank_rows", "rank_table"]

Rows = list[Sequence[object]]
_HEADINGS = {
    "l1_passes_per_work": "L1 passes",
    "l2_load_bytes_per_work": "L2 loads",
    "dram_load_bytes_per_work": "DRAM loads",
    "dram_store_bytes_per_work": "stores",
    "dram_bytes": "DRAM",
    "l2_l1_load_bytes": "L2 loads",
}
"""Headings of the volumes that a terminal has room for.

Cycles of L1 and bytes, of a unit of work where they come from addresses.
"""
_MOST_REASONS = 2


def rank_record(rankings: Sequence[Ranking]) -> dict[str, Any]:
    """One device's ranking itself, or a list of several under `rankings`."""
    records = [_record(ranking) for ranking in rankings]
    if len(records) == 1:
        return records[0]
    return {"kernel": rankings[0].kernel, "rankings": records}


def _record(ranking: Ranking) -> dict[str, Any]:
    best_s = ranking.rows[0].time_s if ranking.rows else 0.0
    return {
        "kernel": ranking.kernel,
        "device": ranking.device,
        "model": ranking.model,
        "seconds_per_configuration": ranking.seconds_per_configuration,
        "rows": [
            {
                "rank": row.rank,
                "block": list(row.configuration.thread_block),
                "folding": folding_label(row.configuration.folding),
                "time_s": row.time_s,
                "over_best": row.time_s / best_s if best_s else 1.0,
                "limiter": row.limiter,
                "pareto": row.is_undominated,
                "volumes": dict(row.volumes),
            }
            for row in ranking.rows
        ],
        "refused": [
            {
                "block": list(configuration.thread_block),
                "folding": folding_label(configuration.folding),
                "reason": reason,
            }
            for configuration, reason in ranking.refused
        ],
        "statements": list(ranking.statements),
    }


def rank_rows(rankings: Sequence[Ranking]) -> Rows:
    """A column for each volume that any of the devices has."""
    names = _volume_names(rankings)
    header = ("device", "model", "rank", "block", "folding", "time_s", "limiter", "pareto", *names)
    return [
        header,
        *(
            (
                ranking.device,
                ranking.model,
                row.rank,
                shape_label(row.configuration.thread_block),
                folding_label(row.configuration.folding),
                row.time_s,
                row.limiter,
                int(row.is_undominated),
                *(row.volumes.get(name, "") for name in names),
            )
            for ranking in rankings
            for row in ranking.rows
        ),
    ]


def rank_table(rankings: Sequence[Ranking], top: int, detail: int) -> RenderableType:
    """A table for each device, of its `top` fastest configurations, of all when that is 0."""
    return Group(*(part for ranking in rankings for part in _tables(ranking, top, detail)))


def _tables(ranking: Ranking, top: int, detail: int) -> Iterator[RenderableType]:
    names = [name for name in _HEADINGS if any(name in row.volumes for row in ranking.rows)]
    title = f"{source_name(ranking.kernel)} on {ranking.device} ({ranking.model})"
    columns = (">rank", "block", "folding", ">time", ">/ best", "limited by")
    table = column_table(title, *columns, *(f">{_HEADINGS[name]}" for name in names))
    shown = ranking.rows[:top] if top else ranking.rows
    for row in shown:
        table.add_row(*_cells(row, ranking.rows[0].time_s, names))
    yield table
    if len(shown) < len(ranking.rows):
        yield Text(f"and {len(ranking.rows) - len(shown)} slower ones (--top 0 shows all)")
    for line in (ranking.pareto_note, *_limiters(ranking), *_refusals(ranking, detail)):
        if line:
            yield Text(line)
    yield from map(Text, ranking.statements)
    yield Text(f"{format_seconds(ranking.seconds_per_configuration)} of a core a configuration\n")


def _cells(row: RankingRow, best_s: float, names: Sequence[str]) -> list[str]:
    mark = "*" if row.is_undominated else ""
    return [
        f"{mark}{row.rank}",
        shape_label(row.configuration.thread_block),
        folding_label(row.configuration.folding),
        format_seconds(row.time_s),
        f"{row.time_s / best_s:.3f}" if best_s else "1.000",
        row.limiter,
        *(f"{row.volumes[name]:.4g}" if name in row.volumes else "" for name in names),
    ]


def _limiters(ranking: Ranking) -> Iterator[str]:
    """How many configurations each resource limits."""
    counts: dict[str, int] = {}
    for row in ranking.rows:
        counts[row.limiter] = counts.get(row.limiter, 0) + 1
    if len(counts) > 1:
        parts = (f"{count} by {name}" for name, count in counts.items())
        yield f"limited: {', '.join(parts)}"


def _refusals(ranking: Ranking, detail: int) -> Iterator[str]:
    """The reasons with how many configurations they concern, the most frequent ones first."""
    reasons: dict[str, list[str]] = {}
    for configuration, reason in ranking.refused:
        reasons.setdefault(reason, []).append(configuration.label)
    ordered = sorted(reasons.items(), key=lambda item: -len(item[1]))
    shown = first_rows(ordered, _MOST_REASONS, detail)
    for reason, labels in shown:
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        yield f"not ranked: {labels[0]}{more}: {reason}"
    rest = sum(len(labels) for _, labels in ordered[len(shown) :])
    if rest:
        yield f"not ranked: {rest} more for other reasons (-v lists them)"


def _volume_names(rankings: Sequence[Ranking]) -> list[str]:
    return list(
        dict.fromkeys(name for ranking in rankings for row in ranking.rows for name in row.volumes)
    )
