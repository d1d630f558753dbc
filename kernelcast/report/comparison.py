"""Estimates of before and after as a table, as Markdown for a comment, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelcast.comparison.comparison import Comparison, Pair
from kernelcast.report.data_table import DataTable
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

__all__ = ["comparison_record", "comparison_rows", "comparison_table"]

_COLUMNS = ("kernel", "device", ">before", ">after", ">change", "limited by", "because")


def comparison_table(result: Comparison, over: Sequence[Pair], limit: float | None) -> DataTable:
    """A row a pair; pairs `over` the limit are marked, and counted below."""
    models = {pair.either.model for pair in result.pairs}
    columns = _COLUMNS if len(models) == 1 else (*_COLUMNS[:2], "model", *_COLUMNS[2:])
    rows = tuple(_cells(pair, pair in over, with_model=len(models) > 1) for pair in result.pairs)
    return DataTable("", columns, rows, "" if limit is None else _verdict(over, limit))


def _verdict(over: Sequence[Pair], limit: float) -> str:
    if not over:
        return f"passed: no time grew by more than {limit:.1%}"
    names = ", ".join(
        f"{source_name(pair.either.kernel)} on {pair.either.device}"
        + (" (gone)" if pair.after is None else "")
        for pair in over
    )
    return f"FAILED: more than {limit:.1%} slower: {names}"


def _cells(pair: Pair, is_over: bool, *, with_model: bool) -> tuple[str, ...]:
    item, growth = pair.either, pair.growth
    change = "new" if pair.before is None else "gone" if pair.after is None else "-"
    if growth is not None:
        change = f"{growth:+.1%}"
    model = (item.model,) if with_model else ()
    return (
        *(source_name(item.kernel), item.device, *model),
        format_seconds(pair.before.time_s) if pair.before else "",
        format_seconds(pair.after.time_s) if pair.after else "",
        f"{change} !" if is_over else change,
        _limits(pair),
        _because(pair),
    )


def _limits(pair: Pair) -> str:
    names = [item.bottleneck for item in (pair.before, pair.after) if item is not None]
    return " -> ".join(dict.fromkeys(name for name in names if name))


def _because(pair: Pair) -> str:
    """Parts of the time that changed, and another code."""
    found = [f"{name} {_signed(seconds)}" for name, seconds in pair.causes()]
    if pair.before is not None and pair.after is not None and pair.before.code != pair.after.code:
        found.append(f"code {pair.before.code or 'unknown'} -> {pair.after.code or 'unknown'}")
    return ", ".join(found)


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{format_seconds(abs(seconds))}"


def comparison_record(
    result: Comparison, over: Sequence[Pair], limit: float | None
) -> dict[str, Any]:
    """Every pair with its times in seconds and its change as a share, and the verdict."""
    return {
        "limit": limit,
        "failed": len(over),
        "rows": [
            {
                "kernel": pair.either.kernel,
                "device": pair.either.device,
                "model": pair.either.model,
                "before_s": None if pair.before is None else pair.before.time_s,
                "after_s": None if pair.after is None else pair.after.time_s,
                "change": pair.growth,
                "bottleneck_before": None if pair.before is None else pair.before.bottleneck,
                "bottleneck_after": None if pair.after is None else pair.after.bottleneck,
                "causes": [{"what": name, "seconds": value} for name, value in pair.causes()],
                "over_limit": pair in over,
            }
            for pair in result.pairs
        ],
    }


def comparison_rows(result: Comparison) -> list[Sequence[object]]:
    """The pairs as rows below a header."""
    rows: list[Sequence[object]] = [("kernel", "device", "model", "before_s", "after_s", "change")]
    for pair in result.pairs:
        before = "" if pair.before is None else pair.before.time_s
        after = "" if pair.after is None else pair.after.time_s
        growth = "" if pair.growth is None else pair.growth
        rows.append((*pair.either.key, before, after, growth))
    return rows
