"""The simulator against a slow model of the same rules: sets of bytes, dictionaries, a sort."""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.pattern_rows import KEPT_ROWS
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow

L1 = CacheFacts(
    capacity_bytes=1024,
    line_bytes=128,
    sector_bytes=32,
    ways=2,
    replacement="lru",
    index="modulo",
    caches_global_loads=True,
    caches_read_only_loads=True,
    caches_local=True,
    write_allocate=False,
)
L2 = CacheFacts(
    capacity_bytes=6 * 1024,
    line_bytes=128,
    sector_bytes=32,
    ways=4,
    replacement="lru",
    index="modulo",
    caches_global_loads=True,
    caches_read_only_loads=True,
    caches_local=True,
    write_allocate=True,
)
KINDS = ("load", "store", "atomic", "load")
ROWS = tuple(
    InstructionRow(pc, kind, kind, "", 0, kind, 0, "global", 4, "cg" if pc == 3 else "", True, pc)
    for pc, kind in enumerate(KINDS)
)
WARPS, RESIDENT, SMS, WIDTH, SECTOR, LINE = 2, 2, 2, 32, 32, 128
RULES = (CoalescingRule.SECTORS, CoalescingRule.LINES)


def device(rule: CoalescingRule, policy: str = "lru") -> Device:
    base = load_device("gtx-480")
    few = replace(base.architecture, sm_count=SMS)
    l1, l2 = (replace(facts, replacement=policy) for facts in (L1, L2))
    return replace(base, architecture=few, coalescing=rule, l1=l1, l2=l2)


XORSHIFT_SEED = 0x9E3779B97F4A7C15
POLICIES = ("lru", "fifo", "plru", "random")


@dataclass
class Dice:
    """Marsaglia's xorshift64, with shifts of 13, 7 and 17; the upper 31 bits count."""

    word: int = XORSHIFT_SEED

    def throw(self, sides: int) -> int:
        self.word ^= self.word << 13 & (1 << 64) - 1
        self.word ^= self.word >> 7
        self.word ^= self.word << 17 & (1 << 64) - 1
        return (self.word >> 33) % sides


@dataclass
class Ways:
    """The lines of one set, in the ways that they came into, and which one goes."""

    policy: str
    dice: Dice
    lines: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    came: list[int] = field(default_factory=list)
    tree: dict[tuple[int, int], int] = field(default_factory=dict)

    def victim(self) -> int:
        ways = len(self.lines)
        if self.policy == "random":
            return self.lines[self.dice.throw(ways)]
        if self.policy == "plru":
            low, high = 0, ways
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if self.tree.get((low, high), 0) else (low, middle)
            return self.lines[low]
        return self.used[0] if self.policy == "lru" else self.came[0]

    def use(self, line: int, gone: int | None, ways: int) -> None:
        """`gone`: the line whose way it takes; None where it takes none or a free one."""
        if gone is not None:
            self.lines[self.lines.index(gone)] = line
            self.used.remove(gone)
            self.came.remove(gone)
        if line not in self.lines:
            self.lines.append(line)
        if line not in self.came:
            self.came.append(line)
        self.used = [*(other for other in self.used if other != line), line]
        low, high, way = 0, ways, self.lines.index(line)
        while high - low > 1:  # every node points away from the half that has just been used
            middle = (low + high) // 2
            self.tree[low, high] = int(way < middle)
            low, high = (low, middle) if way < middle else (middle, high)


@dataclass
class Cache:
    """Sets of lines: per line the bytes known and the bytes dirty, by sector."""

    facts: CacheFacts
    dice: Dice = field(default_factory=Dice)
    ways: dict[int, Ways] = field(default_factory=dict)
    lines: dict[int, OrderedDict[int, dict[int, list[set[int]]]]] = field(
        default_factory=lambda: defaultdict(OrderedDict)
    )
    written: int = 0

    def index(self, line: int) -> int:
        return line % (self.facts.capacity_bytes // LINE // self.facts.ways)

    def set_of(self, line: int) -> OrderedDict[int, dict[int, list[set[int]]]]:
        return self.lines[self.index(line)]

    def sector(self, sector: int) -> list[set[int]]:
        """[valid, dirty] bytes; the line is used now."""
        line = sector * SECTOR // LINE
        held = self.set_of(line)
        ways = self.ways.setdefault(self.index(line), Ways(self.facts.replacement, self.dice))
        gone = ways.victim() if line not in held and len(held) == self.facts.ways else None
        if gone is not None:
            self.clean(held.pop(gone))
        ways.use(line, gone, self.facts.ways)
        held.setdefault(line, {})
        return held[line].setdefault(sector, [set(), set()])

    def clean(self, sectors: dict[int, list[set[int]]]) -> None:
        self.written += sum(bool(dirty) for _, dirty in sectors.values())

    def read(self, sector: int) -> bool:
        known = self.sector(sector)
        hit = len(known[0]) == SECTOR
        known[0] = set(range(SECTOR))
        return hit


class Model:
    """Accesses of whole thread blocks, in order of time, through an L1 an SM and one L2."""

    def __init__(self, rule: CoalescingRule, policy: str = "lru") -> None:
        self.rule = rule
        l1_dice = Dice()
        self.l1 = [Cache(replace(L1, replacement=policy), l1_dice) for _ in range(SMS)]
        self.l2 = Cache(replace(L2, replacement=policy))
        self.count: Counter[tuple[str, int]] = Counter()
        self.begun: dict[tuple[str, int], int] = {}
        self.free = [(0, place) for place in range(SMS * RESIDENT)]
        self.last = -1

    def run(self, batch: AccessBatch) -> None:
        table, turn = batch.accesses, max(1, RESIDENT * WARPS // 2)
        due: list[tuple[int, int, int]] = []
        for block in range(batch.thread_blocks):
            end, place = heapq.heappop(self.free)
            self.last = max(end, self.last + 1)
            warps = range(block * WARPS, (block + 1) * WARPS)
            length = max(int(batch.warp_time[warp]) for warp in warps) * turn
            heapq.heappush(self.free, (self.last + length, place))
            for warp in warps:
                number = batch.first_thread_block * WARPS + warp
                due += [
                    (self.last + int(table.time[row]) * turn, place % SMS, row)
                    for row in np.flatnonzero(table.warp == number).tolist()
                ]
        for _, sm, row in sorted(due, key=lambda item: item[0]):
            mask = int(batch.patterns.mask[table.pattern[row]])
            offsets = batch.patterns.offsets[table.pattern[row]]
            lanes = [int(table.address[row] + offsets[i]) for i in range(WIDTH) if mask >> i & 1]
            self.access(int(table.pc[row]), sm, lanes)

    def access(self, pc: int, sm: int, lanes: list[int]) -> None:
        touched: dict[int, set[int]] = defaultdict(set)
        for start in lanes:
            for byte in range(start, start + 4):
                touched[byte // SECTOR].add(byte % SECTOR)
        sectors = sorted(touched)
        kind, by_l1 = KINDS[pc], pc == 0
        lines = sorted({sector // 4 for sector in sectors})
        if by_l1 and self.rule is CoalescingRule.LINES:
            sectors = [4 * line + part for line in lines for part in range(4)]
        distinct = sum(map(len, touched.values()))
        self.add(pc, requests=1, requested_bytes=4 * len(lanes), sectors=len(sectors))
        by_lines = by_l1 and self.rule is CoalescingRule.LINES
        self.add(pc, transactions=len(lines) if by_lines else len(sectors))
        self.add(pc, ideal_sectors=-(-distinct // SECTOR))
        self.add(pc, l2_lines=len(lines), pieces=len({sector // 8 for sector in touched}))
        if by_l1:
            asked = sectors
            sectors = [sector for sector in asked if not self.l1[sm].read(sector)]
            self.add(pc, l1_reads=len(asked), l1_hits=len(asked) - len(sectors))
        if kind != "store":
            missed = [sector for sector in sectors if not self.l2.read(sector)]
            hits = len(sectors) - len(missed)
            self.begin(pc, "read_pieces", missed)
            self.add(pc, l2_reads=len(sectors), l2_read_hits=hits)
            self.add(pc, dram_reads=len(sectors) - hits)
        if kind != "load":
            self.add(pc, l2_writes=len(sectors))
            clean = [s for s in sectors if not self.is_dirty(s * SECTOR // LINE)]
            self.begin(pc, "written_pieces", clean)
            for sector in sectors:
                self.l1[sm].set_of(sector // 4).get(sector // 4, {}).pop(sector, None)
                held = self.l1[sm].set_of(sector // 4)
                if sector // 4 in held:
                    held[sector // 4].clear()
                valid, dirty = self.l2.sector(sector)
                self.add(pc, dram_writes=int(not dirty))
                valid |= touched[sector]
                dirty |= touched[sector]

    def is_dirty(self, line: int) -> bool:
        """Whether L2 holds something of the line that DRAM does not."""
        return any(dirty for _, dirty in self.l2.set_of(line).get(line, {}).values())

    def begin(self, pc: int, name: str, sectors: list[int]) -> None:
        """Pieces of 256 bytes; each takes the place of one 4096 pieces away."""
        for piece in (sector * SECTOR // 256 for sector in sectors):
            if self.begun.get((name, piece % 4096)) != piece:
                self.begun[name, piece % 4096] = piece
                self.count[name, pc] += 1

    def add(self, pc: int, **counts: int) -> None:
        for name, number in counts.items():
            self.count[name, pc] += number

    def flush(self) -> None:
        for held in self.l2.lines.values():
            for sectors in held.values():
                self.l2.clean(sectors)
                for _, dirty in sectors.values():
                    dirty.clear()

    def agrees(self, found: TrafficResult) -> bool:
        columns = [
            (name, column)
            for name, column in found.by_instruction._asdict().items()
            if name not in MATTERS_OF_TIME
        ]
        expected = {name: [self.count[name, pc] for pc in range(len(ROWS))] for name, _ in columns}
        assert {name: column.tolist() for name, column in columns} == expected
        return found.dram_write_transactions == self.l2.written


def launch(seed: int, first: int, thread_blocks: int, *, distinct: bool) -> AccessBatch:
    """Random accesses; `distinct`: each has a pattern of its own, of scattered lanes."""
    random = np.random.default_rng(seed)
    warps = thread_blocks * WARPS
    count = int(random.integers(1, 12 * warps))
    warp = np.sort(random.integers(0, warps, count))
    time = np.sort(random.integers(0, 40, count))
    shapes = count if distinct else 4
    lanes = random.random((shapes, WIDTH)) < 0.8
    lanes[:, 0] = True
    strides = random.choice([0, 4, 8, -4, 132], (shapes, 1)) * np.arange(WIDTH)
    scattered = 4 * random.integers(-300, 300, (shapes, WIDTH))
    scattered[:, 0] = 0
    bits = np.uint64(1) << np.arange(WIDTH, dtype=np.uint64)
    patterns = PatternTable(
        (lanes * bits).sum(axis=1, dtype=np.uint64), lanes * (scattered if distinct else strides)
    )
    table = AccessTable(
        random.integers(0, len(ROWS), count).astype(np.int32),
        (first * WARPS + warp).astype(np.int32),
        time.astype(np.int32),
        np.zeros(count, np.int32),
        8192 + 4 * random.integers(0, 2048, count),
        (np.arange(count) if distinct else random.integers(0, shapes, count)).astype(np.int32),
    )
    last = random.integers(40, 90, warps).astype(np.int32)
    return AccessBatch(first, thread_blocks, table, patterns, last)


MATTERS_OF_TIME = ("l1_pending", "l2_pending", "merged_writes", "partial_writes")
"""Counters that move nothing; tests/simcore/memory/test_on_the_way.py has them."""


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**20),
    distinct=st.booleans(),
    rule=st.sampled_from(RULES),
    policy=st.sampled_from(POLICIES),
    full_at=st.sampled_from([1, 7, 1 << 14]),
)
def test_the_traffic_is_that_of_the_model(
    seed: int, distinct: bool, rule: CoalescingRule, policy: str, full_at: int
) -> None:
    """`full_at`: the accesses that go through the caches while those behind are looked at."""
    batch, model = launch(seed, 0, 6, distinct=distinct), Model(rule, policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelcast.simcore.memory.passes.line_requests._HEADS", full_at)
        patch.setattr("kernelcast.simcore.memory.passes.two_passes._WORDS_AT_LEAST", full_at)
        simulator = TrafficSimulator(ROWS, WIDTH, WARPS, device(rule, policy), RESIDENT)
        simulator.accept(batch)
        found = simulator.finish()
    model.run(batch)
    model.flush()
    assert model.agrees(found)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**20), distinct=st.booleans(), to=st.integers(4, 40))
def test_skipped_thread_blocks_leave_the_caches_and_the_places(
    seed: int, distinct: bool, to: int
) -> None:
    """What came before is counted at once, but not written back before the end."""
    rule = CoalescingRule.SECTORS
    simulator, model = TrafficSimulator(ROWS, WIDTH, WARPS, device(rule), RESIDENT), Model(rule)
    for batch in (launch(seed, 0, 4, distinct=distinct), launch(seed, to, 3, distinct=False)):
        simulator.skip_to(batch.first_thread_block)
        simulator.accept(batch)
        model.run(batch)
        simulator.skip_to(batch.first_thread_block + batch.thread_blocks)
        assert model.agrees(simulator.traffic_so_far())
    found = simulator.finish()
    model.flush()
    assert model.agrees(found)


def test_nothing_is_skipped_after_the_end() -> None:
    on = device(CoalescingRule.SECTORS)
    simulator = TrafficSimulator(ROWS, WIDTH, WARPS, on, RESIDENT)
    simulator.accept(launch(1, 0, 4, distinct=False))
    simulator.finish()
    with pytest.raises(TraceFormatError, match="cannot skip to thread block 9"):
        simulator.skip_to(9)


def test_more_shared_patterns_than_are_kept_change_nothing() -> None:
    """Each pattern is used twice, so that all ask to be kept."""
    count = KEPT_ROWS // 2 + 100
    rule = CoalescingRule.SECTORS
    simulator = TrafficSimulator(ROWS, WIDTH, WARPS, device(rule), RESIDENT)
    sectors = 0
    for number in range(5):
        random = np.random.default_rng(number)
        offsets = 4 * random.integers(0, 4096, (count, WIDTH))
        offsets[:, 0] = 0
        each = np.repeat(np.arange(count, dtype=np.int32), 2)
        zero = np.zeros(2 * count, np.int32)
        table = AccessTable(zero, zero + number * WARPS, zero, zero, zero.astype(np.int64), each)
        patterns = PatternTable(np.full(count, 2**32 - 1, np.uint64), offsets)
        simulator.accept(AccessBatch(number, 1, table, patterns, np.ones(WARPS, np.int32)))
        sectors += 2 * sum(len(set(row)) for row in (offsets // SECTOR).tolist())
    assert int(simulator.finish().by_instruction.sectors[0]) == sectors


def test_an_access_names_its_instruction_in_a_few_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    on = device(CoalescingRule.SECTORS)
    at = (WIDTH, WARPS, on, RESIDENT)
    monkeypatch.setattr("kernelcast.simcore.memory.stream.PC_BITS", 2)
    assert TrafficSimulator(ROWS, *at).finish().by_instruction.sectors.shape == (len(ROWS),)
    with pytest.raises(TraceFormatError, match="a kernel of more than 4 instructions"):
        TrafficSimulator((*ROWS, ROWS[0]), *at)
