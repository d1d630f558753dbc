"""The memory chart: what moves between SM, L1, L2 and DRAM in one launch, and what hits where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelcast.report.html.entries import Entry
from kernelcast.units import format_count, format_si

__all__ = ["Box", "Link", "format_capacity", "memory_chart", "shared_box"]

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Box:
    """A level: `facts` are lines in it, `hit_rate` of its reads, 0 to 1, where it has one."""

    name: str
    facts: tuple[str, ...] = ()
    hit_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """What goes between two levels: `loaded` towards the SM, `stored` away from it.

    `share` of the peak rate there, 0 to 1, where that is known; `limit` is the name of the rate.
    """

    loaded: str
    stored: str
    share: float | None = None
    limit: str = ""


def memory_chart(entry: Entry) -> list[Box | Link]:
    """Boxes and the links between them from the SM to DRAM; one that does nothing is left out."""
    memory, device = entry.details["memory"], entry.details["device"]
    shares = {rate["symbol"]: rate["share"] for rate in entry.details["rates"]}
    l1, l2, dram = memory["l1"], memory["l2"], memory["dram"]
    return [
        Box("SM", _of_kernel(memory["requested"])),
        _link((l1["load_bytes"], l1["store_bytes"]), shares.get("L1"), "L1"),
        Box("L1", (*_size(device["l1_bytes_per_sm"], "an SM"), *_useful(memory)), l1["hit_rate"]),
        _link((l2["read_bytes"], l2["write_bytes"]), shares.get("L2"), "L2"),
        Box("L2", _size(device["l2_bytes"]), l2["hit_rate"]),
        _link((dram["read_bytes"], dram["write_bytes"]), shares.get("DRAM"), "DRAM"),
        Box("DRAM", (format_si(device["dram_bytes_per_s"], "B/s", 3),)),
    ]


def shared_box(entry: Entry) -> tuple[Box, Link] | None:
    """Shared memory beside the caches; None where the kernel does not use it."""
    shared = entry.details["memory"]["shared"]
    if shared is None or not shared["passes"]:
        return None
    shares = {rate["symbol"]: rate["share"] for rate in entry.details["rates"]}
    facts = [f"{format_count(shared['passes'])} passes"]
    if shared["ideal_passes"] is not None:
        lost = shared["passes"] - shared["ideal_passes"]
        facts.append(
            f"{format_count(lost)} of them conflicts ({lost / shared['passes']:.0%})"
            if lost
            else "no bank conflicts"
        )
    link = Link(
        f"{format_count(shared['load_requests'])} loads",
        f"{format_count(shared['store_requests'])} stores",
        shares.get("shared"),
        "shared memory",
    )
    return Box("Shared memory", tuple(facts)), link


def _of_kernel(requested: Record) -> tuple[str, ...]:
    return tuple(
        f"{format_count(requested[f'{kind}_requests'])} {kind} requests"
        for kind in ("load", "store")
        if requested[f"{kind}_requests"]
    )


def _useful(memory: Record) -> tuple[str, ...]:
    """The share of the bytes of sectors that lanes ask for, where it is less than all."""
    asked, l1 = memory["requested"], memory["l1"]
    if asked["load_bytes"] is None or not l1["load_bytes"]:
        return ()
    useful = asked["load_bytes"] / l1["load_bytes"]
    return (f"{useful:.0%} of the loaded bytes are asked for",) if useful < 0.995 else ()


def _size(size_bytes: float | None, of: str = "") -> tuple[str, ...]:
    if size_bytes is None:
        return ("none",)
    return (f"{format_capacity(size_bytes)} {of}".rstrip(),)


def format_capacity(size_bytes: float) -> str:
    """The size of a memory, `1 MiB`."""
    mebi = size_bytes / 2**20
    return f"{mebi:g} MiB" if mebi >= 1 else f"{size_bytes / 2**10:g} KiB"


def _link(moved: tuple[float | None, float | None], share: float | None, limit: str) -> Link:
    """The bytes that are loaded, and those that are stored."""
    loaded, stored = moved
    return Link(_bytes(loaded, "loaded"), _bytes(stored, "stored"), share, limit)


def _bytes(count: float | None, what: str) -> str:
    if count is None:
        return f"{what}: not known"
    return f"{format_si(count, 'B', 3)} {what}" if count else f"nothing {what}"
