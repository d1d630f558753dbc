"""Accesses of the JIT engine on their way to sinks: order, batches, threads, what goes wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from kernelcast.errors import LimitExceeded, MemoryAccessError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.recording import access_log
from kernelcast.simcore.engine.jit.recording.delivery import Delivery
from kernelcast.simcore.engine.jit.recording.tally import ClassTally
from kernelcast.simcore.engine.jit.runtime import job
from kernelcast.simcore.engine.jit.runtime.stack_threads import is_pooled
from kernelcast.simcore.engine.jit.runtime.worker import Worker
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.memory.simulated_memory import SimulatedMemory
from kernelcast.traces.collector import AccessCollector
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, PatternCounts

# Gathers through an index, reverses a thread block in shared memory, and scatters.
SHUFFLE = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry shuffle(.param .u64 index, .param .u64 from, .param .u64 to)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .shared .align 4 .b8 tile[256];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r2, 6;
    add.u32 %r3, %r3, %r1;
    ld.param.u64 %d1, [index];
    mul.wide.u32 %d2, %r3, 4;
    add.s64 %d1, %d1, %d2;
    ld.global.u32 %r4, [%d1];
    ld.param.u64 %d3, [from];
    mul.wide.u32 %d4, %r4, 4;
    add.s64 %d3, %d3, %d4;
    ld.global.u32 %r5, [%d3];
    mov.u32 %r6, tile;
    shl.b32 %r7, %r1, 2;
    add.u32 %r6, %r6, %r7;
    st.shared.u32 [%r6], %r5;
    bar.sync 0;
    sub.u32 %r7, 252, %r7;
    mov.u32 %r6, tile;
    add.u32 %r6, %r6, %r7;
    ld.shared.u32 %r5, [%r6];
    ld.param.u64 %d5, [to];
    add.s64 %d5, %d5, %d4;
    st.global.u32 [%d5], %r5;
    ret;
}
"""
THREADS = 64
BLOCKS = 300


def kernel() -> Kernel:
    return read_ptx(SHUFFLE, "shuffle.ptx").kernels["shuffle"]


def launch(bad_index: int | None = None) -> Launch:
    count = BLOCKS * THREADS
    index = np.random.default_rng(3).permutation(count).astype(np.uint32)
    if bad_index is not None:
        index[bad_index] = 1 << 30
    return Launch(
        (BLOCKS, 1, 1),
        (THREADS, 1, 1),
        (index, np.arange(count, dtype=np.uint32), np.zeros(count, np.uint32)),
    )


@pytest.fixture(params=[1, 2, 5])
def workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(job, "_processors", lambda: request.param)
    return int(request.param)


@pytest.mark.parametrize("piece", [1, 1000, 1 << 18])
def test_batches_collect_to_what_the_reference_engine_keeps(
    workers: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_PIECE_ACCESSES", piece)
    collected = AccessCollector()
    execute(kernel(), launch(), engine="jit", record_memory=False, sinks=[collected])
    expected = execute(kernel(), launch(), engine="reference")
    patterns, accesses = collected.tables()
    counts = collected.pattern_counts()
    found = Tables(patterns, accesses, counts)
    assert len(accesses) == 3 * BLOCKS * THREADS // 32
    assert_same(found, Tables(expected.patterns, expected.accesses, expected.pattern_counts))


def test_batches_have_the_accesses_of_a_warp_together() -> None:
    """Warps take turns at the barrier of the kernel."""
    collected = AccessCollector()
    execute(kernel(), launch(), engine="jit", record_memory=False, sinks=[collected])
    warps = collected.tables()[1].warp
    np.testing.assert_array_equal(warps, np.sort(warps))


class Tables(NamedTuple):
    patterns: PatternTable
    accesses: AccessTable
    counts: PatternCounts


def assert_same(found: Tables, expected: Tables) -> None:
    """Accesses by warp; engines run the warps of a thread block in orders of their own."""
    orders = [np.argsort(tables.accesses.warp, kind="stable") for tables in (found, expected)]
    for name in ("pc", "warp", "time", "stage", "address"):
        one, other = (
            getattr(tables.accesses, name)[order]
            for tables, order in zip((found, expected), orders, strict=True)
        )
        np.testing.assert_array_equal(one, other)
    one, other = (
        tables.patterns.offsets[tables.accesses.pattern[order]]
        for tables, order in zip((found, expected), orders, strict=True)
    )
    np.testing.assert_array_equal(one, other)
    assert counted(found) == counted(expected)


def counted(tables: Tables) -> dict[tuple[object, ...], int]:
    rows = tables.counts
    keys = zip(rows.pc.tolist(), rows.stage.tolist(), rows.start.tolist(), strict=True)
    return {
        (*key, tables.patterns.offsets[pattern].tobytes()): count
        for key, pattern, count in zip(
            keys, rows.pattern.tolist(), rows.count.tolist(), strict=True
        )
    }


@pytest.mark.parametrize("name", ["gtx-1060-6gb", "a100-40gb", "gtx-260"])
def test_simulated_memory_does_not_depend_on_threads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, code, found = load_device(name), kernel(), []
    for workers in (1, 2, 8):
        monkeypatch.setattr(job, "_processors", lambda workers=workers: workers)
        monkeypatch.setattr(job, "_PIECE_ACCESSES", 100 * workers)
        memory = SimulatedMemory(
            instruction_rows(code), 32, THREADS // 32, ResidentLaunch(device, 4)
        )
        execute(code, launch(), engine="jit", record_memory=False, sinks=[memory])
        (result,), left = memory.finish(), memory.left
        assert result.traffic.dram_read_transactions > 0
        waves, stages = result.wavefronts, result.wavefronts.stages
        assert stages is not None
        columns: list[np.ndarray[Any, Any]] = [
            *result.traffic.by_instruction,
            waves.requests,
            waves.taken,
            waves.ideal,
        ]
        columns += [stages.requests, stages.taken, left.tags, left.masks, left.recency]
        found.append((result.traffic.writes, [column.tobytes() for column in columns]))
    assert found == found[:1] * 3


def threads_of_launches() -> int:
    """How many threads there are that do not wait for the next launch."""
    return sum(not is_pooled(thread) for thread in threading.enumerate())


class Failing:
    def accept(self, batch: AccessBatch) -> None:
        raise ValueError("no space left")


@pytest.mark.usefixtures("workers")
def test_what_fails_in_a_sink_is_raised_and_all_threads_end() -> None:
    before = threads_of_launches()
    with pytest.raises(ValueError, match="no space left"):
        execute(kernel(), launch(), engine="jit", sinks=[Failing()])
    assert threads_of_launches() == before


@pytest.mark.usefixtures("workers")
def test_a_kernel_that_fails_ends_the_sinks() -> None:
    before = threads_of_launches()
    with pytest.raises(MemoryAccessError, match="load of 4 bytes"):
        execute(kernel(), launch(bad_index=40 * THREADS), engine="jit")
    until = time.monotonic() + 120
    while threads_of_launches() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threads_of_launches() == before


class Held:
    """Takes nothing until it is let go."""

    def __init__(self) -> None:
        self.blocks = 0
        self.go = threading.Event()

    def accept(self, batch: AccessBatch) -> None:
        self.go.wait()
        self.blocks += batch.thread_blocks


def test_a_slow_sink_holds_the_workers_up() -> None:
    sink = Held()
    delivery = Delivery([sink], 1)
    made = 0
    while delivery.has_room and made < 1000:
        delivery.put(made, empty_batch(made))
        made += 1
    sink.go.set()
    delivery.finish()
    assert sink.blocks == made
    assert made < 30  # a few wait


class Together:
    """Remembers the most sinks that had a batch at the same time."""

    def __init__(self) -> None:
        self.most = self.taken = self._now = 0
        self._lock = threading.Lock()

    def accept(self, batch: AccessBatch) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.005)
        with self._lock:
            self._now -= 1
            self.taken += 1


def test_no_more_sinks_take_batches_at_once_than_are_told() -> None:
    sink = Together()
    delivery = Delivery([sink] * 8, 2)
    for first in range(4):
        delivery.put(first, empty_batch(first))
    delivery.finish()
    assert sink.taken == 8 * 4
    assert 1 <= sink.most <= 2


def empty_batch(first: int) -> AccessBatch:
    return AccessBatch(first, 1, AccessTable.empty(), PatternTable.empty(32), np.zeros(2, np.int32))


def test_batches_that_come_early_wait_for_their_turn() -> None:
    collected: list[int] = []

    class Listener:
        def accept(self, batch: AccessBatch) -> None:
            collected.append(batch.first_thread_block)

    delivery = Delivery([Listener()], 1)
    for first in (2, 0, 3, 1):
        delivery.put(first, empty_batch(first))
    delivery.finish()
    assert collected == [0, 1, 2, 3]


def test_classes_are_the_distinct_rows_in_order_of_appearance() -> None:
    random = np.random.default_rng(5)
    counts = random.integers(0, 3, (500, 4)).astype(np.int64)
    tally = ClassTally(500, 4)
    counts[320:340] = counts[319]
    repeats = np.zeros(500, np.uint8)
    repeats[1:] = (counts[1:] == counts[:-1]).all(axis=1)
    assert repeats[320:340].all()
    for first, end in ((200, 500), (0, 150), (150, 200)):
        repeats[first] = 0
        tally.add(first, counts[first:end], repeats[first:end])
    class_of, rows = tally.classes()
    np.testing.assert_array_equal(rows[class_of], counts)
    assert len(rows) == len(np.unique(counts, axis=0))
    first_seen = np.unique(class_of, return_index=True)[1]
    assert (np.diff(first_seen) > 0).all()


def test_more_patterns_and_counts_than_the_first_tables_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(access_log, "_FIRST_ROOM", 16)
    found = execute(kernel(), launch(), engine="jit")
    expected = execute(kernel(), launch(), engine="reference")
    assert_same(
        Tables(found.patterns, found.accesses, found.pattern_counts),
        Tables(expected.patterns, expected.accesses, expected.pattern_counts),
    )


def test_a_run_without_loops_that_takes_too_long_gives_no_partial_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job, "_PIECES_PER_WORKER", 1000)
    monkeypatch.setattr(Worker, "run", delayed(Worker.run))
    with pytest.raises(LimitExceeded, match=r"still running after 1 s"):
        execute(kernel(), launch(), engine="jit", limits=Limits(seconds=1.0), record_memory=False)


def delayed(call: Callable[..., Any]) -> Callable[..., Any]:
    def later(*arguments: Any) -> Any:
        time.sleep(0.01)
        return call(*arguments)

    return later
