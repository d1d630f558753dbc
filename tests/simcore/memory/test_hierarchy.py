"""DRAM, L2 and L1 traffic of access streams whose traffic is known in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kernelcast.errors import DeviceFileError, TraceFormatError
from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.stream import simulate_traffic
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import (
    AccessTable,
    InstructionRow,
    PatternCounts,
    ResourceNeeds,
    ThreadBlockClasses,
    Trace,
)

KIB = 1024
L2 = CacheFacts(
    capacity_bytes=64 * KIB,
    line_bytes=128,
    sector_bytes=32,
    ways=16,
    replacement="lru",
    index="modulo",
    caches_global_loads=True,
    caches_read_only_loads=True,
    caches_local=True,
    write_allocate=True,
)
L1 = CacheFacts(
    capacity_bytes=4 * KIB,
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
BUFFER = 1 << 20


def row(pc: int, kind: str, **facts: str | int | bool) -> InstructionRow:
    known: dict[str, object] = {"space": "global", "access_bytes": 4, "merged_into": pc, **facts}
    return InstructionRow(pc, kind, kind, "load/store", 0, kind, 0, **known)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Access:
    """One warp's access: lane i of `mask` at address + stride * i."""

    pc: int
    address: int
    stride: int = 4
    warp: int = 0
    mask: int = 2**32 - 1


def trace_of(rows: Sequence[InstructionRow], accesses: Sequence[Access], warps: int = 1) -> Trace:
    """Each warp is a thread block of its own; a warp's accesses follow each other."""
    shapes = sorted({(a.mask, a.stride) for a in accesses})
    first = [next(i for i in range(32) if a.mask >> i & 1) for a in accesses]
    columns = {
        "pc": [a.pc for a in accesses],
        "warp": [a.warp for a in accesses],
        "time": range(len(accesses)),
        "stage": [0] * len(accesses),
        "pattern": [shapes.index((a.mask, a.stride)) for a in accesses],
    }
    address = [a.address + a.stride * lane for a, lane in zip(accesses, first, strict=True)]
    offsets = [
        [s * (i - (m & -m).bit_length() + 1) if m >> i & 1 else 0 for i in range(32)]
        for m, s in shapes
    ]
    none, counts = np.zeros(0, np.int32), np.zeros((1, len(rows)), np.int64)
    return Trace(
        kernel="k",
        grid=(warps, 1, 1),
        thread_block=(32, 1, 1),
        warp_width=32,
        resources=ResourceNeeds(16, 0),
        instructions=tuple(rows),
        classes=ThreadBlockClasses(np.zeros(warps, np.int32), counts, counts),
        stage_warp_issues=counts,
        warp_time=np.full(warps, len(accesses), np.int32),
        patterns=PatternTable(
            np.array([m for m, _ in shapes], np.uint64), np.array(offsets, np.int64)
        ),
        accesses=AccessTable(
            address=np.array(address, np.int64),
            **{name: np.array(column, np.int32) for name, column in columns.items()},
        ),
        pattern_counts=PatternCounts(none, none, none, none, none.astype(np.int64)),
        engine="none",
        elapsed_s=0.0,
    )


def device(
    l1: CacheFacts | None = None,
    l2: CacheFacts = L2,
    rule: CoalescingRule = CoalescingRule.SECTORS,
    *,
    transaction_bytes: int = 32,
    fills: bool = False,
) -> Device:
    base = load_device("gtx-480")
    dram = replace(base.dram, transaction_bytes=transaction_bytes, partial_write_fills=fills)
    return replace(base, l1=l1, l2=l2, coalescing=rule, dram=dram)


def traffic(
    rows: Sequence[InstructionRow], accesses: Sequence[Access], on: Device, warps: int = 1
) -> TrafficResult:
    return simulate_traffic(trace_of(rows, accesses, warps), on, thread_blocks_per_sm=1)


def stream(pc: int, bytes_: int, *, start: int = 0, step: int = 128) -> list[Access]:
    return [Access(pc, start + at) for at in range(0, bytes_, step)]


LOAD, STORE, ATOMIC = row(0, "load"), row(1, "store"), row(2, "atomic")


def test_reading_once_costs_the_bytes_read() -> None:
    result = traffic([LOAD], stream(0, 256 * KIB), device())
    assert result.dram_read_transactions == 256 * KIB // 32
    assert result.dram_write_transactions == 0
    counts = result.by_instruction
    assert counts.requests.tolist() == [2048]
    assert counts.requested_bytes.tolist() == [256 * KIB]
    assert counts.sectors.tolist() == counts.ideal_sectors.tolist() == [8192]


def test_copying_reads_and_writes_each_sector_once() -> None:
    pairs = zip(stream(0, 256 * KIB), stream(1, 256 * KIB, start=BUFFER), strict=True)
    result = traffic([LOAD, STORE], [access for pair in pairs for access in pair], device())
    assert result.by_instruction.dram_reads.tolist() == [8192, 0]
    assert result.by_instruction.dram_writes.tolist() == [0, 8192]
    assert (result.dram_read_transactions, result.dram_write_transactions) == (8192, 8192)


def test_a_stride_moves_a_sector_for_each_word() -> None:
    accesses = [Access(0, at, stride=128) for at in range(0, 32 * 4096, 4096)]
    result = traffic([LOAD], accesses, device())
    assert result.dram_read_transactions == 32 * 32
    assert result.by_instruction.ideal_sectors.tolist() == [32 * 4]


def test_a_working_set_within_the_capacity_is_read_once() -> None:
    result = traffic([LOAD], stream(0, 64 * KIB) * 3, device())
    assert result.dram_read_transactions == 64 * KIB // 32
    assert result.by_instruction.l2_read_hits.tolist() == [2 * 64 * KIB // 32]


@pytest.mark.parametrize(("kib", "thrashing_lines"), [(64, 0), (66, 16 * 17), (68, 32 * 17)])
def test_lru_loses_the_sets_that_a_cyclic_working_set_overfills(
    kib: int, thrashing_lines: int
) -> None:
    """32 sets of 16 ways; every further KiB gives eight sets a seventeenth line."""
    result = traffic([LOAD], stream(0, kib * KIB) * 3, device())
    assert result.dram_read_transactions == kib * KIB // 32 + 2 * thrashing_lines * 4


@pytest.mark.parametrize(("fills", "reads"), [(True, 512), (False, 0)])
def test_partly_written_sectors_are_read_first_where_dram_needs_it(fills: bool, reads: int) -> None:
    """Every second word of 16 KiB: no sector is complete."""
    accesses = [Access(1, at, stride=8) for at in range(0, 16 * KIB, 256)]
    result = traffic([LOAD, STORE], accesses, device(fills=fills))
    assert result.dram_write_transactions == 512
    assert result.fill_reads == result.dram_read_transactions == reads


def test_two_halves_of_a_sector_make_one_complete_write() -> None:
    low, high = 0x0F0F0F0F, 0xF0F0F0F0
    halves = [Access(1, at, mask=mask) for mask in (low, high) for at in range(0, 4096, 128)]
    result = traffic([LOAD, STORE], halves, device(fills=True))
    assert (result.dram_write_transactions, result.fill_reads) == (128, 0)


def test_rewriting_in_cache_is_written_back_once_and_beyond_it_each_time() -> None:
    within = traffic([LOAD, STORE], stream(1, 32 * KIB) * 4, device())
    beyond = traffic([LOAD, STORE], stream(1, 128 * KIB) * 4, device())
    assert within.dram_write_transactions == 1024
    assert beyond.dram_write_transactions == 4 * 4096
    assert beyond.by_instruction.dram_writes.tolist() == [0, 4 * 4096]


def test_atomics_read_and_write_at_l2() -> None:
    accesses = [Access(2, 0, stride=0, mask=1)] * 10
    result = traffic([LOAD, STORE, ATOMIC], accesses, device(l1=L1))
    counts = result.by_instruction
    assert (counts.l2_reads[2], counts.l2_read_hits[2], counts.l2_writes[2]) == (10, 9, 10)
    assert (result.dram_read_transactions, result.dram_write_transactions) == (1, 1)


def test_l1_serves_what_it_holds_and_its_absence_costs_l2_reads() -> None:
    accesses = stream(0, 4 * KIB) * 2
    with_l1, without = (
        traffic([LOAD], accesses, device(l1=l1)).by_instruction for l1 in (L1, None)
    )
    assert (with_l1.l1_reads.tolist(), with_l1.l1_hits.tolist()) == ([256], [128])
    assert with_l1.l2_reads.tolist() == [128]
    assert (without.l1_reads.tolist(), without.l2_reads.tolist()) == ([0], [256])
    assert without.dram_reads.tolist() == with_l1.dram_reads.tolist() == [128]


def test_each_sm_has_an_l1_of_its_own() -> None:
    accesses = [Access(0, 0, warp=warp) for warp in range(15)]
    counts = traffic([LOAD], accesses, device(l1=L1), warps=15).by_instruction
    assert counts.l1_hits.tolist() == [0]
    assert counts.l2_read_hits.tolist() == [14 * 4]


@pytest.mark.parametrize(
    ("facts", "cached"),
    [
        ({}, True),
        ({"cache": "ca"}, True),
        ({"cache": "cg"}, False),
        ({"cache": "cv"}, False),
        ({"cache": "nc"}, True),
        ({"space": "local"}, True),
    ],
)
def test_cache_operators(facts: dict[str, str], cached: bool) -> None:
    counts = traffic([row(0, "load", **facts)], [Access(0, 0)] * 2, device(l1=L1)).by_instruction
    assert counts.l1_hits.tolist() == [4 if cached else 0]


@pytest.mark.parametrize(
    ("cache", "space", "cached"),
    [("", "global", False), ("nc", "global", True), ("", "local", False)],
)
def test_an_l1_for_read_only_loads_takes_no_others(cache: str, space: str, cached: bool) -> None:
    read_only = replace(L1, caches_global_loads=False, caches_local=False)
    load = row(0, "load", cache=cache, space=space)
    counts = traffic([load], [Access(0, 0)] * 2, device(l1=read_only)).by_instruction
    assert counts.l1_hits.tolist() == [4 if cached else 0]


@pytest.mark.parametrize(
    ("rule", "sectors"), [(CoalescingRule.LINES, 128), (CoalescingRule.SECTORS, 32)]
)
def test_line_wise_coalescing_asks_for_whole_lines(rule: CoalescingRule, sectors: int) -> None:
    counts = traffic([LOAD], [Access(0, 0, stride=128)], device(l1=L1, rule=rule)).by_instruction
    assert counts.sectors.tolist() == counts.dram_reads.tolist() == [sectors]


def test_line_wise_coalescing_leaves_uncached_loads_and_stores_at_sectors() -> None:
    on = device(l1=L1, rule=CoalescingRule.LINES)
    around = row(0, "load", cache="cg")
    scattered = [Access(0, 0, stride=128), Access(1, 0, stride=128)]
    assert traffic([around, STORE], scattered, on).by_instruction.sectors.tolist() == [32, 32]


@pytest.mark.parametrize(("allocates", "hits"), [(False, 0), (True, 4)])
def test_a_store_evicts_from_l1_unless_it_allocates_there(allocates: bool, hits: int) -> None:
    accesses = [Access(0, 0), Access(1, 0), Access(0, 0)]
    l1 = replace(L1, write_allocate=allocates)
    result = traffic([LOAD, STORE], accesses, device(l1=l1))
    assert result.by_instruction.l1_hits[0] == hits
    assert result.dram_read_transactions == 4


def test_local_stores_stay_in_l1() -> None:
    rows = [row(0, "load", space="local"), row(1, "store", space="local")]
    counts = traffic(rows, [Access(1, 0), Access(0, 0)], device(l1=L1)).by_instruction
    assert counts.l1_hits.tolist() == [4, 0]
    assert counts.l2_writes.tolist() == [0, 4]


def test_partial_stores_do_not_make_l1_sectors_valid() -> None:
    rows = [row(0, "load", space="local"), row(1, "store", space="local")]
    counts = traffic(rows, [Access(1, 0, stride=8), Access(0, 0)], device(l1=L1)).by_instruction
    assert counts.l1_hits.tolist() == [0, 0]


def test_an_l2_without_write_allocation_passes_stores_on() -> None:
    l2 = replace(L2, write_allocate=False)
    result = traffic([LOAD, STORE], stream(1, 4 * KIB) * 3, device(l2=l2))
    assert result.dram_write_transactions == 3 * 128


def test_a_store_around_l2_makes_the_next_load_miss() -> None:
    l2 = replace(L2, write_allocate=False)
    result = traffic([LOAD, STORE], [Access(0, 0), Access(1, 0), Access(0, 0)], device(l2=l2))
    assert result.dram_read_transactions == 8


def test_larger_dram_transactions_bring_neighbouring_sectors() -> None:
    result = traffic([LOAD], [Access(0, 0, stride=64)], device(transaction_bytes=64))
    assert result.dram_read_transactions == 32
    assert result.transaction_bytes == 64


def test_smaller_dram_transactions_are_counted_singly() -> None:
    l2 = replace(L2, line_bytes=64, sector_bytes=64)
    rows = [LOAD, STORE]
    result = traffic(rows, [Access(0, 0), Access(1, BUFFER)], device(l2=l2))
    assert result.by_instruction.sectors.tolist() == [2, 2]
    assert (result.dram_read_transactions, result.dram_write_transactions) == (4, 4)


def test_merged_loads_reach_memory_once_at_their_full_width() -> None:
    """Four 32-bit loads at 0, 4, 8, 12 of 16-byte items against one 128-bit load."""
    parts = [row(pc, "load", merged_into=0) for pc in range(4)]
    apart = [row(pc, "load") for pc in range(4)]
    accesses = [Access(pc, 4 * pc, stride=16) for pc in range(4)]
    merged, scalar = (traffic(rows, accesses, device()).by_instruction for rows in (parts, apart))
    assert (merged.requests.tolist(), merged.sectors.tolist()) == ([1, 0, 0, 0], [16, 0, 0, 0])
    assert merged.requested_bytes.tolist() == [512, 0, 0, 0]
    assert scalar.sectors.tolist() == [16, 16, 16, 16]
    assert merged.dram_reads.sum() == scalar.dram_reads.sum() == 16


def test_a_merged_load_starts_at_its_lowest_part() -> None:
    """The first part in program order is the second in memory."""
    parts = [row(pc, "load", merged_into=0) for pc in range(2)]
    accesses = [Access(0, 4, stride=8), Access(1, 0, stride=8)]
    assert traffic(parts, accesses, device()).by_instruction.sectors.tolist() == [8, 0]


def test_instructions_of_equal_pattern_keep_their_own_widths() -> None:
    rows = [LOAD, row(1, "load", access_bytes=16)]
    accesses = [Access(pc, 24, stride=32) for pc in range(2)]
    assert traffic(rows, accesses, device()).by_instruction.sectors.tolist() == [32, 33]


def test_an_impossible_merge_is_refused() -> None:
    parts = [row(pc, "load", merged_into=0) for pc in range(3)]
    with pytest.raises(TraceFormatError, match="merges 3 accesses to 12 bytes"):
        traffic(parts, [Access(0, 0)], device())


def test_l1_and_l2_lines_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DeviceFileError, match="cannot be fetched"):
        traffic([LOAD], [Access(0, 0)], device(l1=replace(L1, line_bytes=16, sector_bytes=16)))


def test_random_replacement_gives_the_same_traffic_each_time() -> None:
    on = device(l2=replace(L2, replacement="random"))
    accesses = stream(0, 80 * KIB) * 4
    first, second = (traffic([LOAD], accesses, on).dram_read_transactions for _ in range(2))
    per_pass = 80 * KIB // 32
    assert first == second
    assert per_pass < first < 4 * per_pass


def test_many_shapes_are_coalesced_as_one_by_one() -> None:
    """More shapes than the walk remembers: sectors are those of each shape by itself."""
    accesses = [Access(0, 64 * i, stride=4 * (i % 700 + 1)) for i in range(1500)]
    expected = sum(
        len({(a.address + a.stride * lane) // 32 for lane in range(32)}) for a in accesses
    )
    assert traffic([LOAD], accesses, device()).by_instruction.sectors.tolist() == [expected]


def test_no_access_is_no_traffic() -> None:
    trace = replace(trace_of([LOAD], [Access(0, 0)]))
    nothing = AccessTable(
        *(np.zeros(0, np.int32),) * 4, np.zeros(0, np.int64), np.zeros(0, np.int32)
    )
    result = simulate_traffic(replace(trace, accesses=nothing), device(), 1)
    assert (result.dram_read_transactions, result.dram_write_transactions) == (0, 0)
