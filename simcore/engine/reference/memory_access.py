"""Loads, stores and atomics of a frame: addresses to storage, and a row for the recorder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine.recording.patterns import LaneGroups, warp_rows
from kernelcast.simcore.engine.recording.recorder import Recorder
from kernelcast.simcore.engine.reference.atomics import apply_atomic
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.lanes import Lanes, LaneView, as_bits
from kernelcast.simcore.engine.reference.outstanding_copies import OutstandingCopies, has_copies
from kernelcast.simcore.engine.reference.phase_log import PhaseLog
from kernelcast.simcore.engine.rules.access_faults import access_fault
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    Fence,
    Kernel,
    Load,
    Register,
    Store,
    SymbolAddress,
)
from kernelcast.simcore.isa.ir.mbarrier_words import OPERATION as MBARRIER
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.memory_spaces import OutOfBounds, is_all

__all__ = ["MemoryAccess", "StoreJournal"]

Addresses: TypeAlias = npt.NDArray[np.int64]
Chosen: TypeAlias = npt.NDArray[np.intp] | None
# Local memory has no address that programs could compare: one far from every buffer serves.
_WRAP = (1 << 32) - 1
_LOCAL_FIRST_ADDRESS = 0x6000_0000_0000


class Positions(Protocol):
    """Which lanes of the batch an access is made by; None for all."""

    count: int

    @property
    def lanes(self) -> npt.NDArray[np.intp] | None:
        """Numbers in the batch of the lanes; None for all."""

    @property
    def groups(self) -> LaneGroups | None:
        """The lanes by warp; None for all of the batch."""


class Target:
    """Some lanes of an access that fall into one storage: a typed view and element positions.

    `chosen` are positions in the frame; None for all of them.
    """

    __slots__ = ("chosen", "element", "view")

    def __init__(
        self, view: npt.NDArray[Any], element: Addresses, chosen: npt.NDArray[np.intp] | None
    ) -> None:
        self.view = view
        self.element = element
        self.chosen = chosen


class _Request:
    """An access of `count` neighbouring elements by the instruction at `position` of its run."""

    __slots__ = ("count", "element_bytes", "instruction", "position", "shift")

    def __init__(self, instruction: Load | Store | Atomic, count: int, position: int) -> None:
        self.instruction = instruction
        self.count = count
        self.position = position
        self.element_bytes = instruction.type.bytes
        self.shift = self.element_bytes.bit_length() - 1


class StoreJournal:
    """Takes as much memory as the run stores, however large the buffers are."""

    def __init__(self) -> None:
        self._entries: list[tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[Any]]] = []

    def note(self, view: npt.NDArray[Any], element: npt.NDArray[np.int64], count: int) -> None:
        """`count` elements of `view` from each `element` on are about to change, if they may."""
        if not view.flags.writeable:
            return
        for part in range(count):
            at = np.asarray(element + part)
            self._entries.append((view, at, view[at]))

    def undo(self) -> None:
        """Puts everything back, the latest change first."""
        while self._entries:
            view, at, before = self._entries.pop()
            view[at] = before


class MemoryAccess:
    """Executes the memory instructions of one batch; `journal` can undo its stores to buffers."""

    def __init__(
        self,
        kernel: Kernel,
        memory: LaunchMemory,
        recorder: Recorder,
        batch: Batch,
        journal: StoreJournal | None = None,
        phases: PhaseLog | None = None,
    ) -> None:
        self._phases = phases
        self._memory = memory
        self._recorder = recorder
        self._batch = batch
        self._journal = journal
        self.copies = OutstandingCopies(batch) if has_copies(kernel) else None

    def fence(self, frame: LaneView, fence: Fence) -> None:
        """Memory is sequentially consistent; threads may wait for copies."""
        if self.copies is not None:
            self.copies.fence(fence, frame.lanes)

    def load(self, frame: LaneView, load: Load, position: int) -> None:
        """Executes a load: reads each lane's elements into the destination registers."""
        address = self._addresses(frame, load.address)
        count = len(load.destinations)
        values: list[Lanes] = []
        for target in self._targets(frame, _Request(load, count, position), address):
            for part in range(count):
                piece = target.view.take(target.element + part)
                if target.chosen is None:
                    values.append(piece if address.ndim else piece[()])
                else:
                    if len(values) <= part:
                        values.append(np.zeros(frame.count, piece.dtype))
                    values[part][target.chosen] = piece
        for register, value in zip(load.destinations, values, strict=True):
            if register is not None:
                frame.write(
                    register, as_bits(value.view(load.type.dtype), load.type, register.bits)
                )

    def store(self, frame: LaneView, store: Store, position: int) -> None:
        """Executes a store; MemoryAccessError for a read-only array."""
        address = np.broadcast_to(self._addresses(frame, store.address), (frame.count,))
        parts = [self._source(frame, source, store) for source in store.sources]
        for target in self._targets(frame, _Request(store, len(parts), position), address):
            if not target.view.flags.writeable:
                raise self._read_only(frame, target, store)
            for part, value in enumerate(parts):
                chosen = value
                if target.chosen is not None and np.ndim(value):
                    chosen = value[target.chosen]
                target.view[target.element + part] = chosen

    def atomic(self, frame: LaneView, atomic: Atomic, position: int) -> bool:
        """Whether memory changed: a warp that spins on a lock changes nothing."""
        address = np.broadcast_to(self._addresses(frame, atomic.address), (frame.count,))
        operands = [
            np.broadcast_to(self._source(frame, source, atomic), (frame.count,))
            for source in atomic.sources
        ]
        dtype = atomic.type.dtype
        result = np.zeros(frame.count, dtype)
        changed = False
        for target in self._targets(frame, _Request(atomic, 1, position), address):
            if not target.view.flags.writeable:
                raise self._read_only(frame, target, atomic)
            chosen = slice(None) if target.chosen is None else target.chosen
            old, moved = apply_atomic(
                target.view.view(dtype),
                target.element,
                atomic.operation,
                tuple(operand.view(dtype)[chosen] for operand in operands),
                atomic.type,
            )
            result[chosen] = old
            changed |= moved
            if self._phases is not None and atomic.operation == MBARRIER:
                who, now = self._batch.lane_of(frame.lanes)[chosen], target.view.view(dtype)
                self._phases.change(atomic.pc, who, target.element, old, now[target.element])
        if atomic.destination is not None:
            bits = as_bits(result, atomic.type, atomic.destination.bits)
            frame.write(atomic.destination, bits)
        return changed

    def _source(self, frame: LaneView, source: Any, instruction: Store | Atomic) -> Lanes:
        value = self._batch.operand(frame, source, instruction.type)
        return value.view(instruction.type.storage)

    def _addresses(self, frame: LaneView, address: Address) -> Addresses:
        """Byte addresses within the instruction's space, shape (lanes,) or () when uniform."""
        base = address.base
        if isinstance(base, Register):
            value = frame.read(base)
            if base.bits == 64:
                found = np.asarray(value.view(np.int64))
                return _moved(found, address.offset) if address.offset else found
            # A 32-bit address wraps: compilers address backwards from just below zero.
            return np.asarray((value.astype(np.int64) + (address.offset & _WRAP)) & _WRAP)
        first = self._memory.address_of(base) if isinstance(base, SymbolAddress) else 0
        return _moved(np.asarray(first, np.int64), address.offset)

    def _targets(self, frame: LaneView, request: _Request, address: Addresses) -> Iterator[Target]:
        for space, within, chosen in _by_space(address, request.instruction.address.space):
            some: Positions = frame if chosen is None else _Chosen(frame, chosen, self._batch.width)
            try:
                if space is AddressSpace.GLOBAL:
                    yield from self._in_buffers(some, request, within, chosen)
                else:
                    yield self._in_flat_memory(some, request, space, within, chosen)
            except OutOfBounds as fault:
                raise self._fault(request, some, fault) from None

    def _in_buffers(
        self, some: Positions, request: _Request, address: Addresses, chosen: Chosen
    ) -> Iterator[Target]:
        dtype, size = request.instruction.type.storage, request.element_bytes
        found = self._memory.globals.locate(np.atleast_1d(address), size, request.count)
        self._record_sequence(some, request, address)
        for buffer, lanes in found:
            everything = is_all(lanes)
            part = address if everything else address[lanes]
            where = chosen if everything else (lanes if chosen is None else chosen[lanes])
            view, element = buffer.typed(dtype), (part - buffer.address) >> request.shift
            if self._journal is not None and not isinstance(request.instruction, Load):
                self._journal.note(view, element, request.count)
            yield Target(view, element, where)

    def _in_flat_memory(
        self,
        some: Positions,
        request: _Request,
        space: AddressSpace,
        address: Addresses,
        chosen: Chosen,
    ) -> Target:
        batch = self._batch
        owner: Addresses | int = 0
        if space is AddressSpace.SHARED:
            flat, owner = batch.shared, batch.thread_block_of(some.lanes)
        elif space is AddressSpace.LOCAL:
            flat, owner = batch.local, batch.lane_of(some.lanes)
        else:
            is_constant = space is AddressSpace.CONST
            flat = self._memory.constants if is_constant else self._memory.parameters
        if not isinstance(owner, int):
            address = np.broadcast_to(address, (some.count,))
        if space is AddressSpace.SHARED and batch.cluster is not None:
            owner, address = batch.cluster.resolved(np.asarray(owner), address)
        element = flat.elements(address, owner, request.element_bytes, request.count)
        if self.copies is not None and space is AddressSpace.SHARED:
            size = request.element_bytes
            places = element << request.shift
            self.copies.touch(request.instruction, some.lanes, places, size * request.count)
        if self._phases is not None and space is AddressSpace.SHARED:
            self._phases.touch(request.instruction, some.lanes, element << request.shift)
        if space is AddressSpace.LOCAL:
            self._record_sequence(some, request, self._local_address(some, address, request))
        elif space is not AddressSpace.PARAM:
            rows = warp_rows(address, some.groups, batch.lanes, batch.width)
            stage = batch.stage_of(rows.warps)
            self._recorder.record_pattern(request.instruction.pc, rows, stage)
        return Target(flat.typed(request.instruction.type.storage), element, chosen)

    def _record_sequence(self, some: Positions, request: _Request, address: Addresses) -> None:
        batch = self._batch
        rows = warp_rows(address, some.groups, batch.lanes, batch.width)
        time = batch.counts.warp_time[rows.warps] + request.position
        stage = batch.stage_of(rows.warps)
        pc, warps = request.instruction.pc, batch.warps[rows.warps]
        self._recorder.record_access(pc, rows, warps, time, stage)

    def _local_address(self, some: Positions, offset: Addresses, request: _Request) -> Addresses:
        """Where the hardware keeps it: the same word of all threads lies together.

        A span of bytes [a, b) of every thread's local memory fills [a, b) * threads.
        """
        size = request.element_bytes * request.count
        thread = self._batch.launch_lane_of(some.lanes)
        return _LOCAL_FIRST_ADDRESS + offset * self._batch.launch_lanes + thread * size

    def _read_only(
        self, frame: LaneView, target: Target, instruction: Store | Atomic
    ) -> MemoryAccessError:
        """Names the first lane that would write."""
        position = 0 if target.chosen is None else int(target.chosen[0])
        lane = position if frame.lanes is None else int(frame.lanes[position])
        thread = self._batch.thread_name(lane)
        message = "store to a read-only array"
        return MemoryAccessError(message, instruction.span, thread, instruction.origin)

    def _fault(self, request: _Request, some: Positions, fault: OutOfBounds) -> MemoryAccessError:
        lane = fault.lane if some.lanes is None else int(some.lanes[fault.lane])
        name = self._batch.thread_name(lane)
        return access_fault(request.instruction, fault.address, fault.reason, name)


def _moved(address: Addresses, offset: int) -> Addresses:
    """`offset` bytes on, modulo 2**64; NumPy warns of that for single numbers, not for arrays."""
    return (np.atleast_1d(address) + np.int64(offset)).reshape(address.shape)


class _Chosen:
    """The lanes of a generic access that fall into one space."""

    def __init__(self, frame: LaneView, chosen: npt.NDArray[np.intp], width: int) -> None:
        self.lanes = chosen if frame.lanes is None else frame.lanes[chosen]
        self.groups = LaneGroups(self.lanes, width)
        self.count = len(chosen)


def _by_space(
    address: Addresses, space: AddressSpace
) -> Iterator[tuple[AddressSpace, Addresses, npt.NDArray[np.intp] | None]]:
    """(space, addresses within it, lanes or None for all): generic addresses by their window."""
    if space is not AddressSpace.GENERIC:
        yield space, address, None
        return
    flat = np.atleast_1d(address)
    rest = np.ones(flat.shape, np.bool_)
    for window_space, first in WINDOWS.items():
        inside = (flat >= first) & (flat < first + WINDOW_BYTES)
        if inside.all():
            yield window_space, address - first, None
            return
        if inside.any():
            chosen = np.flatnonzero(inside)
            yield window_space, flat[chosen] - first, chosen
            rest &= ~inside
    if rest.all():
        yield AddressSpace.GLOBAL, address, None
    elif rest.any():
        chosen = np.flatnonzero(rest)
        yield AddressSpace.GLOBAL, flat[chosen], chosen
