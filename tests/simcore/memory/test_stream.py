"""The streaming simulator: batches cut anywhere give the traffic of the whole launch."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow

KIB = 1024
L1 = CacheFacts(
    capacity_bytes=2 * KIB,
    line_bytes=128,
    sector_bytes=32,
    ways=4,
    replacement="lru",
    index="modulo",
    caches_global_loads=True,
    caches_read_only_loads=True,
    caches_local=True,
    write_allocate=False,
)
L2 = CacheFacts(
    capacity_bytes=8 * KIB,
    line_bytes=128,
    sector_bytes=32,
    ways=8,
    replacement="lru",
    index="modulo",
    caches_global_loads=True,
    caches_read_only_loads=True,
    caches_local=True,
    write_allocate=True,
)
WARPS = 2
KINDS = ("load", "store", "atomic", "load")
ROWS = tuple(
    InstructionRow(
        pc, kind, kind, "", 0, kind, 0, "global", 4, "cg" if pc == 3 else "", merged_into=pc
    )
    for pc, kind in enumerate(KINDS)
)


def device(l1: CacheFacts, l2: CacheFacts, rule: CoalescingRule) -> Device:
    base = load_device("gtx-480")
    return replace(
        base,
        architecture=replace(base.architecture, sm_count=2),
        dram=replace(base.dram, partial_write_fills=True),
        coalescing=rule,
        l1=l1,
        l2=l2,
    )


def launch(seed: int, thread_blocks: int, width: int) -> AccessBatch:
    """Accesses of random warps, lengths, shapes and places, in the order of instructions."""
    random = np.random.default_rng(seed)
    shapes = 5
    lanes = random.random((shapes, width)) < 0.7
    lanes[:, 0] = True
    bits = np.uint64(1) << np.arange(width, dtype=np.uint64)
    strides = random.choice([0, 4, 8, 132], (shapes, 1))
    patterns = PatternTable(
        (lanes * bits).sum(axis=1, dtype=np.uint64), lanes * strides * np.arange(width)
    )
    warps = thread_blocks * WARPS
    count = random.integers(0, 12 * warps)
    warp = random.integers(0, warps, count).astype(np.int32)
    time = np.zeros(count, np.int32)
    for number in range(warps):
        own = np.flatnonzero(warp == number)
        time[own] = np.sort(random.integers(0, 40, len(own)))
    return AccessBatch(
        0,
        thread_blocks,
        AccessTable(
            random.integers(0, len(ROWS), count).astype(np.int32),
            warp,
            time,
            np.zeros(count, np.int32),
            4 * random.integers(0, 6 * KIB, count),
            random.integers(0, shapes, count).astype(np.int32),
        ),
        patterns,
        random.integers(40, 90, warps).astype(np.int32),
    )


def part(whole: AccessBatch, begin: int, end: int) -> AccessBatch:
    """Thread blocks begin to end, with only the patterns that they need."""
    table = whole.accesses
    chosen = (table.warp >= begin * WARPS) & (table.warp < end * WARPS)
    used, renumbered = np.unique(table.pattern[chosen], return_inverse=True)
    return AccessBatch(
        begin,
        end - begin,
        AccessTable(
            table.pc[chosen],
            table.warp[chosen],
            table.time[chosen],
            table.stage[chosen],
            table.address[chosen],
            renumbered.astype(np.int32),
        ),
        PatternTable(whole.patterns.mask[used], whole.patterns.offsets[used]),
        whole.warp_time[begin * WARPS : end * WARPS],
    )


def simulate(parts: list[AccessBatch], on: Device, width: int, resident: int = 2) -> TrafficResult:
    simulator = TrafficSimulator(ROWS, width, WARPS, on, resident)
    for batch in parts:
        simulator.accept(batch)
    return simulator.finish()


def counts(result: TrafficResult) -> list[list[int]]:
    by_instruction = [column.tolist() for column in result.by_instruction]
    return [*by_instruction, [result.fill_reads, result.dram_write_transactions]]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**20),
    thread_blocks=st.integers(1, 24),
    cuts=st.sets(st.integers(1, 23)),
    width=st.sampled_from([8, 16, 32, 64]),
    replacement=st.sampled_from(["lru", "random", "fifo", "plru"]),
    rule=st.sampled_from(CoalescingRule),
    at_once=st.sampled_from([1, 10, 1 << 14]),
)
def test_any_cut_gives_the_traffic_of_one_batch(
    seed: int,
    thread_blocks: int,
    cuts: set[int],
    width: int,
    replacement: str,
    rule: CoalescingRule,
    at_once: int,
) -> None:
    on = device(L1, replace(L2, replacement=replacement), rule)
    whole = launch(seed, thread_blocks, width)
    at = [0, *sorted(cut for cut in cuts if cut < thread_blocks), thread_blocks]
    parts = [part(whole, *pair) for pair in pairwise(at)]
    expected = counts(simulate([whole], on, width))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelcast.simcore.memory.stream._ACCESSES_AT_ONCE", at_once)
        assert counts(simulate(parts, on, width)) == expected


def test_accesses_are_let_go_while_the_launch_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held back does not grow with the grid."""
    monkeypatch.setattr("kernelcast.simcore.memory.stream._ACCESSES_AT_ONCE", 1)
    on = device(L1, L2, CoalescingRule.SECTORS)
    simulator = TrafficSimulator(ROWS, 32, WARPS, on, 2)
    held = []
    for first in range(0, 400, 4):
        batch = launch(first, 4, 32)
        table = replace(batch.accesses, warp=(batch.accesses.warp + first * WARPS).astype(np.int32))
        simulator.accept(replace(batch, first_thread_block=first, accesses=table))
        held.append(len(simulator._pending))
    assert max(held[50:]) <= 8 * 12 * WARPS


@pytest.mark.parametrize("l1_line", [32, 64, 256])
@pytest.mark.parametrize("rule", CoalescingRule)
def test_lines_of_different_length_at_the_two_levels(l1_line: int, rule: CoalescingRule) -> None:
    """Distinct L1 lines that miss once each: L2 is asked for exactly what L1 fetches."""
    l1 = replace(L1, line_bytes=l1_line, sector_bytes=32, capacity_bytes=4 * KIB)
    zero, time = np.zeros(4, np.int32), np.arange(4, dtype=np.int32)
    table = AccessTable(zero, zero, time, zero, np.array([0, 512, 0, 512]), zero)
    patterns = PatternTable(np.array([2**32 - 1], np.uint64), 8 * np.arange(32)[None])
    batch = AccessBatch(0, 1, table, patterns, np.full(WARPS, 4, np.int32))
    found = simulate([batch], device(l1, L2, rule), 32).by_instruction
    assert (found.l1_reads[0], found.l1_hits[0]) == (32, 16)
    assert (found.l2_reads[0], found.l2_read_hits[0], found.dram_reads[0]) == (16, 0, 16)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_a_warp_of_any_width_moves_a_word_a_lane(width: int) -> None:
    mask = np.array([2**width - 1], np.uint64)
    patterns = PatternTable(mask, 4 * np.arange(width)[None])
    zero = np.zeros(1, np.int32)
    table = AccessTable(zero, zero, zero, zero, np.zeros(1, np.int64), zero)
    batch = AccessBatch(0, 1, table, patterns, np.ones(WARPS, np.int32))
    found = simulate([batch], device(L1, L2, CoalescingRule.SECTORS), width).by_instruction
    assert found.requested_bytes[0] == 4 * width
    assert found.sectors[0] == found.ideal_sectors[0] == found.dram_reads[0] == width // 8


def test_batches_that_do_not_follow_each_other_are_refused() -> None:
    on = device(L1, L2, CoalescingRule.SECTORS)
    whole = launch(1, 8, 32)
    simulator = TrafficSimulator(ROWS, 32, WARPS, on, 2)
    with pytest.raises(TraceFormatError, match="thread block 4 where those of 0 were expected"):
        simulator.accept(part(whole, 4, 8))
    with pytest.raises(TraceFormatError, match="16 warp times for 4 thread blocks of 2 warps"):
        simulator.accept(replace(whole, thread_blocks=4))
    with pytest.raises(TraceFormatError, match="in a batch of thread blocks 0 to 3"):
        simulator.accept(replace(whole, thread_blocks=4, warp_time=whole.warp_time[:8]))
    simulator.finish()
    with pytest.raises(TraceFormatError, match="after the end of the launch"):
        simulator.accept(whole)


def test_finishing_twice_gives_the_same() -> None:
    simulator = TrafficSimulator(ROWS, 32, WARPS, device(L1, L2, CoalescingRule.LINES), 2)
    simulator.accept(launch(3, 8, 32))
    first = counts(simulator.finish())
    assert counts(simulator.finish()) == first
