"""What an access means for one cell: which earlier accesses it races with, and what is kept of it.

A cell keeps the last weak write, two weak reads, two strong writes and a strong read. Of two
accesses of a kind the second one is of another thread block where there was any: whoever writes
next is another thread than one of them, so that a race with any of many readers is seen.
"""

from __future__ import annotations

from typing import Any

from kernelcast.simcore.checking.records import (
    ASYNC,
    BOUNDS,
    CLOCKED,
    COPY,
    FOUND,
    KIND_BITS,
    NARROW,
    OUTSTANDING,
    PC_BITS,
    RACE,
    READ,
    SAME,
    SHARED_SPACE,
    SOURCE,
    STAMP_BITS,
    THREAD_SHIFT,
    UNINITIALISED,
    WRITE,
    Access,
    Findings,
    Geometry,
    Lane,
    Shadow,
)
from kernelcast.simcore.host.compiled import inlined, noinline

__all__ = [
    "STRONG_WORDS",
    "WEAK_WORDS",
    "check_bounds",
    "check_written",
    "report",
    "touch_copies",
    "touch_source",
    "touch_strong",
    "touch_weak_read",
    "touch_weak_write",
]

WEAK_WORDS, STRONG_WORDS = 3, 6
_WRITE, _READ, _READ2, _STRONG, _STRONG2, _LOOK = range(STRONG_WORDS)
_STAMPS, _PCS = (1 << STAMP_BITS) - 1, (1 << PC_BITS) - 1


@noinline
def report(
    kind: int, prior: int, pc: int, now: int, time: int, lane: Lane, findings: Findings
) -> None:
    """Notes a finding; what is the same by kind, pcs and space is only counted."""
    out, keys = findings.out, findings.keys
    if kind != RACE or not out[CLOCKED]:
        key = (((prior & _PCS) << PC_BITS | pc) << KIND_BITS | kind) << 3 | lane.space
        size = len(keys) - 1
        at = (key * 0x1E3779B97F4A7C15 >> 20) & size
        for _ in range(64):
            if keys[at] == key:
                findings.often[at] += 1
                return
            if keys[at] < 0:
                break
            at = (at + 1) & size
        keys[at] = key
        findings.often[at] = 1
    row = findings.rows[out[FOUND]]
    row[0], row[1], row[2], row[3] = kind, lane.me, pc, now
    row[4], row[5], row[6], row[7] = prior, lane.address, lane.space, time
    out[FOUND] += 1


@inlined
def _is_ordered(prior: int, lane: Lane, access: Access, shadow: Shadow, geometry: Geometry) -> bool:
    """Whether an earlier access is known to be ordered before this one, or none to speak of."""
    who = prior >> THREAD_SHIFT
    if who == lane.me:
        return True
    threads = geometry.warps * geometry.width
    if who < access.home or who >= access.home + threads:
        # another thread block had this shared memory before, or it is nobody's
        return prior == 0 or (lane.space == SHARED_SPACE and geometry.is_cluster == 0)
    stamp = (prior >> PC_BITS) & _STAMPS
    if stamp <= access.floor:
        return True
    if geometry.is_fine:
        first = access.home + access.warp * geometry.width
        if first <= who < first + geometry.width:
            row = access.rank * threads + access.warp * geometry.width + lane.number
            return bool(stamp <= shadow.known[row, who - first])
    return False


@inlined
def _race_kind(prior: int) -> int:
    """What a race with an earlier access is called: copies in bulk may not be over."""
    return COPY if (prior >> PC_BITS) & _STAMPS == OUTSTANDING else RACE


@inlined
def _check(
    prior: int,
    lane: Lane,
    access: Access,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    if prior != 0 and not _is_ordered(prior, lane, access, shadow, geometry):
        report(_race_kind(prior), prior, access.pc, access.now, access.time, lane, findings)


@inlined
def _check_scopes(
    prior: int, flags: Any, lane: Lane, access: Access, geometry: Geometry, findings: Findings
) -> None:
    """Two strong accesses race if a thread block is out of the scope of one of them."""
    who = prior >> THREAD_SHIFT
    threads = geometry.warps * geometry.width
    if prior == 0 or access.home <= who < access.home + threads:
        return
    if lane.space == SHARED_SPACE and geometry.is_cluster == 0:
        return
    if (access.flags | flags[prior & _PCS]) & NARROW:
        report(RACE, prior, access.pc, access.now, access.time, lane, findings)


@inlined
def _word(lane: Lane, access: Access) -> int:
    return (lane.me << STAMP_BITS | access.now) << PC_BITS | access.pc


@inlined
def _keep(
    cells: Any,
    number: int,
    first: int,
    lane: Lane,
    access: Access,
    shadow: Shadow,
    geometry: Geometry,
) -> None:
    """Keeps this access as the first of two words."""
    mine = _word(lane, access)
    before = cells[first, number]
    if before >> THREAD_SHIFT != lane.me and before != 0:
        after_it = _is_ordered(before, lane, access, shadow, geometry)
        second = cells[first + 1, number]
        if after_it:
            if second != 0 and _is_ordered(second, lane, access, shadow, geometry):
                cells[first + 1, number] = 0
        else:
            end = access.home + geometry.warps * geometry.width
            is_home = access.home <= second >> THREAD_SHIFT < end
            was_home = access.home <= before >> THREAD_SHIFT < end
            is_over = (second >> PC_BITS) & _STAMPS != OUTSTANDING
            if second == 0 or (is_over and (is_home or not was_home)):
                cells[first + 1, number] = before
    cells[first, number] = mine


@inlined
def _is_of_home(word: int, access: Access, geometry: Geometry) -> bool:
    who = word >> THREAD_SHIFT
    if geometry.is_cluster:
        return word != 0
    return access.home <= who < access.home + geometry.warps * geometry.width


@inlined
def _check_first(
    cells: Any, number: int, lane: Lane, access: Access, geometry: Geometry, findings: Findings
) -> None:
    """Shared memory is written before it is read."""
    if lane.space != SHARED_SPACE or not geometry.checks_first:
        return
    is_written = _is_of_home(cells[_WRITE, number], access, geometry)
    if not is_written and len(cells) > WEAK_WORDS:
        is_written = _is_of_home(cells[_STRONG, number], access, geometry)
    if not is_written:
        report(UNINITIALISED, 0, access.pc, access.now, access.time, lane, findings)


@inlined
def check_written(cells: Any, number: int, lane: Lane, access: Access, findings: Findings) -> None:
    """A buffer that held nothing before the launch is written before it is read."""
    if cells[_WRITE, number] == 0 and (len(cells) <= WEAK_WORDS or cells[_STRONG, number] == 0):
        report(UNINITIALISED, 0, access.pc, access.now, access.time, lane, findings)


@inlined
def touch_weak_read(
    cells: Any,
    number: int,
    lane: Lane,
    access: Access,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """A plain load of a cell."""
    _check_first(cells, number, lane, access, geometry, findings)
    _check(cells[_WRITE, number], lane, access, shadow, geometry, findings)
    if len(cells) > WEAK_WORDS:
        _check(cells[_STRONG, number], lane, access, shadow, geometry, findings)
        _check(cells[_STRONG2, number], lane, access, shadow, geometry, findings)
    _keep(cells, number, _READ, lane, access, shadow, geometry)


@inlined
def _wrote_the_same(prior: int, lane: Lane, access: Access, lanes: Any, geometry: Geometry) -> bool:
    """Whether the write before, of this record or an earlier one, was of the same value."""
    who = (prior >> THREAD_SHIFT) - access.home - access.warp * geometry.width
    is_earlier_lane = 0 <= who < lane.number and access.mask >> who & 1
    if is_earlier_lane and prior & _PCS == access.pc and lanes[who] == lanes[lane.number]:
        return ((access.lost >> who) | (access.lost >> lane.number)) & 1 == 0
    return (access.same >> lane.number) & 1 == 1


@inlined
def touch_weak_write(
    cells: Any,
    number: int,
    lane: Lane,
    access: Access,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """A plain store to a cell."""
    prior = cells[_WRITE, number]
    if prior != 0 and not _is_ordered(prior, lane, access, shadow, geometry):
        kind = _race_kind(prior)
        if kind == RACE and _wrote_the_same(prior, lane, access, shadow.spare, geometry):
            kind = SAME
        report(kind, prior, access.pc, access.now, access.time, lane, findings)
    for word in range(_READ, len(cells)):
        _check(cells[word, number], lane, access, shadow, geometry, findings)
        cells[word, number] = 0
    cells[_WRITE, number] = _word(lane, access)


@inlined
def touch_strong(
    cells: Any,
    number: int,
    lane: Lane,
    access: Access,
    flags: Any,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """An atomic or volatile access to a cell."""
    if access.flags & READ:
        _check_first(cells, number, lane, access, geometry, findings)
    _check(cells[_WRITE, number], lane, access, shadow, geometry, findings)
    _check_scopes(cells[_STRONG, number], flags, lane, access, geometry, findings)
    _check_scopes(cells[_STRONG2, number], flags, lane, access, geometry, findings)
    if access.flags & WRITE:
        _check(cells[_READ, number], lane, access, shadow, geometry, findings)
        _check(cells[_READ2, number], lane, access, shadow, geometry, findings)
        _check_scopes(cells[_LOOK, number], flags, lane, access, geometry, findings)
        _keep(cells, number, _STRONG, lane, access, shadow, geometry)
    else:
        cells[_LOOK, number] = _word(lane, access)


@inlined
def check_bounds(low: int, high: int, lane: Lane, access: Access, findings: Findings) -> None:
    """An access of shared or local memory stays in the array that it began in."""
    if high and not (low <= lane.address and lane.address + access.bytes <= high):
        report(BOUNDS, 0, access.pc, access.now, access.time, lane, findings)


@inlined
def touch_source(
    number: int, lane: Lane, access: Access, shadow: Shadow, geometry: Geometry, findings: Findings
) -> None:
    """What an asynchronous copy reads stays as it is until its thread has waited."""
    threads = geometry.warps * geometry.width
    if access.flags & ASYNC:
        thread = access.rank * threads + lane.me - access.home
        shadow.sources[0, number] = shadow.groups[thread, 0] + 1
        shadow.sources[1, number] = _word(lane, access)
    elif access.flags & WRITE and shadow.sources[0, number]:
        prior = shadow.sources[1, number]
        thread = access.rank * threads + (prior >> THREAD_SHIFT) - access.home
        is_home = access.home <= prior >> THREAD_SHIFT < access.home + threads
        if is_home and shadow.sources[0, number] > shadow.groups[thread, 1]:
            report(SOURCE, prior, access.pc, access.now, access.time, lane, findings)
        shadow.sources[0, number] = 0


@inlined
def touch_copies(
    number: int, lane: Lane, access: Access, shadow: Shadow, geometry: Geometry, findings: Findings
) -> None:
    """A cell that an asynchronous copy writes is nobody's until its thread has waited."""
    group, prior = shadow.copies[number], shadow.shared[_WRITE, number]
    first = access.rank * geometry.warps * geometry.width
    if group and _is_of_home(prior, access, geometry):
        owner = first + (prior >> THREAD_SHIFT) - access.home
        if group > shadow.groups[owner, 1]:
            report(COPY, prior, access.pc, access.now, access.time, lane, findings)
    if access.flags & WRITE:
        shadow.copies[number] = 0
