"""The answer of `estimate` on one screen: times, limits, what to change, how far to trust them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kernelcast.glossary import glossary
from kernelcast.models.achieved import DRAM
from kernelcast.models.estimate import executed_codes
from kernelcast.report.records import speed_ups
from kernelcast.report.tables import column_table, plain_table
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds, format_si

if TYPE_CHECKING:
    from kernelcast.models.estimate import Estimate

__all__ = ["Answer", "answer", "glossary_table", "summary"]

_MOST_CHANGES = 2
_DIGITS = 3
_MORE = "-v shows where the time goes, -vv every figure and assumption; --explain WORD a word."


@dataclass(frozen=True, slots=True)
class Answer:
    """What is told of one kernel; a row for each estimate, columns that begin with `>` are numbers.

    `changes` are those that gain most, `trust` and `cautions` say how far to believe the times.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    changes: tuple[str, ...]
    trust: tuple[str, ...]
    cautions: tuple[str, ...]


def answer(estimates: Sequence[Estimate]) -> Answer:
    """The answer in words; columns that would say the same in all rows are left out."""
    rows = _times(estimates)
    columns = tuple(name for name in rows[0] if _is_told(name, rows))
    return Answer(
        _title(estimates[0]),
        columns,
        tuple(tuple(row[name] for name in columns) for row in rows),
        tuple(_changes(estimates)),
        tuple(_trust(estimates)),
        tuple(_cautions(estimates)),
    )


def summary(estimates: Sequence[Estimate]) -> RenderableType:
    """A title, a row for each estimate, the changes that gain most, and a few words of trust."""
    told = answer(estimates)
    table = column_table("", *told.columns)
    for row in told.rows:
        table.add_row(*row)
    return Group(
        Text(told.title, style="bold"),
        table,
        *(_hanging("Change", line) for line in told.changes),
        *(_hanging("Trust", line) for line in told.trust),
        *(_hanging("Caution", line, style="yellow") for line in told.cautions),
        Text(_MORE, style="dim"),
    )


def glossary_table() -> RenderableType:
    """All words of an answer with their meanings."""
    table = plain_table()
    table.add_column("word", no_wrap=True)
    table.add_column("meaning")
    for word, meaning in glossary().items():
        table.add_row(word, meaning)
    return table


def _title(estimate: Estimate) -> str:
    launches = f", {estimate.repeats} launches" if estimate.repeats > 1 else ""
    return f"{source_name(estimate.kernel)}{launches}"


def _times(estimates: Sequence[Estimate]) -> list[dict[str, str]]:
    """A row for each estimate."""
    return [
        {
            "device": item.device,
            "model": item.model,
            ">time": format_seconds(item.time_s),
            ">range": _range(item),
            ">speed-up": f"{speed_up:.2f}x",
            "limited by": item.bottleneck,
            ">without it": "" if item.gain is None else f"{item.gain:.2f}x",
            ">of FLOP/s": _arithmetic(item.achieved),
            ">of DRAM": _percent(item.achieved.get(DRAM)),
        }
        for item, speed_up in zip(estimates, speed_ups(estimates), strict=True)
    ]


def _is_told(name: str, rows: Sequence[Mapping[str, str]]) -> bool:
    if name == ">speed-up":
        return len(rows) > 1
    if name == "model":
        return len({row[name] for row in rows}) > 1
    return any(row[name] for row in rows)


def _range(estimate: Estimate) -> str:
    """`35.3 - 55.2 ms`; both units where they differ."""
    low, high = (_short(value) for value in (estimate.time_low_s, estimate.time_high_s))
    unit = high.partition(" ")[2]
    return f"{low.removesuffix(f' {unit}')} - {high}"


def _short(seconds: float) -> str:
    return format_si(seconds, "s", _DIGITS) if seconds < 120 else format_seconds(seconds)


def _arithmetic(achieved: Mapping[str, float]) -> str:
    return "".join(f"{_percent(share)} {name}" for name, share in achieved.items() if name != DRAM)


def _percent(share: float | None) -> str:
    if share is None:
        return ""
    return "<1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")


@dataclass(frozen=True, slots=True)
class _Change:
    """One piece of advice, and what it gains on each device."""

    what: str
    where: str
    gains: Mapping[str, float]

    @property
    def most(self) -> float:
        return max(self.gains.values())


def _changes(estimates: Sequence[Estimate]) -> Iterator[str]:
    """The changes that gain most, the same change of several devices in one line."""
    found = sorted(_joined(estimates), key=lambda change: change.most, reverse=True)
    devices = {item.device for item in estimates}
    for change in found[:_MOST_CHANGES]:
        where = f" ({change.where})" if change.where else ""
        yield f"{_in_short(change.what)}{where}: {_gains(change, devices)}"


def _in_short(what: str) -> str:
    """The first remedy of each part, where several parts hold the launch up together."""
    parts = what.split("; ")
    return what if len(parts) == 1 else "; ".join(part.partition(", ")[0] for part in parts)


def _gains(change: _Change, devices: set[str]) -> str:
    """The gain of one device, the least and most of several, and which where it is not all."""
    least, most = min(change.gains.values()), change.most
    text = (
        f"up to {most:.2f}x" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f}x to {most:.2f}x"
    )
    if change.gains.keys() == devices:
        return text
    return f"{text.removeprefix('up to ')} on {', '.join(change.gains)}"


def _joined(estimates: Sequence[Estimate]) -> Iterable[_Change]:
    found: dict[str, _Change] = {}
    for item in estimates:
        for advice in item.advice:
            if advice.gain is None:
                continue
            known = found.get(advice.what)
            gains = {} if known is None else dict(known.gains)
            gains[item.device] = max(advice.gain, gains.get(item.device, 0.0))
            place = PurePath(advice.where[0]).name if advice.where else ""
            where = known.where if known is not None and known.where else place
            found[advice.what] = _Change(advice.what, where, gains)
    return found.values()


def _trust(estimates: Sequence[Estimate]) -> Iterator[str]:
    """What was executed, and how many measured times lay in such ranges."""
    codes = executed_codes(item.code for item in estimates)
    shares = [item.sample_share for item in estimates if item.sample_share is not None]
    parts = [codes or "counts of a profiler"]
    if shares:
        parts.append(f"{min(shares):.2%} of the thread blocks".replace("%", " %"))
    elif codes:
        parts.append("all thread blocks")
    coverage = [item.coverage for item in estimates if item.coverage is not None]
    if coverage:
        parts.append(f"such ranges held {_percent(min(coverage))} of measured times")
    facts = [fact for item in estimates for fact in item.decisive_facts]
    if facts:
        most = max(facts, key=lambda fact: fact.effect)
        others = len({fact.name for fact in facts}) - 1
        more = f", and {others} more" if others else ""
        off = f"{_percent(most.change)} off: {_percent(most.effect)}"
        parts.append(f"assumed {most.name} ({off}){more}")
    yield "; ".join(parts)


def _cautions(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Contradictions between models, and conditions that do not hold; the same words once."""
    told: dict[str, list[str]] = {}
    for item in estimates:
        for line in (*item.contradictions, *item.validity.reasons):
            told.setdefault(line, []).append(item.device)
    lines = [
        line if len(devices) == len(estimates) else f"{line} ({', '.join(dict.fromkeys(devices))})"
        for line, devices in told.items()
    ]
    if lines:
        yield "; ".join(lines)


def _hanging(word: str, line: str, style: str = "") -> Table:
    """A line whose continuation stands below its first word."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=7, no_wrap=True)
    grid.add_column()
    grid.add_row(Text(word, style=style or "bold"), Text(line))
    return grid
