"""What following a launch needs: tables by pc, the sizes of cells, and memory for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from kernelcast.simcore.checking.cells import STRONG_WORDS, WEAK_WORDS
from kernelcast.simcore.checking.objects import Origins, array_bounds, quiet_loads
from kernelcast.simcore.checking.records import (
    ASYNC,
    ASYNC_END,
    ASYNC_GROUP,
    ASYNC_WAIT,
    BULK,
    HOST,
    NARROW,
    PROBED,
    READ,
    SEGMENT_SHIFT,
    STRONG,
    SYNC,
    WARP_SYNC,
    WRITE,
    Geometry,
    PcTable,
)
from kernelcast.simcore.checking.rewriting import Probed
from kernelcast.simcore.checking.rules import (
    follows_bulk,
    has_parts_of_barriers,
    is_copy,
    is_of_bulk,
    is_warp_barrier,
    needs_clocks,
    order_of,
    orders_memory,
    writes_unseen,
)
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.codegen.runtime_functions import SPACES
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierSync,
    BulkCopy,
    ClusterArrive,
    Fence,
    Instruction,
    Kernel,
    Load,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["Plan", "plan_of"]

_GLOBAL = (AddressSpace.GLOBAL, AddressSpace.GENERIC)
_SHARED = (AddressSpace.SHARED, AddressSpace.GENERIC)
_LOCAL = (AddressSpace.LOCAL, AddressSpace.GENERIC)
_MOST_CELL = 8
_OF_COPIES = (ASYNC_GROUP, ASYNC_WAIT, ASYNC_END)


@dataclass(frozen=True)
class Plan:
    """How a launch is followed.

    `quiet`: loads that nothing races with; `rows`: first and last address of each allocation and
    its first cell, -1 where it has none, and whether nobody has written it; `words` of a cell;
    `buffer_cells`: cells of all buffers.
    """

    table: PcTable
    geometry: Geometry
    quiet: frozenset[int]
    rows: np.ndarray
    buffer_cells: int
    words: int
    has_clocks: bool

    @property
    def bytes(self) -> int:
        """What the cells of all buffers, and of one thread block's shared memory, take."""
        return 8 * self.words * (self.buffer_cells + self.geometry.shared_cells)


def plan_of(
    probed: Probed, memory: LaunchMemory, facts: LaunchFacts, unwritten: Sequence[str] = ()
) -> Plan:
    """The plan for a launch whose memory is laid out; `unwritten`: patterns of buffers' names."""
    kernel = probed.kernel
    origins = Origins(kernel)
    by_offset = {place: allocation.address for place, allocation in memory.pointers}
    blank = {
        allocation.address
        for allocation in memory.globals.allocations
        if any(fnmatchcase(allocation.name, pattern) for pattern in unwritten)
    }
    quiet, written = quiet_loads(kernel, origins, by_offset, blank)
    has_clocks = needs_clocks(kernel)
    has_bulk = follows_bulk(kernel, facts.cluster_size)
    table = _table(kernel, has_clocks, has_bulk=has_bulk)
    for pc, probe in probed.probes.items():
        table.event[pc], table.left[pc] = PROBED, probe.kind
    for pc, (low, high) in array_bounds(
        kernel, origins, memory.symbols, facts.shared_bytes
    ).items():
        table.low[pc], table.high[pc] = low, high
    strong = any(flags & STRONG for flags in table.flags.tolist())
    geometry = _geometry(kernel, facts, has_clocks, has_strong=strong)
    rows, cells = [], 0
    for allocation in memory.globals.allocations:
        first = -1
        if written is None or allocation.address in written:
            first = cells
            cells += -(-allocation.size >> geometry.buffer_shift) + 1
            cells = -(-cells >> SEGMENT_SHIFT) << SEGMENT_SHIFT
        end = allocation.address + allocation.size
        rows.append((allocation.address, end, first, int(allocation.address in blank)))
    words = STRONG_WORDS if strong else WEAK_WORDS
    columns = np.array(rows or [(0, 0, -1, 0)], np.int64)
    return Plan(table, geometry, quiet, columns, cells, words, has_clocks)


def _table(kernel: Kernel, has_clocks: bool, *, has_bulk: bool) -> PcTable:
    count = max((i.pc for i in kernel.instructions), default=0) + 1
    table = PcTable(*(np.zeros(count, np.int64) for _ in PcTable._fields))
    for instruction in kernel.instructions:
        pc = instruction.pc
        if isinstance(instruction, Load | Store | Atomic):
            table.space[pc] = SPACES[instruction.address.space]
            table.bytes[pc] = _bytes(instruction)
            table.flags[pc] = _flags(instruction, has_clocks)
        table.event[pc] = _event(instruction)
        is_fence = isinstance(instruction, Fence) and is_of_bulk(instruction)
        if isinstance(instruction, BulkCopy) or is_fence:
            table.event[pc] = BULK if has_bulk else 0
        if isinstance(instruction, Fence):
            table.left[pc] = instruction.groups_left or 0
    return table


def _flags(access: Load | Store | Atomic, has_clocks: bool) -> int:
    order = order_of(access)
    flags = {Load: READ, Store: WRITE, Atomic: READ | WRITE}[type(access)]
    if order.is_strong:
        flags |= STRONG | (NARROW if order.is_narrow else 0) | (SYNC if has_clocks else 0)
    if is_copy(access):
        flags |= ASYNC
    return flags


def _event(instruction: Instruction) -> int:
    """The kind of event that an instruction is, 0 for none."""
    if is_warp_barrier(instruction):
        return WARP_SYNC
    if isinstance(instruction, Fence):
        if instruction.groups_left is not None and "bulk" not in instruction.mnemonic:
            return ASYNC_END if "wait_all" in instruction.mnemonic else ASYNC_WAIT
        if "commit" in instruction.mnemonic or instruction.mnemonic.startswith("LDGDEPBAR"):
            return ASYNC_GROUP
        return HOST if orders_memory(instruction) else 0
    if isinstance(instruction, BarrierSync):
        return HOST if instruction.is_counted or instruction.is_cluster else 0
    return HOST if isinstance(instruction, BarrierArrive | ClusterArrive) else 0


def _bytes(access: Load | Store | Atomic) -> int:
    if isinstance(access, Load):
        return access.type.bytes * len(access.destinations)
    return access.type.bytes * (len(access.sources) if isinstance(access, Store) else 1)


def _shift(kernel: Kernel, spaces: Iterable[AddressSpace]) -> int:
    """The power of two of a cell's bytes: the smallest element that an access has."""
    accesses = (i for i in kernel.instructions if isinstance(i, Load | Store | Atomic))
    sizes = [i.type.bytes for i in accesses if i.address.space in spaces]
    return min(_MOST_CELL, *sizes, _MOST_CELL).bit_length() - 1


def _geometry(
    kernel: Kernel, facts: LaunchFacts, has_clocks: bool, *, has_strong: bool
) -> Geometry:
    shared, local = _shift(kernel, _SHARED), _shift(kernel, _LOCAL)
    instructions = kernel.instructions
    has_bulk = follows_bulk(kernel, facts.cluster_size)
    has_copies = any(is_copy(i) or _event(i) in _OF_COPIES for i in instructions)
    return Geometry(
        warps=facts.warps + has_bulk,
        width=facts.width,
        shared_shift=shared,
        shared_cells=-(-facts.shared_bytes >> shared),
        buffer_shift=_shift(kernel, _GLOBAL),
        local_shift=local,
        local_cells=-(-kernel.local_bytes >> local),
        is_fine=int(has_clocks or any(is_warp_barrier(i) for i in instructions)),
        is_counted=int(has_parts_of_barriers(kernel)),
        is_cluster=int(facts.cluster_size > 1),
        has_copies=int(has_copies),
        checks_first=int(not writes_unseen(kernel, facts.cluster_size)),
        has_runs=int(not (has_strong or has_copies or has_bulk or facts.cluster_size > 1)),
        has_bulk=int(has_bulk),
        full=(1 << facts.width) - 1 - (1 << facts.width >> 64 << 64),
    )
