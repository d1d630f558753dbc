"""The schedule of a stored trace, from the JSON of its header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelcast.traces.static_schedule import Names, ScheduledRegion, StaticSchedule

__all__ = ["read_schedule"]

_MOST_REGISTERS = 1 << 24


def read_schedule(found: Any, pcs: int) -> StaticSchedule | None:
    """The schedule of a trace with `pcs` instructions; None where files have none.

    ValueError for what is none.
    """
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise ValueError("the schedule")
    return StaticSchedule(
        glued=tuple(_pair(item, pcs) for item in found["glued"]),
        unrolled=_numbers(found["unrolled"], pcs),
        regions=tuple(_region(item, pcs) for item in found["regions"]),
        sequences=tuple((_number(pc, pcs), _text(name)) for pc, name in found["sequences"]),
    )


def _region(found: Mapping[str, Any], pcs: int) -> ScheduledRegion:
    region = ScheduledRegion(
        pcs=_numbers(found["pcs"], pcs),
        order=_numbers(found["order"], len(found["pcs"])),
        is_folded=tuple(_flag(item) for item in found["is_folded"]),
        reads=tuple(_names(item) for item in found["reads"]),
        writes=tuple(_names(item) for item in found["writes"]),
    )
    if sorted(region.order) != list(range(len(region.pcs))):
        raise ValueError("the order of a region")
    if {len(region.is_folded), len(region.reads), len(region.writes)} != {len(region.pcs)}:
        raise ValueError("the steps of a region")
    return region


def _names(found: Any) -> Names:
    return tuple(_pair(item, _MOST_REGISTERS) for item in found)


def _pair(found: Any, end: int) -> tuple[int, int]:
    first, second = found
    return _number(first, end), _number(second, end)


def _numbers(found: Any, end: int) -> tuple[int, ...]:
    return tuple(_number(item, end) for item in found)


def _number(found: Any, end: int) -> int:
    if type(found) is not int or not 0 <= found < end:
        raise ValueError(f"{found!r} in the schedule")
    return found


def _flag(found: Any) -> bool:
    if type(found) is not bool:
        raise ValueError(f"{found!r} in the schedule")
    return found


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise ValueError(f"{found!r} in the schedule")
    return found
