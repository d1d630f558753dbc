"""Findings like a compiler's diagnostics: place, kind, message, and the source of both sides."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernelcast.units import format_si

if TYPE_CHECKING:
    from kernelcast.checking.check import CheckReport
    from kernelcast.checking.program import ProgramCheckReport
    from kernelcast.simcore.checking.findings import Finding, Side

__all__ = ["check_text", "program_check_text"]


def program_check_text(report: ProgramCheckReport) -> str:
    """What calls were told, the findings of each kernel, and a last line with their number."""
    parts = [*report.told, *map(check_text, report.reports)]
    count, kernels = len(report.errors), len(report.reports)
    end = f"{count} error{'s' * (count != 1)} in {kernels} kernel{'s' * (kernels != 1)}"
    return "\n".join([*parts, f"{report.command[0]}: {end}"])


def check_text(report: CheckReport) -> str:
    """All findings, errors first, and a last line with how many there are."""
    lines: list[str] = []
    for finding in sorted(report.findings, key=lambda item: item.kind.is_benign):
        lines += _finding(finding)
    return "\n".join([*lines, _summary(report)])


def _summary(report: CheckReport) -> str:
    notes = len(report.findings) - len(report.errors)
    parts = [f"{len(report.errors)} error{'s' * (len(report.errors) != 1)}"]
    if notes:
        parts.append(f"{notes} note{'s' * (notes != 1)}")
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} suppressed")
    count = len(report.schedules)
    schedules = f"{count} schedule{'s' * (count != 1)}"
    if report.launches > 1:
        schedules = f"{report.launches:,} launches, {schedules} of each"
    took = f"{format_si(report.shadow_bytes, 'B')} of shadow memory"
    return f"{report.kernel}: {', '.join(parts)} in {schedules}, {took}"


def _finding(finding: Finding) -> Iterator[str]:
    level = "note" if finding.kind.is_benign else "error"
    place = finding.second.place
    where = f"{place.file}:{place.line}:{place.column}: " if place else ""
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    yield f"{where}{level}: {finding.message} [{finding.kind.value}]{times}"
    if finding.first is not None:
        yield from _side("first", finding.first)
        yield from _side("second", finding.second)
    else:
        yield from _side("", finding.second)
    if finding.object:
        yield f"    in {finding.object}, of {finding.space} memory"


def _side(name: str, side: Side) -> Iterator[str]:
    who = ""
    if side.thread is None and side.thread_block is not None:
        who = f"a copy of thread block {side.thread_block}"
    if side.thread is not None:
        who = f"thread {side.thread} of thread block {side.thread_block}"
    place = side.place
    where = f"{place.file}:{place.line}" if place is not None else ""
    told = ", ".join(part for part in (who, side.mnemonic, side.values, where) if part)
    if told:
        yield f"    {name + ': ' if name else ''}{told}"
    shown = side.span.show() if side.span is not None else ""
    if side.origin is not None:
        line = linecache.getline(side.origin.file, side.origin.line).rstrip()
        if line:
            shown = f"{side.origin.line:>6} | {line.expandtabs(4)}\n{shown}"
    yield from (f"  {line}" for line in shown.splitlines())
