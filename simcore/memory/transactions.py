"""Transactions of single accesses: how many, and how many bytes they move past the coalescer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import CoalescingRule, Device
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.coalescer import SectorRoom, coalesce_into, new_room, sector_room
from kernelcast.simcore.memory.native_accesses import LaneAccesses, NativeAccesses
from kernelcast.simcore.memory.segments import (
    SegmentRule,
    makes_segments,
    segment_rule,
    segments_of,
)
from kernelcast.traces.pattern_table import PatternTable

__all__ = ["AccessTransactions", "transactions_of"]

Ints = npt.NDArray[np.int64]
Column = npt.NDArray[np.int32]


@dataclass(frozen=True)
class AccessTransactions:
    """Number and bytes of the transactions of each access, shape (accesses,)."""

    count: Ints
    bytes: Ints


def transactions_of(
    pc: Column,
    address: Ints,
    pattern: Column,
    patterns: PatternTable,
    native: NativeAccesses,
    device: Device,
) -> AccessTransactions:
    """What accesses to global and local memory coalesce to, whatever caches then do with it.

    Segments on devices that make them, else L1 lines or sectors. An access that is part of a
    wider one makes none.
    """
    count, bytes_ = np.empty(len(pc), np.int64), np.empty(len(pc), np.int64)
    size = _transaction_bytes(device)
    lanes, widest = patterns.offsets.shape[1], int(native.bytes.max(initial=1))
    _count(
        native.of_lanes(pc, address, pattern, patterns),
        makes_segments(device),
        segment_rule(device),
        size,
        new_room(lanes, sector_room(lanes, widest, size)),
        count,
        bytes_,
    )
    return AccessTransactions(count, bytes_)


def _transaction_bytes(device: Device) -> int:
    """The size of a transaction on devices without segments."""
    if device.coalescing is CoalescingRule.LINES and device.l1 is not None:
        return device.l1.line_bytes
    return device.l2.sector_bytes


@compiled
def _count(
    accesses: LaneAccesses,
    in_segments: bool,
    rule: SegmentRule,
    size: int,
    room: SectorRoom,
    count: Ints,
    bytes_: Ints,
) -> None:
    pattern, offsets, masks = accesses.pattern, accesses.offsets, accesses.masks
    for row in range(len(accesses.start)):
        places, lanes = offsets[pattern[row]], masks[pattern[row]]
        begin, width = accesses.start[row], accesses.bytes[row]
        align = accesses.alignment[row]
        count[row], bytes_[row] = 0, 0
        if width == 0:
            continue
        if in_segments:
            found = segments_of(rule, begin, places, lanes, align, width, room.starts)
            count[row], bytes_[row] = found
        else:
            count[row] = coalesce_into(begin, places, lanes, align, width, size, room)
            bytes_[row] = count[row] * size
