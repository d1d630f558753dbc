"""What is kept of earlier commands, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from kernelcast.units import format_si

if TYPE_CHECKING:
    from kernelcast.store.contents import Held, StoreContents

__all__ = ["cache_record", "cache_table"]

_MEANINGS = {
    "accesses": "accesses of launches, for memories of other GPUs",
    "estimate": "what a model said of a profile",
    "exact": "launches that are too small to be sampled",
    "memory": "what a launch did to the memory of a GPU",
    "paths": "paths of warps, for the simulation of an SM",
    "profile": "what a profiler would report",
    "trace": "counts of executed instructions",
}


def cache_record(found: StoreContents) -> dict[str, Any]:
    """The folder, its limit, and files and bytes by kind, as a record."""
    return {
        "folder": str(found.folder),
        "is_switched_on": found.is_switched_on,
        "limit_bytes": found.limit_bytes,
        "bytes": found.total.size,
        "results": [{"kind": kind, **_counts(item)} for kind, item in found.results.items()],
        "others": _counts(found.others),
    }


def cache_table(found: StoreContents) -> Table:
    """A row a kind of result, then the sum beside the limit."""
    state = "" if found.is_switched_on else "; switched off"
    table = Table("kept", "files", "size", "what", title=f"{found.folder}{state}")
    for kind, item in found.results.items():
        table.add_row(kind, str(item.files), _size(item), _MEANINGS.get(kind, ""))
    limit = format_si(found.limit_bytes, "B")
    table.add_row("all results", str(found.total.files), _size(found.total), f"at most {limit}")
    table.add_row("others", str(found.others.files), _size(found.others), "compiled code, sources")
    return table


def _counts(item: Held) -> dict[str, int]:
    return {"files": item.files, "bytes": item.size}


def _size(item: Held) -> str:
    return format_si(item.size, "B")
