"""Findings in SARIF 2.1.0 (OASIS), which code hosts show beside the source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kernelcast
from kernelcast.simcore.checking.findings import Kind

if TYPE_CHECKING:
    from kernelcast.checking.check import CheckReport
    from kernelcast.simcore.checking.findings import Finding, Side

__all__ = ["check_sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    Kind.RACE: "Two accesses of one place, at least one a write, that nothing orders",
    Kind.SAME_VALUE: "Two unordered writes of the same value",
    Kind.UNINITIALISED: "A read of memory that nobody has written",
    Kind.BOUNDS: "An access outside of the array that it belongs to",
    Kind.ASYNC: "An access of what an asynchronous copy has not brought yet",
    Kind.BARRIER: "Threads that can never meet at a barrier",
    Kind.WARP_MASK: "A mask of lanes that does not fit those that come",
    Kind.ACCESS: "An access outside of every buffer, or misaligned",
    Kind.NOT_FINITE: "NaN or infinity that is computed of finite numbers",
    Kind.OVERFLOW: "An index of 32 bits that wraps around and becomes part of an address",
    Kind.ENDLESS: "A loop that nothing ends",
    Kind.TRAP: "The kernel stopped itself",
}


def check_sarif(*reports: CheckReport) -> dict[str, Any]:
    """One run of one tool; suppressed findings are in it, and marked."""
    results: list[dict[str, Any]] = []
    accepted = {"suppressions": [{"kind": "external"}]}
    for one in reports:
        results += [_result(item, one.kernel) for item in one.findings]
        results += [_result(item, one.kernel) | accepted for item in one.suppressed]
    rules = [
        {"id": kind.value, "shortDescription": {"text": text}} for kind, text in _RULES.items()
    ]
    driver = {
        "name": "kernelcast check",
        "version": kernelcast.__version__,
        "rules": rules,
    }
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(finding: Finding, kernel: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": finding.kind.value,
        "level": "note" if finding.kind.is_benign else "error",
        "message": {"text": f"{kernel}: {finding.message}"},
        "locations": [_location(finding.second)],
        "occurrenceCount": finding.count,
    }
    if finding.first is not None:
        what = ", ".join(part for part in (finding.first.what, finding.first.values) if part)
        told = _location(finding.first) | {"message": {"text": f"the first: {what}"}}
        found["relatedLocations"] = [told]
    return found


def _location(side: Side) -> dict[str, Any]:
    place = side.place
    if place is None:
        return {}
    region = {"startLine": place.line, "startColumn": place.column}
    return {
        "physicalLocation": {"artifactLocation": {"uri": place.file}, "region": region},
    }
