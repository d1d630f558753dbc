"""Transactions of compute capability 1.x against the programming guide's rules on sets of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.device.device import CoalescingRule, Device, SegmentFacts
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.memory.transactions import transactions_of
from kernelcast.traces.pattern_table import PatternTable

ALL = 2**32 - 1
BASE = 1 << 20
LANES = range(32)
WORDS, SEGMENTS, FIXED = (
    CoalescingRule.WORDS,
    CoalescingRule.SEGMENTS,
    CoalescingRule.FIXED_SEGMENTS,
)


def gt200(rule: CoalescingRule, smallest: int = 32, threads: int = 16) -> Device:
    facts = SegmentFacts(threads, smallest)
    return replace(load_device("gtx-285"), coalescing=rule, segments=facts)


def transactions(
    device: Device, addresses: Sequence[int], size: int, mask: int = ALL
) -> tuple[int, int]:
    """Count and bytes of one access whose lanes in `mask` touch `size` bytes each."""
    lanes = np.array(addresses, np.int64)
    first = (mask & -mask).bit_length() - 1
    patterns = PatternTable(np.array([mask], np.uint64), (lanes - lanes[first])[None])
    native = NativeAccesses(np.array([size]), np.array([-1]))
    none = np.zeros(1, np.int32)
    found = transactions_of(none, lanes[first : first + 1], none, patterns, native, device)
    return int(found.count[0]), int(found.bytes[0])


def shrunk(pending: list[int], size: int, smallest: int) -> list[int]:
    """The oracle of compute capability 1.2 and 1.3: sizes of the segments of one request."""
    found = []
    while pending:
        length = max(smallest, {1: 32, 2: 64}.get(size, 128))
        start = pending[0] // length * length
        inside = [address for address in pending if start <= address < start + length]
        pending = [address for address in pending if address not in inside]
        while length > smallest:
            half = length // 2
            if max(inside) + size <= start + half:
                length = half
            elif min(inside) >= start + half:
                start, length = start + half, half
            else:
                break
        found.append(length)
    return found


def expected(
    rule: CoalescingRule, smallest: int, lanes: list[int | None], size: int
) -> tuple[int, int]:
    sizes: list[int] = []
    for first in range(0, len(lanes), 16):
        request = lanes[first : first + 16]
        active = [address for address in request if address is not None]
        if rule is SEGMENTS:
            sizes += shrunk(active, size, smallest)
        elif rule is FIXED:
            touched = {b // smallest for a in active for b in range(a, a + size)}
            sizes += [smallest] * len(touched)
        elif active:
            place = next(k for k, address in enumerate(request) if address is not None)
            begin = active[0] - place * size
            ordered = all(a in (None, begin + k * size) for k, a in enumerate(request))
            if size in (4, 8, 16) and begin % (16 * size) == 0 and ordered:
                sizes += {4: [64], 8: [128], 16: [128, 128]}[size]
            else:
                sizes += [max(smallest, size)] * len(active)
    return len(sizes), sum(sizes)


@pytest.mark.parametrize(
    ("rule", "stride", "offset", "size", "count", "moved"),
    [
        (SEGMENTS, 4, 0, 4, 2, 128),
        (SEGMENTS, 4, 64, 4, 2, 128),
        (SEGMENTS, 4, 4, 4, 3, 224),  # 128 bytes; 64 and 32 on either side of the next segment
        (SEGMENTS, 8, 0, 4, 2, 256),
        (SEGMENTS, 8, 0, 8, 2, 256),
        (SEGMENTS, 16, 0, 16, 4, 512),
        (SEGMENTS, 2, 0, 2, 2, 64),
        (SEGMENTS, 1, 0, 1, 2, 64),
        (SEGMENTS, 128, 0, 4, 32, 1024),
        (SEGMENTS, 0, 0, 4, 2, 64),
        (WORDS, 4, 0, 4, 2, 128),
        (WORDS, 8, 0, 8, 2, 256),
        (WORDS, 16, 0, 16, 4, 512),
        (WORDS, 4, 4, 4, 32, 1024),
        (WORDS, 4, 64, 4, 2, 128),
        (WORDS, 8, 0, 4, 32, 1024),
        (WORDS, -4, 124, 4, 32, 1024),
        (WORDS, 0, 0, 4, 32, 1024),
        (WORDS, 2, 0, 2, 32, 1024),
        (WORDS, 1, 0, 1, 32, 1024),
        (FIXED, 4, 0, 4, 4, 128),
        (FIXED, 4, 4, 4, 6, 192),
        (FIXED, 128, 0, 16, 32, 1024),
    ],
)
def test_strides(
    rule: CoalescingRule, stride: int, offset: int, size: int, count: int, moved: int
) -> None:
    lanes = [BASE + offset + stride * lane for lane in LANES]
    assert transactions(gt200(rule), lanes, size) == (count, moved)


@pytest.mark.parametrize(("smallest", "moved"), [(4, 4), (8, 8), (16, 16), (32, 32), (64, 64)])
@pytest.mark.parametrize("rule", [SEGMENTS, FIXED, WORDS])
def test_a_lone_word_moves_the_smallest_segment(
    rule: CoalescingRule, smallest: int, moved: int
) -> None:
    """Lane 3 wants word 0, which capability 1.0 would not coalesce."""
    lanes = [BASE] * 32
    assert transactions(gt200(rule, smallest), lanes, 4, 1 << 3) == (1, moved)


def test_idle_threads_do_not_spoil_the_order_of_words() -> None:
    lanes = [BASE + 4 * lane for lane in LANES]
    assert transactions(gt200(WORDS), lanes, 4, 0x0000_8421) == (1, 64)


def test_requests_may_have_another_length() -> None:
    lanes = [BASE + 4 * lane for lane in LANES]
    assert transactions(gt200(SEGMENTS, threads=32), lanes, 4) == (1, 128)
    assert transactions(gt200(SEGMENTS, threads=8), lanes, 4) == (4, 128)


@settings(deadline=None)
@given(
    rule=st.sampled_from([WORDS, SEGMENTS, FIXED]),
    smallest=st.sampled_from([4, 16, 32, 64]),
    size=st.sampled_from([1, 2, 4, 8, 16]),
    words=st.lists(st.integers(0, 80), min_size=32, max_size=32),
    in_order=st.booleans(),
    mask=st.integers(1, ALL) | st.just(ALL),
    base=st.sampled_from([0, 64, 96, 1 << 40]),
)
def test_any_access(
    rule: CoalescingRule,
    smallest: int,
    size: int,
    words: list[int],
    in_order: bool,
    mask: int,
    base: int,
) -> None:
    places = list(LANES) if in_order else words
    lanes = [base + size * place for place in places]
    active = [address if mask >> lane & 1 else None for lane, address in enumerate(lanes)]
    found = transactions(gt200(rule, smallest), lanes, size, mask)
    assert found == expected(rule, smallest, active, size)


@settings(deadline=None)
@given(words=st.lists(st.integers(0, 300), min_size=32, max_size=32), size=st.sampled_from([1, 4]))
def test_smaller_segments_never_move_more(words: list[int], size: int) -> None:
    lanes = [size * word for word in words]
    for rule in (SEGMENTS, FIXED):
        moved = [transactions(gt200(rule, smallest), lanes, size)[1] for smallest in (4, 16, 32)]
        assert moved == sorted(moved)
        assert moved[0] >= size * len(set(lanes)) / 2  # each half-warp asks for itself


def test_other_devices_count_sectors_and_lines() -> None:
    lanes = [BASE + 128 * (lane % 4) + 4 * (lane // 4) for lane in LANES]
    assert transactions(load_device("gtx-660"), lanes, 4) == (4, 128)
    assert transactions(load_device("gtx-480"), lanes, 4) == (4, 512)
