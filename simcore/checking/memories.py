"""One lane's access, in the memory that its address is of: local, shared, or a buffer."""

from __future__ import annotations

from typing import Any

from kernelcast.simcore.checking.cells import (
    check_bounds,
    check_written,
    report,
    touch_copies,
    touch_source,
    touch_strong,
    touch_weak_read,
    touch_weak_write,
)
from kernelcast.simcore.checking.records import (
    ASYNC,
    CONST_SPACE,
    GENERIC_SPACE,
    GLOBAL_SPACE,
    LOCAL_SPACE,
    READ,
    ROW,
    SHARED_SPACE,
    STRONG,
    UNINITIALISED,
    WRITE,
    Access,
    Findings,
    Geometry,
    Lane,
    PcTable,
    Shadow,
)
from kernelcast.simcore.checking.runs import open_segments
from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK, RANK_MASK
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace

__all__ = ["row_of", "touch_memory"]

_SHARED_FIRST, _LOCAL_FIRST = WINDOWS[AddressSpace.SHARED], WINDOWS[AddressSpace.LOCAL]
_LAST_WINDOW = max(WINDOWS.values()) + WINDOW_BYTES


@inlined
def row_of(address: int, rows: Any, out: Any) -> int:
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
    lane: Lane,
    access: Access,
    block: int,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
    findings: Findings,
) -> None:
    """Local memory is the thread's own: it is written before it is read."""
    check_bounds(table.low[access.pc], table.high[access.pc], lane, access, findings)
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
            report(UNINITIALISED, 0, access.pc, access.now, access.time, lane, findings)


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
    at = Lane(lane.me, lane.number, place, SHARED_SPACE)
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
    row = row_of(lane.address, shadow.rows, findings.out)
    if row < 0 or shadow.rows[row, 2] < 0:
        return
    far = lane.address - shadow.rows[row, 0]
    before = shadow.rows[row, 2]
    first, last = far >> geometry.buffer_shift, (far + access.bytes - 1) >> geometry.buffer_shift
    open_segments(before + first, last - first + 1, shadow)
    for number in range(before + first, before + last + 1):
        if shadow.rows[row, 3] and access.flags & READ:
            check_written(shadow.buffers, number, lane, access, findings)
        if geometry.has_copies:
            touch_source(number, lane, access, shadow, geometry, findings)
        _touch(shadow.buffers, number, lane, access, table.flags, shadow, geometry, findings)


@inlined
def touch_memory(
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
    if space == GENERIC_SPACE:
        space = GLOBAL_SPACE
        if address >= _SHARED_FIRST and address < _LAST_WINDOW:
            space = CONST_SPACE
            if address < _LOCAL_FIRST:
                space, address = SHARED_SPACE, address - _SHARED_FIRST
            elif address < _LOCAL_FIRST + WINDOW_BYTES:
                space, address = LOCAL_SPACE, address - _LOCAL_FIRST
    at = Lane(lane.me, lane.number, address, space)
    if space == GLOBAL_SPACE:
        _in_buffers(at, access, table, shadow, geometry, findings)
    elif space == SHARED_SPACE:
        _in_shared(at, access, table, shadow, geometry, findings)
    elif space == LOCAL_SPACE:
        _in_local(at, access, block, table, shadow, geometry, findings)
