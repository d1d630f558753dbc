"""What compiled following and its host share: tables by pc, places of numbers, kinds of events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "ASYNC",
    "ASYNC_END",
    "ASYNC_GROUP",
    "ASYNC_WAIT",
    "BARRIER",
    "BLOCK",
    "BORN",
    "BOUNDS",
    "BULK",
    "CLOCKED",
    "CONST_SPACE",
    "COPY",
    "EVENT_AT",
    "FLOOR",
    "FOUND",
    "GENERIC_SPACE",
    "GLOBAL_SPACE",
    "HOST",
    "IN_CELLS",
    "KIND_BITS",
    "LOCAL_SPACE",
    "MASK",
    "MOST_STAMP",
    "MOST_THREADS",
    "NARROW",
    "NOW",
    "ONLY_READ",
    "OPENED",
    "OUTSTANDING",
    "PC_BITS",
    "PROBED",
    "PROXY",
    "RACE",
    "READ",
    "RECORD",
    "ROW",
    "SAME",
    "SEGMENT_SHIFT",
    "SHARED_SPACE",
    "SOURCE",
    "STAGE",
    "STAMPS",
    "STAMP_BITS",
    "STRONG",
    "SYNC",
    "THREAD_SHIFT",
    "UNINITIALISED",
    "UNWRITTEN",
    "WARP_SYNC",
    "WRAPPED",
    "WRITE",
    "Access",
    "Findings",
    "Geometry",
    "Lane",
    "PcTable",
    "Shadow",
]

Ints = npt.NDArray[np.int64]

READ, WRITE, STRONG, NARROW, SYNC, ASYNC = 1, 2, 4, 8, 16, 32
"""Flags of an access: what it does; whether it is atomic or volatile, only within a thread block;
whether clocks must be asked; whether it is half of an asynchronous copy."""
HOST, WARP_SYNC, ASYNC_GROUP, ASYNC_WAIT, ASYNC_END, PROBED, BULK = range(1, 8)
"""Kinds of events by pc: of clocks, of a warp, the groups of asynchronous copies, and probes, whose
kind of finding is where others have the groups that a wait leaves; copies in bulk."""
RACE, SAME, UNINITIALISED, BOUNDS, COPY, MASK = range(1, 7)
UNWRITTEN, SOURCE, BORN, WRAPPED, PROXY = range(7, 12)
KIND_BITS = 4
"""Kinds of findings. `SAME`: a race of two writes of the same value; `UNWRITTEN`: of a register;
`SOURCE`: a write of what a copy still reads;
`BORN`: a NaN or infinity; `WRAPPED`: an index of 32 bits; `PROXY`: a
copy in bulk of what was written without a fence between proxies."""
BLOCK, STAGE, NOW, FLOOR = 0, 1, 2, 3
"""What is kept of a thread block that is followed.

Its number, the stage of its records, its stamp, and that up to which all of its threads know each
other."""
EVENT_AT, FOUND, CLOCKED, ROW = 0, 1, 2, 3
"""What `follow` says: why it stopped, how many findings there are; what it is told: whether there
are clocks; the allocation that was found last."""
RECORD, BARRIER, OPENED, STAMPS = 1, 2, 3, 4
"""Reasons to stop: a record for clocks, a barrier of the thread block, one that has opened, stamps.

Records of accesses have been followed by then, and stamps are too many."""
GLOBAL_SPACE, SHARED_SPACE, LOCAL_SPACE, CONST_SPACE, GENERIC_SPACE = 0, 1, 2, 3, 5
"""The numbers of SPACES."""
PC_BITS, STAMP_BITS = 17, 19
THREAD_SHIFT = PC_BITS + STAMP_BITS
MOST_STAMP = (1 << STAMP_BITS) - 64
OUTSTANDING = (1 << STAMP_BITS) - 1
"""The stamp of what a copy in bulk does while nobody has waited for it."""
MOST_THREADS = (1 << (62 - THREAD_SHIFT)) - 1
SEGMENT_SHIFT, ONLY_READ, IN_CELLS = 5, 1 << 62, -1
"""Cells of a segment, as a power of two; in a segment's word: its threads only read, and that the
cells say what was done."""


class PcTable(NamedTuple):
    """Facts of instructions by pc.

    The space of SPACES, bytes of a lane, flags, the kind of event, groups that a wait leaves, and
    first and last address of the object that it must stay in, last 0 for any.
    """

    space: Ints
    bytes: Ints
    flags: Ints
    event: Ints
    left: Ints
    low: Ints
    high: Ints


class Geometry(NamedTuple):
    """Numbers of one launch; a shift is the power of two of a cell's bytes.

    `is_fine`: lanes of a warp may be ordered apart from others; `is_counted`: thread blocks have
    barriers that not all threads wait at; `checks_first`: shared memory must be written first;
    `has_runs`: neighbouring lanes may be followed together; `has_bulk`: the last of the warps is
    that of copies in bulk; `full`: the mask of all lanes.
    """

    warps: int
    width: int
    shared_shift: int
    shared_cells: int
    buffer_shift: int
    local_shift: int
    local_cells: int
    is_fine: int
    is_counted: int
    is_cluster: int
    has_copies: int
    checks_first: int
    has_runs: int
    has_bulk: int
    full: int


class Shadow(NamedTuple):
    """What is known of memory and threads.

    `shared`, `buffers`: cells, shape (words, cells); `segments` of cells of buffers that only
    neighbouring threads have touched, one each: the word of the first one, or IN_CELLS; `copies`:
    by shared cell, one more than the group of the asynchronous copy that wrote it, or 0; `sources`:
    by cell of buffers the group of the copy that read it, and the word of who did; `local`:
    by cell of each thread one more than the thread block that wrote it; `rows`: of allocations
    first and last address, first cell or -1, whether nobody has written it; `known`: by thread the
    stamps up to which it knows the lanes of its warp; `ranks` of thread blocks in their clusters;
    `groups`: by thread the groups of copies that are closed, and those that are done; `waits`: by
    warp the lanes that wait at counted barriers.
    """

    shared: Ints
    buffers: Ints
    segments: Ints
    copies: Ints
    sources: Ints
    local: npt.NDArray[np.int32]
    rows: Ints
    known: Ints
    ranks: Ints
    groups: Ints
    waits: Ints
    spare: Ints


class Findings(NamedTuple):
    """What has been found, and what `follow` says and is told (`out`).

    `rows`: kind, thread, pc, stamp, word of the earlier access, address, space, time; `keys` of
    what was found and `often` how often.
    """

    rows: Ints
    keys: Ints
    often: Ints
    out: Ints


class Access(NamedTuple):
    """One record, made at a `time` of its warp.

    `home`: the first thread of its thread block; `mask` of lanes, those that write what is there
    already (`same`), and those whose value is not there afterwards (`lost`).
    """

    pc: int
    flags: int
    bytes: int
    space: int
    rank: int
    warp: int
    time: int
    home: int
    floor: int
    now: int
    mask: int
    same: int
    lost: int


class Lane(NamedTuple):
    """One thread of an access: its number plus one, its lane and its address in `space`."""

    me: int
    number: int
    address: int
    space: int
