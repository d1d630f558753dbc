"""Atomics on one address: how often the busiest one of a launch is changed, and passes of banks.

L2 works on different addresses at the same time, and on one address on one operation after the
other. A launch thus lasts at least as long as the operations on its busiest address. Sectors of one
place of L2 take turns, too: an H100 and an H200 carry out 11 to 12 thousand million lanes a second
at random words of 4 KiB, 35 of 16 KiB and 69 of 64 KiB (`validation/microkernels/capacity.cu`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.atomic_facts import AtomicFacts
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import ONE, ZERO
from kernelcast.simcore.memory.native_accesses import LaneAccesses, NativeAccesses, native_accesses
from kernelcast.simcore.memory.sets.way_search import trailing_zeros
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import InstructionRow, PatternCounts

__all__ = ["AtomicContention", "ContentionCounter", "atomic_passes", "serialises_lanes"]

_KIND = "atomic"
_SHARED = "shared"
_COUNTED_LANES = "POPC"
"""An increment of SASS that adds the number of lanes at once."""
_ALONE = re.compile(r"(^|\.)(cas|cast|exch|b?f\d+\w*|e\d+m\d+\w*)(\.|$)", re.IGNORECASE)
"""Parts of names of operations that are never combined: exchanges, and sums of floats."""
_BUCKET_BITS = 20
_HASH = 0x9E3779B97F4A7C15
_SECTOR_BITS = 5
_PLACES = 128
"""Places of L2: 256 and 768 bytes apart they are two, 512 bytes apart one, and kilobytes that
follow one another have places of their own up to 64 KiB, by the rates of atomics on so many groups
of words with so many bytes between them. With strides of 2 KiB 16 groups have 16 places, 64 groups
half as many: higher bits of the address take part; which ones do is assumed."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AtomicContention:
    """How often addresses are changed: `requests` of warps and their `operations`, by pc.

    `busiest`: operations on the address that has most of them; `busiest_place`: cycles for which
    they and others keep their place of L2 occupied. All are of the thread blocks that were looked
    at.
    """

    requests: Ints
    operations: Ints
    busiest: int
    busiest_place: float = 0.0

    def cycles_per_request(self, address_cycles: float) -> Floats:
        """Cycles for which a request of each pc keeps the busiest address occupied, on average.

        Or the busiest place, if that takes longer. Each operation counts as the same share.
        """
        longest = max(address_cycles * self.busiest, self.busiest_place)
        cycles = longest / max(1, int(self.operations.sum())) * self.operations
        found: Floats = np.divide(
            cycles, self.requests, out=np.zeros(len(cycles)), where=self.requests > 0
        )
        return found


class ContentionCounter:
    """An AccessSink that counts the operations of atomics on single addresses of global memory."""

    def __init__(self, instructions: Sequence[InstructionRow], device: Device) -> None:
        self._native = native_accesses(instructions)
        self._is_atomic = np.array([row.kind == _KIND for row in instructions], np.bool_)
        self._facts = device.atomics
        self._combined = np.array([_combined(row, self._facts) for row in instructions], np.int64)
        self._places = np.zeros(_PLACES)
        self._requests, self._operations = (np.zeros(len(instructions), np.int64) for _ in range(2))
        buckets = 1 << _BUCKET_BITS if self._is_atomic.any() else 0
        self._buckets: Ints = np.zeros(buckets, np.int64)

    def accept(self, batch: AccessBatch) -> None:
        """Counts the atomics among the accesses."""
        accesses = batch.accesses
        chosen = np.flatnonzero(self._is_atomic[accesses.pc]) if len(self._buckets) else ()
        if not len(chosen):
            return
        pc = accesses.pc[chosen]
        lanes = self._native.of_lanes(
            pc, accesses.address[chosen], accesses.pattern[chosen], batch.patterns
        )
        operations = np.zeros(len(pc), np.int64)
        _operate(lanes, self._combined[pc], self._buckets, operations)
        if self._facts.request_cycles:
            facts = self._facts.address_cycles, self._facts.request_cycles
            _occupy(lanes, self._combined[pc], *facts, self._places)
        size = len(self._requests)
        self._requests += np.bincount(pc, minlength=size)
        self._operations += np.bincount(pc, operations, minlength=size).astype(np.int64)

    @property
    def found(self) -> AtomicContention:
        """What has been counted until now."""
        busiest = int(self._buckets.max(initial=0))
        return AtomicContention(
            self._requests, self._operations, busiest, float(self._places.max())
        )


def _combined(row: InstructionRow, facts: AtomicFacts) -> int:
    """Lanes with one address that are one operation.

    Where requests were measured one by one hardware combines none: the assembler does, which has
    done so in machine code.
    """
    is_measured = row.control is not None and facts.request_cycles > 0.0
    return 1 if is_measured or _ALONE.search(row.mnemonic) else facts.combined_lanes


def serialises_lanes(row: InstructionRow) -> bool:
    """Whether lanes of an atomic of shared memory that have one address take turns."""
    return row.kind == _KIND and _COUNTED_LANES not in row.mnemonic.split(".")


def atomic_passes(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, device: Device
) -> Floats:
    """Passes of atomics of shared memory: lanes with one address follow one another in its bank."""
    passes = np.zeros(len(rows))
    _take_turns(
        native.of_lanes(rows.pc, rows.start, rows.pattern, patterns),
        device.shared.bank_bytes,
        device.atomics.shared_lane_passes,
        np.zeros(patterns.offsets.shape[1], np.int64),
        np.zeros(device.shared.banks),
        passes,
    )
    return passes


@compiled
def _lanes_with(start: int, offsets: Ints, lanes: np.uint64, address: int, alignment: int) -> int:
    """How many of the lanes have that address."""
    count = 0
    while lanes != ZERO:
        lane = np.uint64(trailing_zeros(int(np.int64(lanes))))
        lanes &= np.uint64(lanes - ONE)
        if (start + offsets[lane]) & alignment == address:
            count += 1
    return count


@compiled
def _operate(accesses: LaneAccesses, combined: Ints, buckets: Ints, operations: Ints) -> None:
    """Counts the operations of each access, and those on each address in its bucket."""
    for row in range(len(accesses.start)):
        start, alignment = int(accesses.start[row]), accesses.alignment[row]
        offsets = accesses.offsets[accesses.pattern[row]]
        lanes = accesses.masks[accesses.pattern[row]]
        done = ZERO
        rest = lanes
        while rest != ZERO:
            lane = np.uint64(trailing_zeros(int(np.int64(rest))))
            rest &= np.uint64(rest - ONE)
            address = (start + offsets[lane]) & alignment
            if done != ZERO and _lanes_with(start, offsets, done, address, alignment) > 0:
                continue
            done |= np.uint64(ONE << lane)
            count = _lanes_with(start, offsets, lanes, address, alignment)
            found = (count + combined[row] - 1) // combined[row]
            key = np.uint64(address) * np.uint64(_HASH) >> np.uint64(64 - _BUCKET_BITS)
            buckets[key] += found
            operations[row] += found


@compiled
def _place(sector: int) -> int:
    """Which of the _PLACES of L2 the sector with that number is in."""
    kilobyte = sector >> (10 - _SECTOR_BITS)
    half = (sector >> (8 - _SECTOR_BITS)) & 1
    mixed = (kilobyte ^ kilobyte >> 5 ^ kilobyte >> 10 ^ kilobyte >> 15) & 31
    return half | mixed << 1 | (kilobyte >> 7 & 1) << 6


@compiled
def _occupy(
    accesses: LaneAccesses, combined: Ints, address_cycles: float, least: float, places: Floats
) -> None:
    """Adds the cycles for which requests of accesses, one to each sector, occupy their places.

    One takes as long as operations on the address that most of its lanes have.
    """
    for row in range(len(accesses.start)):
        start, alignment = int(accesses.start[row]), accesses.alignment[row]
        offsets = accesses.offsets[accesses.pattern[row]]
        rest = accesses.masks[accesses.pattern[row]]
        while rest != ZERO:
            first = np.uint64(trailing_zeros(int(np.int64(rest))))
            sector = ((start + offsets[first]) & alignment) >> _SECTOR_BITS
            most, left = 0, rest
            while left != ZERO:
                lane = np.uint64(trailing_zeros(int(np.int64(left))))
                left &= np.uint64(left - ONE)
                address = (start + offsets[lane]) & alignment
                if address >> _SECTOR_BITS == sector:
                    most = max(most, _lanes_with(start, offsets, rest, address, alignment))
            left = rest
            while left != ZERO:
                lane = np.uint64(trailing_zeros(int(np.int64(left))))
                left &= np.uint64(left - ONE)
                if ((start + offsets[lane]) & alignment) >> _SECTOR_BITS == sector:
                    rest &= ~np.uint64(ONE << lane)
            operations = (most + combined[row] - 1) // combined[row]
            places[_place(sector)] += max(least, operations * address_cycles)


@compiled
def _take_turns(
    accesses: LaneAccesses,
    bank_bytes: int,
    lane_passes: int,
    met: Ints,
    load: Floats,
    passes: Floats,
) -> None:
    """`met`, `load`: working space for the addresses of an access and the passes of each bank."""
    for row in range(len(accesses.start)):
        start, alignment = int(accesses.start[row]), accesses.alignment[row]
        offsets = accesses.offsets[accesses.pattern[row]]
        lanes = accesses.masks[accesses.pattern[row]]
        load[:] = 0.0
        found, most, rest = 0, 1.0, lanes
        while rest != ZERO:
            lane = np.uint64(trailing_zeros(int(np.int64(rest))))
            rest &= np.uint64(rest - ONE)
            address = (start + offsets[lane]) & alignment
            is_met = False
            for at in range(found):
                is_met |= met[at] == address
            if is_met:
                continue
            met[found] = address
            found += 1
            count = _lanes_with(start, offsets, lanes, address, alignment)
            turns = max(1.0, count * lane_passes)
            first, last = address // bank_bytes, (address + accesses.bytes[row] - 1) // bank_bytes
            for bank in range(first, last + 1):
                at_bank = np.uint64(bank % len(load))
                load[at_bank] += turns
                most = max(most, load[at_bank])
        passes[row] = most
