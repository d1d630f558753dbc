"""Transactions of compute capability 1.x: a warp's access is a request for each half-warp.

CUDA C Programming Guide, version 4.2, appendix F.3.2. Capabilities 1.0 and 1.1: where the k-th
thread of a request touches the k-th word of 4, 8 or 16 bytes of a segment aligned to all its words,
the segment is moved, 128 bytes at most at once; else each thread that takes part has a transaction
of its own. Capabilities 1.2 and 1.3: the segment of the lowest thread left, 32 bytes long for words
of 1 byte, 64 of 2, else 128, serves all threads in it and shrinks to the half in use, down to the
smallest segment; and so on until none is left. Fixed segments are always the smallest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import CoalescingRule, Device
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import ONE, ZERO, low_bits
from kernelcast.simcore.memory.sets.way_search import trailing_zeros

__all__ = [
    "LARGEST_SEGMENT_BYTES",
    "SegmentRule",
    "makes_segments",
    "segment_rule",
    "segments_of",
]

LARGEST_SEGMENT_BYTES = 128

_NONE, _WORDS, _SHRINKING, _FIXED = 0, 1, 2, 3
_CODES = {
    CoalescingRule.WORDS: _WORDS,
    CoalescingRule.SEGMENTS: _SHRINKING,
    CoalescingRule.FIXED_SEGMENTS: _FIXED,
}

Ints = npt.NDArray[np.int64]


class SegmentRule(NamedTuple):
    """A device's rule for compiled code: its `code`, threads a request, smallest segment in bytes.

    `unit_bytes`: what traffic is counted in, the smallest segment or a sector of the texture cache.
    """

    code: int
    request_threads: int
    min_segment_bytes: int
    unit_bytes: int


def makes_segments(device: Device) -> bool:
    """Whether global accesses reach memory as segments, through no cache."""
    return device.segments is not None and device.coalescing in _CODES


def segment_rule(device: Device) -> SegmentRule:
    """The device's rule of segments; one that no access follows where it has none."""
    sector = device.l2.sector_bytes
    if device.segments is None or device.coalescing not in _CODES:
        return SegmentRule(_NONE, device.architecture.warp_width, sector, sector)
    smallest = device.segments.min_segment_bytes
    return SegmentRule(
        _CODES[device.coalescing],
        device.segments.request_threads,
        smallest,
        min(smallest, sector),
    )


@compiled
def _in_word_order(starts: Ints, request: np.uint64, first: int, threads: int, size: int) -> bool:
    """Whether thread k of `request`, which begins with lane `first`, touches word k."""
    if size not in (4, 8, 16):
        return False
    aligned = -threads * size
    lane = trailing_zeros(int(np.int64(request)))
    segment = starts[np.uint64(lane)] & aligned
    while request != ZERO:
        lane = trailing_zeros(int(np.int64(request)))
        request &= np.uint64(request - ONE)
        if starts[np.uint64(lane)] != segment + (lane - first) * size:
            return False
    return True


@compiled
def _serve_segment(starts: Ints, ends: Ints, pending: np.uint64, size: int, smallest: int) -> int:
    """Serves the segment of the lowest pending thread; returns the bytes of the transaction.

    The threads in it are taken off by moving their starts to the segment's end.
    """
    begin = starts[np.uint64(trailing_zeros(int(np.int64(pending))))] & -size
    end, low, high = begin + size, begin + size, begin
    while pending != ZERO:
        lane = np.uint64(trailing_zeros(int(np.int64(pending))))
        pending &= np.uint64(pending - ONE)
        if begin <= starts[lane] < end:
            low, high = min(low, starts[lane]), max(high, min(ends[lane], end))
            starts[lane] = end
    while size > smallest:
        size >>= 1
        if low >= begin + size:
            begin += size
        elif high > begin + size:
            return size << 1
    return size


@compiled
def _serve_request(
    rule: SegmentRule, starts: Ints, ends: Ints, request: np.uint64, first: int, access_bytes: int
) -> tuple[int, int]:
    smallest = rule.min_segment_bytes
    size = smallest
    if rule.code == _WORDS:
        if _in_word_order(starts, request, first, rule.request_threads, access_bytes):
            moved = rule.request_threads * access_bytes
            return -(-moved // LARGEST_SEGMENT_BYTES), moved
        size = max(smallest, access_bytes)
    elif rule.code == _SHRINKING:
        size = max(smallest, min(LARGEST_SEGMENT_BYTES, 32 * access_bytes))
    count, bytes_ = 0, 0
    while request != ZERO:
        served = request
        if rule.code == _WORDS:
            served = np.uint64(ONE << np.uint64(trailing_zeros(int(np.int64(request)))))
        bytes_ += _serve_segment(starts, ends, served, size, smallest)
        count += 1
        while served != ZERO:
            lane = np.uint64(trailing_zeros(int(np.int64(served))))
            served &= np.uint64(served - ONE)
            if starts[lane] >= ends[lane]:
                request &= ~np.uint64(ONE << lane)
    return count, bytes_


@compiled
def segments_of(
    rule: SegmentRule,
    address: int,
    offsets: Ints,
    lanes: np.uint64,
    alignment: int,
    access_bytes: int,
    starts: Ints,
) -> tuple[int, int]:
    """How many transactions a warp's access makes, and their bytes together.

    Lanes as in `coalesce_into`; `starts`, shape (2, lanes), is working space.
    """
    for lane in range(len(offsets)):
        start = (address + offsets[lane]) & alignment
        starts[0, lane] = start
        starts[1, lane] = start + access_bytes
    count, bytes_, first = 0, 0, 0
    while first < len(offsets):
        request = lanes & (low_bits(rule.request_threads) << np.uint64(first))
        if request != ZERO:
            found, moved = _serve_request(rule, starts[0], starts[1], request, first, access_bytes)
            count += found
            bytes_ += moved
        first += rule.request_threads
    return count, bytes_
