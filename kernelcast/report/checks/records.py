"""Findings as a record for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelcast.checking.check import CheckReport
    from kernelcast.checking.program import ProgramCheckReport
    from kernelcast.simcore.checking.findings import Finding, Side

__all__ = ["check_record", "program_check_record"]


def program_check_record(report: ProgramCheckReport) -> dict[str, Any]:
    """`kernels`: a record of each; `told`: lines of errors of calls."""
    return {
        "program": list(report.command),
        "status": report.status,
        "is_clean": report.is_clean,
        "told": list(report.told),
        "kernels": [check_record(item) for item in report.reports],
    }


def check_record(report: CheckReport) -> dict[str, Any]:
    """`findings`: kind, space, both sides, count; `is_clean`: whether none of them is an error."""
    return {
        "kernel": report.kernel,
        "is_clean": report.is_clean,
        "launches": report.launches,
        "schedules": list(report.schedules),
        "shadow_bytes": report.shadow_bytes,
        "suppressed": len(report.suppressed),
        "findings": [_finding(item) for item in report.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind.value,
        "is_benign": finding.kind.is_benign,
        "message": finding.message,
        "space": finding.space,
        "address": finding.address,
        "object": finding.object,
        "first": None if finding.first is None else _side(finding.first),
        "second": _side(finding.second),
        "count": finding.count,
    }


def _side(side: Side) -> dict[str, Any]:
    place = side.place
    return {
        "access": side.what,
        "instruction": side.mnemonic,
        "thread_block": side.thread_block,
        "thread": side.thread,
        "values": side.values,
        "where": None if place is None else f"{place.file}:{place.line}:{place.column}",
    }
