"""Transactions of single accesses: how many, and how many bytes they move past the coalescer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import CoalescingRule, Device
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.coalescer import coalesce_into, sector_room
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.memory.segments import (
    SegmentRule,
    makes_segments,
    segment_rule,
    segments_of,
)
from kernelcast.traces.pattern_table import PatternTable

__all__ = ["AccessTransactions", "transactions_of"]

Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]
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
    room = sector_room(lanes, widest, size)
    _count(
        address,
        pattern,
        patterns.mask,
        patterns.offsets,
        native.bytes[pc],
        native.alignment[pc],
        makes_segments(device),
        segment_rule(device),
        size,
        np.empty((2, lanes), np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.uint64),
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
    address: Ints,
    pattern: Column,
    masks: Masks,
    offsets: Ints,
    access_bytes: Ints,
    alignment: Ints,
    in_segments: bool,
    rule: SegmentRule,
    size: int,
    starts: Ints,
    found: Ints,
    unused: Masks,
    count: Ints,
    bytes_: Ints,
) -> None:
    for row in range(len(address)):
        shape, lanes = offsets[pattern[row]], masks[pattern[row]]
        begin, width, align = address[row], access_bytes[row], alignment[row]
        count[row], bytes_[row] = 0, 0
        if width == 0:
            continue
        if in_segments:
            count[row], bytes_[row] = segments_of(rule, begin, shape, lanes, align, width, starts)
        else:
            count[row] = coalesce_into(
                begin, shape, lanes, align, width, size, starts, found, unused
            )
            bytes_[row] = count[row] * size
