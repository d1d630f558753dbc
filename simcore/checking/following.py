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

from kernelcast.simcore.checking.cells import (
    check_bounds,
    report,
    touch_copies,
    touch_strong,
    touch_weak_read,
    touch_weak_write,
)
from kernelcast.simcore.checking.records import (
    ASYNC,
    ASYNC_END,
    ASYNC_GROUP,
    ASYNC_WAIT,
    BARRIER,
    BLOCK,
    CLOCKED,
    EVENT_AT,
    FLOOR,
    FOUND,
    MASK,
    MOST_STAMP,
    NOW,
    OPENED,
    RECORD,
    ROW,
    STAGE,
    STAMPS,
    STRONG,
    SYNC,
    UNINITIALISED,
    WARP_SYNC,
    WRITE,
    Access,
    Findings,
    Geometry,
    Lane,
    PcTable,
    Shadow,
)
from kernelcast.simcore.checking.runs import follow_run, open_segments
from kernelcast.simcore.engine.jit.codegen.memory.records import EVENT, WRITTEN
from kernelcast.simcore.host.compiled import compiled, inlined, noinline
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK, RANK_MASK
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace

__all__ = ["follow"]

Ints = npt.NDArray[np.int64]
_SHARED_FIRST, _LOCAL_FIRST = WINDOWS[AddressSpace.SHARED], WINDOWS[AddressSpace.LOCAL]
_LAST_WINDOW = max(WINDOWS.values()) + WINDOW_BYTES
_GLOBAL, _SHARED, _LOCAL, _CONST, _GENERIC = 0, 1, 2, 3, 5
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
def _row_of(address: int, rows: Any, out: Any) -> int:
    """The allocation that holds an address; -1 without one."""
    last = out[ROW]
    if rows[last, 0] <= address and address < rows[last, 1]:
        return int(last)
    for row in range(len(rows)):
        if rows[row, 0] <= address and address < rows[row, 1]:
            out[ROW] = row
            return int(row)
    return -1


@inlined
def _touch(
    cells: Any,
    number: int,
    lane: Lane,
    access: Access,
    flags: Any,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    if access.flags & STRONG:
        touch_strong(cells, number, lane, access, flags, shadow, geometry, findings)
    elif access.flags & WRITE:
        touch_weak_write(cells, number, lane, access, shadow, geometry, findings)
    else:
        touch_weak_read(cells, number, lane, access, shadow, geometry, findings)


@inlined
def _in_local(
    lane: Lane, access: Access, block: int, shadow: Shadow, geometry: Geometry, findings: Findings
) -> None:
    """Local memory is the thread's own: it is written before it is read."""
    first = lane.address >> geometry.local_shift
    last = (lane.address + access.bytes - 1) >> geometry.local_shift
    if lane.address < 0 or last >= geometry.local_cells:
        return
    thread = (access.rank * geometry.warps + access.warp) * geometry.width + lane.number
    for cell in range(
        thread * geometry.local_cells + first, thread * geometry.local_cells + last + 1
    ):
        if access.flags & WRITE:
            shadow.local[cell] = block + 1
        elif shadow.local[cell] != block + 1:
            report(UNINITIALISED, 0, access.pc, access.now, access.rank, lane, findings)


@inlined
def _in_shared(
    lane: Lane,
    access: Access,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    owner, place = access.rank, lane.address
    if geometry.is_cluster:
        named = (place >> OFFSET_BITS) & RANK_MASK
        if named:
            owner = named - 1
        place &= OFFSET_MASK
    first = place >> geometry.shared_shift
    last = (place + access.bytes - 1) >> geometry.shared_shift
    if place < 0 or last >= geometry.shared_cells:
        return
    at = Lane(lane.me, lane.number, place, _SHARED)
    check_bounds(table.low[access.pc], table.high[access.pc], at, access, findings)
    before = owner * geometry.shared_cells
    for number in range(before + first, before + last + 1):
        if geometry.has_copies:
            touch_copies(number, at, access, shadow, geometry, findings)
        _touch(shadow.shared, number, at, access, table.flags, shadow, geometry, findings)
        if access.flags & ASYNC:
            thread = (access.rank * geometry.warps + access.warp) * geometry.width + lane.number
            shadow.copies[number] = shadow.groups[thread, 0] + 1


@inlined
def _in_buffers(
    lane: Lane,
    access: Access,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    row = _row_of(lane.address, shadow.rows, findings.out)
    if row < 0 or shadow.rows[row, 2] < 0:
        return
    far = lane.address - shadow.rows[row, 0]
    before = shadow.rows[row, 2]
    first, last = far >> geometry.buffer_shift, (far + access.bytes - 1) >> geometry.buffer_shift
    open_segments(before + first, last - first + 1, shadow)
    for number in range(before + first, before + last + 1):
        _touch(shadow.buffers, number, lane, access, table.flags, shadow, geometry, findings)


@inlined
def _in_memory(
    lane: Lane,
    access: Access,
    block: int,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """One lane's access, in the space that its address is in."""
    space, address = lane.space, lane.address
    if space == _GENERIC:
        space = _GLOBAL
        if address >= _SHARED_FIRST and address < _LAST_WINDOW:
            space = _CONST
            if address < _LOCAL_FIRST:
                space, address = _SHARED, address - _SHARED_FIRST
            elif address < _LOCAL_FIRST + WINDOW_BYTES:
                space, address = _LOCAL, address - _LOCAL_FIRST
    at = Lane(lane.me, lane.number, address, space)
    if space == _GLOBAL:
        _in_buffers(at, access, table, shadow, geometry, findings)
    elif space == _SHARED:
        _in_shared(at, access, table, shadow, geometry, findings)
    elif space == _LOCAL:
        _in_local(at, access, block, shadow, geometry, findings)


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
    if geometry.is_counted and shadow.waits[warp] & words[at + 3]:
        return OPENED
    return 0


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
    if kind >= ASYNC_GROUP and kind <= ASYNC_END:
        _group_copies(kind, table.left[pc], thread, mask, shadow, width)
        return 0
    if kind == WARP_SYNC and not findings.out[CLOCKED]:
        if mask & ~words[at + 4]:
            lane = Lane((words[at + 2] & 0xFFFFFFFF) * geometry.warps * width + 1, 0, 0, _CONST)
            report(MASK, 0, pc, row[NOW], 0, lane, findings)
        _sync_warp(row, thread, mask, shadow, width)
        return 0
    return RECORD


@inlined
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
            _in_memory(to, access, block, table, shadow, geometry, findings)


@noinline
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
        if access.space == _GLOBAL:
            row = np.int64(_row_of(shadow.spare[lane], shadow.rows, findings.out))
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
    warp = (words[at + 1] >> 32) & 0xFFFFFFFF
    home = (words[at + 2] & 0xFFFFFFFF) * (geometry.warps * geometry.width) + 1
    return Access(
        pc,
        flags,
        table.bytes[pc],
        table.space[pc],
        rank,
        warp,
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
        if info & WRITTEN:
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
