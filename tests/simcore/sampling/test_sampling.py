"""Sampled traffic against closed forms and against simulations of the whole grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.hierarchy import SampledTraffic, TrafficResult, WriteBacks
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.sampling.extrapolation import IssueCounts, extrapolate
from kernelcast.simcore.sampling.footprint import (
    MOST_WARM_UP_WAVES,
    Footprint,
    turnover_waves,
)
from kernelcast.simcore.sampling.plan import Role, SamplePlan, plan_sample, whole_grid
from kernelcast.simcore.sampling.run import SampleSimulation
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow, ThreadBlockClasses

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
    capacity_bytes=64 * KIB,
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
SM_COUNT, RESIDENT = 4, 2
WAVE = SM_COUNT * RESIDENT
WARPS = 2
ROW = 128  # bytes that a warp moves
WHOLE_WARP = PatternTable(np.array([2**32 - 1], np.uint64), 4 * np.arange(32)[None])
MIB = 1 << 20
ARRAYS = [number * 64 * MIB for number in range(8)]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stream:
    """A launch: `kinds` of its instructions, and addresses of (thread block, warp, access)."""

    grid: tuple[int, int]
    kinds: tuple[str, ...]
    pcs: tuple[int, ...]
    addresses: Callable[[Ints, Ints], Ints]
    patterns: PatternTable = WHOLE_WARP

    @property
    def thread_blocks(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def instructions(self) -> tuple[InstructionRow, ...]:
        return tuple(
            InstructionRow(pc, kind, kind, "", 0, kind, 0, "global", 4, merged_into=pc)
            for pc, kind in enumerate(self.kinds)
        )

    @property
    def classes(self) -> ThreadBlockClasses:
        """All alike."""
        issues = WARPS * np.bincount(self.pcs, minlength=len(self.kinds))[None]
        return ThreadBlockClasses(np.zeros(self.thread_blocks, np.int32), issues, 32 * issues)

    def batch(self, first: int, end: int) -> AccessBatch:
        count, length = end - first, len(self.pcs)
        warp = np.arange(first * WARPS, end * WARPS)
        address = self.addresses(np.arange(first, end)[:, None, None], np.arange(WARPS)[:, None])
        rows = count * WARPS * length
        zeros = np.zeros(rows, np.int32)
        return AccessBatch(
            first,
            count,
            AccessTable(
                np.tile(np.array(self.pcs, np.int32), count * WARPS),
                np.repeat(warp, length).astype(np.int32),
                np.tile(np.arange(1, length + 1, dtype=np.int32), count * WARPS),
                zeros,
                np.broadcast_to(address, (count, WARPS, length)).reshape(-1).astype(np.int64),
                zeros,
            ),
            self.patterns,
            np.full(count * WARPS, length + 2, np.int32),
        )

    def batches(self, first: int, end: int) -> Iterator[AccessBatch]:
        for begin in range(first, end, 50):
            yield self.batch(begin, min(end, begin + 50))


def streaming(thread_blocks: int) -> Stream:
    """The kernel y[i] += x[i]."""

    def addresses(block: Ints, warp: Ints) -> Ints:
        row = ROW * (block * WARPS + warp)
        return np.concatenate([ARRAYS[0] + row, ARRAYS[1] + row, ARRAYS[1] + row], axis=2)

    return Stream((thread_blocks, 1), ("load", "load", "store"), (0, 1, 2), addresses)


def matrix_product(columns: int, rows: int, steps: int) -> Stream:
    """Tiles of a row of C share the panel of A; B is read again by each row."""

    def addresses(block: Ints, warp: Ints) -> Ints:
        x, y, k = block % columns, block // columns, np.arange(steps)
        a = ARRAYS[0] + ROW * ((y * steps + k) * WARPS + warp)
        b = ARRAYS[1] + ROW * ((k * columns + x) * WARPS + warp)
        c = ARRAYS[2] + ROW * (block * WARPS + warp)
        pairs = np.stack(np.broadcast_arrays(a, b), axis=3).reshape(len(block), WARPS, -1)
        return np.concatenate([pairs, np.broadcast_to(c, (len(block), WARPS, 1))], axis=2)

    return Stream((columns, rows), ("load", "load", "store"), (0, 1) * steps + (2,), addresses)


def stencil(columns: int, rows: int) -> Stream:
    """Each row reads its neighbours, which other thread blocks read before and behind."""

    def addresses(block: Ints, warp: Ints) -> Ints:
        x, y = block % columns, (block // columns) * WARPS + warp
        lines = [ARRAYS[0] + ROW * ((y + shift + 1) * columns + x) for shift in (-1, 0, 1)]
        return np.concatenate([*lines, ARRAYS[1] + ROW * (y * columns + x)], axis=2)

    return Stream((columns, rows), ("load",) * 3 + ("store",), (0, 1, 2, 3), addresses)


def random_reuse(thread_blocks: int, lines: int) -> Stream:
    """Reads anywhere in a table of which the cache holds a part."""
    places = np.random.default_rng(4).integers(0, lines, (thread_blocks, WARPS, 8))

    def addresses(block: Ints, warp: Ints) -> Ints:
        return ARRAYS[0] + ROW * places[block[:, 0, 0]]

    return Stream((thread_blocks, 1), ("load",), (0,) * 8, addresses)


def device() -> Device:
    base = load_device("gtx-480")
    return replace(
        base,
        architecture=replace(base.architecture, sm_count=SM_COUNT),
        coalescing=CoalescingRule.SECTORS,
        dram=replace(base.dram, partial_write_fills=True),
        l1=L1,
        l2=L2,
    )


def simulator(stream: Stream) -> TrafficSimulator:
    return TrafficSimulator(stream.instructions, 32, WARPS, device(), RESIDENT)


def full(stream: Stream) -> TrafficResult:
    whole = simulator(stream)
    for batch in stream.batches(0, stream.thread_blocks):
        whole.accept(batch)
    return whole.finish()


def warm_up_waves(stream: Stream) -> int:
    footprint, touched = Footprint(32), []
    for first in (0, WAVE):
        footprint.accept(stream.batch(first, first + WAVE))
        touched.append(footprint.touched_bytes)
    return turnover_waves(touched[0], touched[1], L2.capacity_bytes)


def planned(stream: Stream, share: float, warm_up: int | None = None) -> SamplePlan:
    warm_up = warm_up_waves(stream) if warm_up is None else warm_up
    grid = (*stream.grid, 1)
    plan = plan_sample(grid, WAVE, warm_up, stream.classes, stream.instructions, share)
    assert plan is not None
    return plan


def sampled(stream: Stream, share: float = 0.1, warm_up: int | None = None) -> SampledTraffic:
    plan = planned(stream, share, warm_up)
    return simulated(plan, stream)


def simulated(plan: SamplePlan, stream: Stream) -> SampledTraffic:
    simulation = SampleSimulation(plan, simulator(stream))
    for interval in plan.intervals:
        for batch in stream.batches(interval.first, interval.end):
            simulation.accept(batch)
    (found,) = simulation.finish(issues_of(plan, stream.classes))
    return found


def issues_of(plan: SamplePlan, classes: ThreadBlockClasses) -> IssueCounts:
    sizes = np.zeros(len(classes.warp_issues), np.int64)
    for item in plan.intervals:
        own = classes.of_thread_block[item.first : item.end]
        sizes += np.bincount(own, minlength=len(sizes))
    whole, some = classes.totals()[0], sizes @ classes.warp_issues
    return IssueCounts(whole.astype(np.float64), some.astype(np.float64))


STREAMS = {
    "streaming": streaming(20000),
    "matrix product": matrix_product(40, 150, 16),
    "matrix product, B fits": matrix_product(10, 1500, 16),
    "stencil": stencil(60, 200),
    "wide stencil": stencil(500, 30),
    "random reuse": random_reuse(8000, 1000),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_tenth_of_the_grid_gives_the_traffic_of_all(name: str) -> None:
    stream = STREAMS[name]
    expected, found = full(stream), sampled(stream)
    assert found.share <= 0.1
    for count, exact in (
        (found.dram_reads, expected.dram_read_transactions),
        (found.dram_writes, expected.dram_write_transactions),
    ):
        assert count.low <= exact <= count.high
        assert count.value == pytest.approx(exact, rel=0.02)
    whole, estimated = expected.by_instruction, found.traffic.by_instruction
    for column in ("requests", "requested_bytes", "sectors", "ideal_sectors", "dram_writes"):
        assert (getattr(estimated, column) == getattr(whole, column)).all(), column
    for column in ("l1_reads", "l2_reads", "l2_read_hits", "l2_writes"):
        # relative to what the level is asked: a few hits in many reads matter to nobody
        asked = max(1, int(getattr(whole, column.replace("_hits", "s")).sum()))
        difference = int(getattr(estimated, column).sum()) - int(getattr(whole, column).sum())
        assert abs(difference) <= 0.02 * asked, column


@pytest.mark.parametrize("name", ["matrix product", "random reuse"])
def test_a_grid_that_is_simulated_whole_has_no_error(name: str) -> None:
    stream = STREAMS[name]
    expected, found = full(stream), simulated(whole_grid(stream.thread_blocks), stream)
    assert found.traffic.dram_read_transactions == expected.dram_read_transactions
    assert found.traffic.dram_write_transactions == expected.dram_write_transactions
    for counted, exact in zip(found.traffic.by_instruction, expected.by_instruction, strict=True):
        np.testing.assert_array_equal(counted, exact)
    assert found.dram_reads.standard_error == found.dram_writes.standard_error == 0.0


def test_streams_that_touch_all_once_have_closed_forms() -> None:
    stream = streaming(20000)
    found = sampled(stream)
    sectors = stream.thread_blocks * WARPS * ROW // 32
    assert found.traffic.dram_read_transactions == 2 * sectors
    assert found.traffic.dram_write_transactions == sectors
    assert found.traffic.by_instruction.dram_writes.tolist() == [0, 0, sectors]
    assert found.dram_reads.relative_standard_error < 1e-6


def test_output_that_stays_in_the_cache_is_written_once_for_all_thread_blocks() -> None:
    """The final write-back also belongs to thread blocks that were left out."""

    def addresses(block: Ints, warp: Ints) -> Ints:
        return ARRAYS[0] + 32 * (block * WARPS + warp)

    stream = Stream((20000, 1), ("store",), (0,), addresses)
    found = sampled(replace(stream, addresses=addresses), share=0.3)
    # a warp writes four sectors, three of which the next one writes again
    expected = full(stream)
    assert expected.dram_write_transactions == pytest.approx(20000 * WARPS, abs=3)
    exact = expected.dram_write_transactions
    assert found.dram_writes.value == pytest.approx(exact, rel=0.02)
    assert found.dram_writes.low <= exact <= found.dram_writes.high


def test_partly_written_sectors_are_filled_for_all_thread_blocks() -> None:
    every_other = PatternTable(np.array([2**32 - 1], np.uint64), 8 * np.arange(32)[None])
    plain = streaming(20000)
    stream = replace(plain, addresses=lambda b, w: 2 * plain.addresses(b, w), patterns=every_other)
    stream = replace(stream, kinds=("store",) * 3)
    found = sampled(stream)
    sectors = stream.thread_blocks * WARPS * 2 * ROW // 32
    assert found.traffic.fill_reads == 2 * sectors
    assert found.traffic.dram_read_transactions == 2 * sectors
    assert found.dram_reads.value == pytest.approx(2 * sectors)
    assert found.traffic.dram_write_transactions == 2 * sectors


@pytest.mark.parametrize("seed", range(8))
def test_scatter_between_samples_is_the_stated_error(seed: int) -> None:
    """Thread blocks at random hit a small table or miss in a large one: most intervals hold."""
    random = np.random.default_rng(seed)
    is_far = random.random(20000) < 0.3

    def addresses(block: Ints, warp: Ints) -> Ints:
        far = ARRAYS[1] + ROW * (8 * (block * WARPS + warp) + np.arange(8))
        near = ARRAYS[0] + ROW * np.arange(8) + 0 * block + 0 * warp
        return np.where(is_far[block], far, near)

    stream = Stream((20000, 1), ("load",), (0,) * 8, addresses)
    plan = planned(stream, 0.1, 10)
    found = simulated(plan, stream).dram_reads
    measured = sum(i.thread_blocks for i in plan.intervals if i.role is Role.MEASURED)
    binomial = math.sqrt(0.7 / 0.3 / measured)
    assert 0.5 * binomial < found.relative_standard_error < 3 * binomial
    assert abs(found.value - full(stream).dram_read_transactions) < 3 * found.standard_error


def test_a_warm_up_that_is_too_short_shows_in_the_error() -> None:
    """Samples find a window absent that moves on slowly: their second halves miss less."""

    def addresses(block: Ints, warp: Ints) -> Ints:
        return ARRAYS[0] + ROW * (block + (7 * block + 3 * warp + np.arange(8)) % 400)

    stream = Stream((16000, 1), ("load",), (0,) * 8, addresses)
    exact = full(stream).dram_read_transactions
    short = sampled(stream, 0.1, warm_up_waves(stream) // 2).dram_reads
    enough = sampled(stream).dram_reads
    assert short.value > 1.5 * exact
    assert short.relative_standard_error > 0.5
    assert short.low <= exact <= short.high
    assert enough.value == pytest.approx(exact, rel=0.02)


def test_counts_of_another_plan_are_refused() -> None:
    stream = STREAMS["stencil"]
    plan = planned(stream, 0.1)
    nothing = Counters(*(np.zeros(4, np.int64) for _ in Counters._fields))
    finished = TrafficResult(nothing, 32, 32, WriteBacks(0))
    with pytest.raises(TraceFormatError, match="counts of 1 intervals where"):
        extrapolate(plan, [nothing], finished, issues_of(plan, stream.classes))


def counted(requests: list[int], per_request: list[int]) -> Counters:
    """Counters with equally many of each event for a request, one of them at the side of memory."""
    amount = np.array(requests) * np.array(per_request)
    found = Counters(np.array(requests), *(amount for _ in Counters._fields[1:]))
    return found._replace(memory_side_hits=np.array(requests))


def test_accesses_under_a_guard_and_in_few_thread_blocks() -> None:
    """Half of the first access's issues find no lane; the second is issued by one class only."""
    size, rate = 20_000, [4, 7]
    of_thread_block = np.zeros(size, np.int32)
    of_thread_block[[7777, 7778, 15003]] = 1
    issues = np.array([[10, 0], [10, 6]])
    classes = ThreadBlockClasses(of_thread_block, issues, 32 * issues)
    rows = Stream((size, 1), ("load", "load"), (0, 1), STREAMS["stencil"].addresses).instructions
    plan = plan_sample((size, 1, 1), WAVE, 4, classes, rows)
    assert plan is not None
    runs = [np.bincount(of_thread_block[i.first : i.end], minlength=2) for i in plan.intervals]
    requests = [(run @ issues // [2, 1]).tolist() for run in runs]
    assert sum(own[1] for own in requests) > 0
    parts = [counted(own, rate) for own in requests]
    whole = Counters(*(sum(columns) for columns in zip(*parts, strict=True)))
    finished = TrafficResult(whole, 32, 32, WriteBacks(123))
    found = extrapolate(plan, parts, finished, issues_of(plan, classes))
    expected = [10 * size // 2, 6 * 3]
    assert found.traffic.by_instruction.requests.tolist() == expected
    assert found.traffic.by_instruction.l2_read_hits.tolist() == [5 * size * 4, 18 * 7]
    assert found.traffic.dram_read_transactions == 5 * size * (4 - 1) + 18 * (7 - 1)
    assert found.dram_reads.standard_error == pytest.approx(0.0, abs=1e-6)


def test_measuring_nothing_is_an_error_and_not_a_certainty() -> None:
    stream = STREAMS["stencil"]
    plan = planned(stream, 0.1)
    nothing = Counters(*(np.zeros(4, np.int64) for _ in Counters._fields))
    warm_up = Counters(*(np.full(4, 100) for _ in Counters._fields))
    parts = [warm_up if i.role is Role.WARM_UP else nothing for i in plan.intervals]
    whole = Counters(*(sum(columns) for columns in zip(*parts, strict=True)))
    finished, issues = TrafficResult(whole, 32, 32, WriteBacks(0)), issues_of(plan, stream.classes)
    with pytest.raises(TraceFormatError, match="none of the accesses that were to be measured"):
        extrapolate(plan, parts, finished, issues)


def test_a_kernel_without_accesses_has_no_traffic() -> None:
    stream = replace(STREAMS["stencil"], kinds=("compute",) * 4)
    found = sampled(stream)
    assert (found.dram_reads.value, found.dram_reads.high) == (0.0, 0.0)


def touched_bytes(*batches: AccessBatch) -> int:
    footprint = Footprint(32)
    for batch in batches:
        footprint.accept(batch)
    return footprint.touched_bytes


def test_a_footprint_has_each_sector_once() -> None:
    stream = streaming(3000)
    batches = [stream.batch(0, 10), stream.batch(5, 12), stream.batch(0, 3000)]
    for count, thread_blocks in ((1, 10), (2, 12), (3, 3000)):
        assert touched_bytes(*batches[:count]) == 2 * thread_blocks * WARPS * ROW


@pytest.mark.parametrize("spread", [1, 64, 1 << 20, 1 << 33])
def test_a_footprint_of_random_sectors(spread: int) -> None:
    random = np.random.default_rng(spread)
    offsets = random.integers(0, 1 << 12, (500, 32)) * spread
    offsets[:, 0] = 0
    batch = streaming(40).batch(0, 40)
    pattern = random.integers(0, 500, len(batch.accesses.pattern), np.int32)
    lanes = PatternTable(np.full(500, 2**32 - 1, np.uint64), offsets)
    batch = replace(batch, patterns=lanes, accesses=replace(batch.accesses, pattern=pattern))
    sectors = (batch.accesses.address[:, None] + offsets[pattern]) >> 5
    assert touched_bytes(batch) == 32 * len(np.unique(sectors))


def test_lanes_that_take_no_part_touch_nothing() -> None:
    offsets = np.zeros((1, 32), np.int64)
    offsets[0, [5, 7, 9]] = [56, 28, 56]
    lanes = PatternTable(np.array([0b1010100010], np.uint64), offsets)
    batch = replace(streaming(1).batch(0, 1), patterns=lanes)
    # lane 1 at 0, the others at 56, 28 and 56 of each row: two sectors
    assert touched_bytes(batch) == 2 * WARPS * 2 * 32


@pytest.mark.parametrize(
    ("first", "both", "cache", "waves"),
    [(10, 20, 100, 10), (64, 128, 100, 2), (100, 200, 100, 1), (60, 61, 100, 41), (5, 5, 100, 1)],
)
def test_turnover(first: int, both: int, cache: int, waves: int) -> None:
    assert turnover_waves(first, both, cache) == waves


def test_waves_that_hardly_touch_anything_need_no_endless_warm_up() -> None:
    assert turnover_waves(1, 2, MIB) == MOST_WARM_UP_WAVES
