"""Follows the accesses of a launch in compiled code: who touched each place last, in what order.

A word of a cell says who did something: a thread's number plus one, the stamp of its thread block
at that time and the pc. A thread block's stamp grows whenever something orders its threads, so that
what was done before has a lower stamp. An access races with an earlier one of another thread that
is not known to be ordered before it. Where there are clocks, races are suspects that they decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.checking.cells import report
from kernelcast.simcore.checking.memories import row_of, touch_memory
from kernelcast.simcore.checking.records import (
    ASYNC_END,
    ASYNC_GROUP,
    ASYNC_WAIT,
    BARRIER,
    BLOCK,
    BULK,
    CLOCKED,
    CONST_SPACE,
    EVENT_AT,
    FLOOR,
    FOUND,
    GLOBAL_SPACE,
    MASK,
    MOST_STAMP,
    NOW,
    OPENED,
    PROBED,
    RECORD,
    STAGE,
    STAMPS,
    SYNC,
    WARP_SYNC,
    WRITE,
    Access,
    Findings,
    Geometry,
    Lane,
    PcTable,
    Shadow,
)
from kernelcast.simcore.checking.runs import follow_run
from kernelcast.simcore.engine.jit.codegen.memory.records import EVENT, VALUES, WRITTEN
from kernelcast.simcore.host.compiled import compiled, inlined, noinline

__all__ = ["follow"]

Ints = npt.NDArray[np.int64]
_ROOM = 4096
"""Findings that one record makes at most, by far."""


@noinline
def _begin(row: Any, block: int, stage: int, rank: int, shadow: Shadow, geometry: Geometry) -> None:
    """A thread block begins, whose threads know nothing of each other."""
    row[BLOCK], row[STAGE], row[NOW], row[FLOOR] = block, stage, 1, 0
    threads = geometry.warps * geometry.width
    for thread in range(rank * threads, (rank + 1) * threads):
        if geometry.is_fine:
            shadow.known[thread, :] = 0
        if geometry.has_copies:
            shadow.groups[thread, :] = 0
    if geometry.is_cluster:
        first = rank * geometry.shared_cells
        shadow.shared[:, first : first + geometry.shared_cells] = 0


@noinline
def _sync_warp(row: Any, thread: int, mask: int, shadow: Shadow, width: int) -> None:
    """All lanes of a mask know what any of them knows, and what all have done up to now."""
    known, joined = shadow.known, shadow.spare
    joined[:width] = 0
    for lane in range(width):
        if (mask >> lane) & 1:
            for other in range(width):
                joined[other] = max(joined[other], known[thread + lane, other])
    for lane in range(width):
        if (mask >> lane) & 1:
            joined[lane] = row[NOW]
    for lane in range(width):
        if (mask >> lane) & 1:
            for other in range(width):
                known[thread + lane, other] = joined[other]
    row[NOW] += 1


@noinline
def _sync_groups(
    words: Ints,
    at: int,
    row: Any,
    thread: int,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """Lanes that name the same members meet; each must be one of them."""
    width, pc, time = geometry.width, words[at] & 0xFFFFFF, words[at + 1] & 0xFFFFFFFF
    is_listed = words[at] & (1 << 31) != 0
    within = (words[at + 1] >> 32) & 0xFFFFFFFF
    first = ((words[at + 2] & 0xFFFFFFFF) * geometry.warps + within) * width + 1
    left = words[at + 3]
    for number in range(width):
        if (left >> number) & 1:
            members = words[at + 4] if is_listed else words[at + 4 + number]
            group: Any = np.int64(0)
            for other in range(number, width):
                if (left >> other) & 1 and (is_listed or words[at + 4 + other] == members):
                    group |= np.int64(1) << np.int64(other)
            left &= ~group
            if group & ~members:
                lane = Lane(first + number, number, 0, CONST_SPACE)
                report(MASK, 0, pc, row[NOW], time, lane, findings)
            _sync_warp(row, thread, group, shadow, width)


@inlined
def _group_copies(kind: int, left: int, thread: int, mask: int, shadow: Shadow, width: int) -> None:
    """Groups of asynchronous copies end, or threads wait for all but the latest."""
    groups = shadow.groups
    for lane in range(width):
        if (mask >> lane) & 1:
            if kind != ASYNC_WAIT:
                groups[thread + lane, 0] += 1
            if kind != ASYNC_GROUP:
                done = groups[thread + lane, 0] - left
                groups[thread + lane, 1] = max(groups[thread + lane, 1], done)


@inlined
def _stops(
    words: Ints,
    at: int,
    row: Any,
    warp: int,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> int:
    """Why the host must look first, or 0: barriers with clocks, stamps, counted barriers."""
    stage = (words[at + 2] >> 32) & 0xFFFFFFFF
    if row[STAGE] != stage and not geometry.is_counted:
        if findings.out[CLOCKED]:
            return BARRIER
        row[STAGE] = stage
        row[FLOOR] = row[NOW]
        row[NOW] += 1
    if row[NOW] >= MOST_STAMP:
        return STAMPS
    if table.event[words[at] & 0xFFFFFF] == BULK:
        return RECORD
    if geometry.is_counted and shadow.waits[warp] & words[at + 3]:
        return OPENED
    return 0


@noinline
def _tell(
    words: Ints,
    at: int,
    row: Any,
    warp: int,
    table: PcTable,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """The threads of a probe have something to tell."""
    width, pc, time = geometry.width, words[at] & 0xFFFFFF, words[at + 1] & 0xFFFFFFFF
    within = (words[at + 1] >> 32) & 0xFFFFFFFF
    first = ((words[at + 2] & 0xFFFFFFFF) * geometry.warps + within) * width + 1
    for number in range(width):
        if (words[at + 3] >> number) & 1:
            lane = Lane(first + number, number, 0, CONST_SPACE)
            report(table.left[pc], 0, pc, row[NOW], time, lane, findings)


@inlined
def _event(
    words: Ints,
    at: int,
    row: Any,
    warp: int,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> int:
    """What orders threads: RECORD where the host must look at it, else 0."""
    pc, mask, width = words[at] & 0xFFFFFF, words[at + 3], geometry.width
    kind, thread = table.event[pc], warp * width
    if mask == 0 or kind == 0:
        return 0
    if kind == PROBED:
        _tell(words, at, row, warp, table, geometry, findings)
        return 0
    if kind >= ASYNC_GROUP and kind <= ASYNC_END:
        _group_copies(kind, table.left[pc], thread, mask, shadow, width)
        return 0
    if kind == WARP_SYNC and not findings.out[CLOCKED]:
        _sync_groups(words, at, row, thread, shadow, geometry, findings)
        return 0
    return RECORD


@noinline
def _follow_lanes(
    lanes: tuple[int, int],
    access: Access,
    block: int,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """The lanes [first, end) of an access, one by one."""
    for lane in range(lanes[0], lanes[1]):
        if (access.mask >> lane) & 1:
            me = access.home + access.warp * geometry.width + lane
            to = Lane(me, lane, shadow.spare[lane], access.space)
            touch_memory(to, access, block, table, shadow, geometry, findings)


@inlined
def _follow_runs(
    runs: Any,
    access: Access,
    block: int,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """An access by all lanes, run by run."""
    lane: Any = np.int64(0)
    while lane < geometry.width:
        row: Any = np.int64(-1)
        if access.space == GLOBAL_SPACE:
            row = np.int64(row_of(shadow.spare[lane], shadow.rows, findings.out))
        end = lane + runs[lane, 0]
        if not follow_run(lane, runs[lane], row, access, table, shadow, geometry):
            _follow_lanes((lane, end), access, block, table, shadow, geometry, findings)
        lane = end


@inlined
def _access(
    words: Ints, at: int, row: Any, following: int, table: PcTable, geometry: Geometry, rank: int
) -> Access:
    pc = words[at] & 0xFFFFFF
    same: Any = np.int64(0)
    lost: Any = np.int64(0)
    flags = table.flags[pc]
    if flags & WRITE and following < len(words) and words[following] & WRITTEN:
        same, lost = words[following + 3], words[following + 4]
    warp, time = (words[at + 1] >> 32) & 0xFFFFFFFF, words[at + 1] & 0xFFFFFFFF
    home = (words[at + 2] & 0xFFFFFFFF) * (geometry.warps * geometry.width) + 1
    return Access(
        pc,
        flags,
        table.bytes[pc],
        table.space[pc],
        rank,
        warp,
        time,
        home,
        row[FLOOR],
        row[NOW],
        words[at + 3],
        same,
        lost,
    )


@compiled
def follow(
    words: Ints,
    start: int,
    lane_offsets: Ints,
    runs: Ints,
    tables: tuple[PcTable, Geometry],
    shadow: Shadow,
    findings: Findings,
    state: Ints,
) -> int:
    """Follows records from word `start` on; returns where it stopped, and `out` says why.

    `runs`: as of `runs_of`; `state`: BLOCK, STAGE, NOW and FLOOR by rank in the cluster.
    """
    table, geometry = tables
    width, out, at = geometry.width, findings.out, start
    out[EVENT_AT] = 0
    while at < len(words) and out[FOUND] <= len(findings.rows) - _ROOM:
        info, block = words[at], words[at + 2] & 0xFFFFFFFF
        is_listed = info & (1 << 31) != 0
        following = at + (5 if is_listed else 4 + width)
        if info & (WRITTEN | VALUES):
            at = following
            continue
        rank = shadow.ranks[block] if geometry.is_cluster else 0
        row, warp = state[rank], rank * geometry.warps + ((words[at + 1] >> 32) & 0xFFFFFFFF)
        if row[BLOCK] != block:
            _begin(row, block, words[at + 2] >> 32, rank, shadow, geometry)
        stops = _stops(words, at, row, warp, table, shadow, geometry, findings)
        if stops == 0 and info & EVENT:
            stops = _event(words, at, row, warp, table, shadow, geometry, findings)
        if stops:
            out[EVENT_AT] = stops
            return at
        if info & EVENT:
            at = following
            continue
        access = _access(words, at, row, following, table, geometry, rank)
        which, places = (info >> 32) & 0xFFFFFFFF, shadow.spare
        for lane in range(width):
            places[lane] = words[at + 4] if is_listed else words[at + 4 + lane]
        if is_listed:
            for lane in range(width):
                places[lane] += lane_offsets[which, lane]
        if is_listed and access.mask == geometry.full:
            _follow_runs(runs[which], access, block, table, shadow, geometry, findings)
        else:
            _follow_lanes((0, width), access, block, table, shadow, geometry, findings)
        if access.flags & SYNC and access.mask:
            out[EVENT_AT] = RECORD
            return at
        at = following
    return at
