"""Segments in the memory simulator, half-warps at the banks, and the texture caches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.device.checks import contradictions
from kernelcast.simcore.device.device import CoalescingRule, Device, SegmentFacts, SharedMemoryFacts
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.banks import banked_wavefronts
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.native_accesses import NativeAccesses, native_accesses
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.memory.transactions import transactions_of
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow, PatternCounts

WIDTH, WARPS, ALL = 32, 2, 2**32 - 1
GT200 = load_device("gtx-285")
KINDS = ("load", "store", "atomic", "load", "load")
SPACES = ("global", "global", "global", "local", "global")
SIZES = (4, 8, 4, 4, 16)
ROWS = tuple(
    InstructionRow(pc, kind, kind, "", 0, kind, 0, SPACES[pc], SIZES[pc], "", True, pc)
    for pc, kind in enumerate(KINDS)
)
READ_ONLY = (InstructionRow(0, "load", "load", "", 0, "load", 0, "global", 4, "nc", True, 0),)
OF_IMAGE = (replace(READ_ONLY[0], is_part=True),)


def gt200(rule: CoalescingRule, smallest: int) -> Device:
    return replace(GT200, coalescing=rule, segments=SegmentFacts(16, smallest))


def simulated(rows: tuple[InstructionRow, ...], batch: AccessBatch, on: Device) -> TrafficResult:
    simulator = TrafficSimulator(rows, WIDTH, WARPS, on, 1)
    simulator.accept(batch)
    return simulator.finish()


def launch(seed: int, pcs: int) -> AccessBatch:
    """Random accesses of one thread block, some of them in the order of words."""
    random = np.random.default_rng(seed)
    count, shapes = 40, 6
    lanes = random.random((shapes, WIDTH)) < 0.8
    lanes[:, 0] = True
    lanes[:2] = True
    offsets = 16 * random.integers(-20, 20, (shapes, WIDTH))
    offsets[:4] = random.choice([4, 8, 16, 32], (4, 1)) * np.arange(WIDTH)
    offsets[:, 0] = 0
    bits = np.uint64(1) << np.arange(WIDTH, dtype=np.uint64)
    patterns = PatternTable((lanes * bits).sum(axis=1, dtype=np.uint64), lanes * offsets)
    table = AccessTable(
        random.integers(0, pcs, count).astype(np.int32),
        np.sort(random.integers(0, WARPS, count)).astype(np.int32),
        np.arange(count, dtype=np.int32),
        np.zeros(count, np.int32),
        8192 + 16 * random.integers(0, 64, count),
        random.integers(0, shapes, count).astype(np.int32),
    )
    return AccessBatch(0, 1, table, patterns, np.full(WARPS, count, np.int32))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**20),
    rule=st.sampled_from(["words", "segments", "fixed segments"]),
    smallest=st.sampled_from([4, 16, 32, 64]),
)
def test_every_transaction_reaches_memory(seed: int, rule: str, smallest: int) -> None:
    """No cache keeps anything, local memory included: what accesses make adds up to the traffic."""
    on, batch = gt200(CoalescingRule(rule), smallest), launch(seed, len(ROWS))
    table = batch.accesses
    each = transactions_of(
        table.pc, table.address, table.pattern, batch.patterns, native_accesses(ROWS), on
    )
    found = simulated(ROWS, batch, on)
    counts, unit = found.by_instruction, found.transaction_bytes
    assert unit == found.sector_bytes == min(smallest, 32)
    for pc, kind in enumerate(KINDS):
        moved, made = each.bytes[table.pc == pc].sum(), each.count[table.pc == pc].sum()
        assert counts.transactions[pc] == made
        assert counts.sectors[pc] * unit == moved
        assert counts.dram_reads[pc] * unit == (moved if kind != "store" else 0)
        assert counts.dram_writes[pc] * unit == (moved if kind != "load" else 0)
    for column in (counts.l1_reads, counts.l1_hits, counts.l2_reads, counts.l2_writes):
        assert not column.any()
    assert found.dram_write_transactions == counts.dram_writes.sum()
    assert found.dram_read_transactions == counts.dram_reads.sum()


def with_texture_loads(device: Device) -> Device:
    """Read-only loads count as texture fetches."""
    assert device.l1 is not None
    return replace(
        device,
        l1=replace(device.l1, caches_read_only_loads=True),
        l2=replace(device.l2, caches_read_only_loads=True),
    )


def test_read_only_loads_are_plain_ones_unless_they_count_as_texture_fetches() -> None:
    batch = launch(7, 1)
    plain = (replace(READ_ONLY[0], cache=""),)
    assert (
        simulated(READ_ONLY, batch, GT200).dram_read_transactions
        == simulated(plain, batch, GT200).dram_read_transactions
        > simulated(READ_ONLY, batch, with_texture_loads(GT200)).dram_read_transactions
        == simulated(OF_IMAGE, batch, GT200).dram_read_transactions
    )


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**20), smallest=st.sampled_from([4, 32, 128]), is_image=st.booleans())
def test_the_texture_caches_fetch_each_sector_once(
    seed: int, smallest: int, is_image: bool
) -> None:
    """A thread block touches less than the caches hold, so that only first touches miss."""
    on, batch = gt200(CoalescingRule.SEGMENTS, smallest), launch(seed, 1)
    rows = OF_IMAGE if is_image else READ_ONLY
    on = on if is_image else with_texture_loads(on)
    table, sectors = batch.accesses, set()
    asked = 0
    for row in range(len(table)):
        mask = int(batch.patterns.mask[table.pattern[row]])
        offsets = batch.patterns.offsets[table.pattern[row]]
        touched = {
            int(table.address[row] + offsets[lane]) // 32
            for lane in range(WIDTH)
            if mask >> lane & 1
        }
        asked += len(touched)
        sectors |= touched
    found = simulated(rows, batch, on)
    counts, unit = found.by_instruction, found.transaction_bytes
    assert found.dram_read_transactions * unit == 32 * len(sectors)
    assert counts.sectors[0] * unit == counts.l1_reads[0] * unit == 32 * asked
    assert (counts.l1_reads[0] - counts.l1_hits[0]) * unit == 32 * len(sectors)
    assert counts.l2_reads[0] * unit == 32 * len(sectors)


def passes(on: Device, words: list[int], size: int = 4, mask: int = ALL) -> int:
    offsets = size * (np.array(words, np.int64) - words[0])[None]
    one, none = np.ones(1, np.int64), np.zeros(1, np.int32)
    rows = PatternCounts(none, none, none, none, one)
    patterns = PatternTable(np.array([mask], np.uint64), offsets)
    native = NativeAccesses(np.array([size]), np.array([-1]))
    return int(banked_wavefronts(rows, patterns, native, on).taken[0])


def test_half_warps_are_requests_of_their_own() -> None:
    """A broadcast to a warp takes two passes, also where 32 banks would do with one."""
    assert passes(GT200, [5] * 32) == 2
    assert passes(GT200, [5] * 32, mask=0xFFFF) == 1
    assert passes(GT200, list(range(32))) == 2
    assert passes(replace(GT200, shared=SharedMemoryFacts(32, 4)), list(range(32))) == 2
    assert passes(load_device("gtx-480"), [5] * 32) == 1
    assert passes(GT200, list(range(32)), size=8) == 4


@pytest.mark.parametrize("banks", [5, 12, 16, 17, 19, 32, 33])
@given(stride=st.integers(0, 70), mask=st.integers(1, ALL))
@settings(deadline=None, max_examples=15)
def test_any_number_of_banks(banks: int, stride: int, mask: int) -> None:
    """Requests of at most 16 threads; fewer banks than that serve fewer together."""
    on = replace(GT200, shared=SharedMemoryFacts(banks, 4))
    together, expected = 16, 0
    while together > banks:
        together //= 2
    for first in range(0, WIDTH, together):
        words = {stride * k for k in range(first, first + together) if mask >> k & 1}
        expected += max(Counter(word % banks for word in words).values(), default=0)
    assert passes(on, [stride * k for k in range(WIDTH)], mask=mask) == expected


@pytest.mark.parametrize(
    ("changed", "key", "message"),
    [
        (replace(GT200, segments=None), "segments", "section is missing"),
        (
            replace(GT200, coalescing=CoalescingRule.SECTORS),
            "coalescing",
            r"there are \[segments\]",
        ),
        (gt200(CoalescingRule.WORDS, 24), "segments.min_segment_bytes", "power of two, got 24"),
        (gt200(CoalescingRule.WORDS, 256), "segments.min_segment_bytes", "4 to 128"),
        (
            replace(GT200, l2=replace(GT200.l2, caches_global_loads=True)),
            "l2.caches_global_loads",
            "through no cache",
        ),
    ],
)
def test_what_contradicts_segments(changed: Device, key: str, message: str) -> None:
    found = {item.key: item.message for item in contradictions(changed)}
    assert message.replace("\\", "") in found[key]


def test_seventeen_banks_and_smaller_segments_are_possible() -> None:
    changed = replace(gt200(CoalescingRule.SEGMENTS, 4), shared=SharedMemoryFacts(17, 4))
    assert not list(contradictions(changed))
