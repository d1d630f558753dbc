"""What a page shows of code: the lines of sources, and of long listings those that cost most."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelcast.report.html.entries import Entry

__all__ = ["shortened", "source_lines"]

_SOURCE_SUFFIXES = (
    *(".cu", ".cuh", ".cl", ".hip", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"),
    *(".inl", ".inc", ".py"),
)
"""Only files that are called like a source are shown: PTX may name any file as its own."""
_MOST_BYTES = 2_000_000
_AROUND = 12
"""Lines before and after one that has code."""
_LONGEST_LINE = 300
_MOST_OF_LISTINGS, _MOST_OF_SOURCES = 1_600_000, 400_000
"""Characters of a page, which so stays below six megabytes."""
_COSTS = (*("slots_issued", "slots_lost", "warps", "sectors", "dram_transactions", "passes"),)


def source_lines(of: Sequence[Entry]) -> dict[str, list[tuple[int, str]]]:
    """Number and text of the lines around those that have code, by file; none of missing files."""
    wanted: dict[str, set[int]] = {}
    for entry in of:
        code = entry.details["instructions"]
        if code is not None:
            for file, line in zip(code["source_file"], code["source_line"], strict=True):
                if line:
                    wanted.setdefault(file, set()).add(line)
    found: dict[str, list[tuple[int, str]]] = {}
    left = _MOST_OF_SOURCES
    for file, lines in wanted.items():
        shown = list(_lines(file, lines))
        left -= sum(len(text) for _, text in shown)
        found[file] = shown if left > 0 else []
    return found


def _lines(file: str, wanted: Iterable[int]) -> Iterator[tuple[int, str]]:
    shown = {near for line in wanted for near in range(line - _AROUND, line + _AROUND + 1)}
    for number, text in enumerate(_read(file), 1):
        if number in shown:
            yield number, text[:_LONGEST_LINE]


def _read(file: str) -> list[str]:
    path = Path(file)
    try:
        if path.suffix.lower() not in _SOURCE_SUFFIXES or not path.is_file():
            return []
        if path.stat().st_size > _MOST_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return []


def shortened(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The records, with the lines of code that cost most where there are too many.

    `left_out` of `instructions` counts those that are not there.
    """
    listings = [
        item["details"]["instructions"]
        for record in records
        for item in record["estimates"]
        if item["details"]["instructions"] is not None
    ]
    left = _MOST_OF_LISTINGS / max(1, len(listings))
    return [
        {**record, "estimates": [_shortened(item, left) for item in record["estimates"]]}
        for record in records
    ]


def _shortened(item: Mapping[str, Any], left: float) -> dict[str, Any]:
    """The estimate with lines of code that take so many characters."""
    details = item["details"]
    code = details["instructions"]
    size = 0 if code is None else len(json.dumps(code))
    if size <= left:
        return dict(item)
    most = int(left / size * len(code["line"]))
    chosen = _costliest(code, most)
    kept: dict[str, Any] = {name: [column[at] for at in chosen] for name, column in code.items()}
    kept["left_out"] = len(code["line"]) - most
    return {**item, "details": {**details, "instructions": kept}}


def _costliest(code: Mapping[str, Sequence[Any]], most: int) -> list[int]:
    """The numbers of the lines with the largest share of any cost, in their order."""
    shares = [0.0] * len(code["line"])
    for name in _COSTS:
        column = code.get(name)
        total = sum(column) if column else 0
        if column and total:
            shares = [max(old, value / total) for old, value in zip(shares, column, strict=True)]
    return sorted(sorted(range(len(shares)), key=lambda at: -shares[at])[:most])
