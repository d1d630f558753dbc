"""Hits on sectors that are still on their way, stores that L1 merges, and what L2 keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.hierarchy import Latencies, TrafficResult
from kernelcast.simcore.memory.stream import TrafficSimulator, simulate_traffic
from kernelcast.traces.stream import AccessBatch
from tests.simcore.memory.test_hierarchy import (
    BUFFER,
    KIB,
    L1,
    L2,
    LOAD,
    STORE,
    Access,
    device,
    stream,
    trace_of,
    traffic,
)


def at_steps(
    accesses: Sequence[Access], steps: Sequence[int], on: Device, warps: int, resident: int = 1
) -> TrafficResult:
    """The traffic where each access is the instruction of its warp with that number."""
    trace = trace_of([LOAD, STORE], accesses, warps)
    order = np.argsort([access.warp for access in accesses], kind="stable")
    columns = {name: getattr(trace.accesses, name)[order] for name in COLUMNS}
    time = np.array(steps, np.int32)[order]
    table = replace(trace.accesses, **columns, time=time)
    longest = np.full(warps, max(steps) + 1, np.int32)
    return simulate_traffic(replace(trace, accesses=table, warp_time=longest), on, resident)


def pending(result: TrafficResult) -> tuple[int, int]:
    counts = result.by_instruction
    return int(counts.l1_pending.sum()), int(counts.l2_pending.sum())


COLUMNS = "pc", "warp", "stage", "pattern", "address"
ONE_SM = replace(device(L1), architecture=replace(load_device("gtx-480").architecture, sm_count=1))


def test_a_warp_that_reads_what_another_one_has_just_asked_for_waits_as_long() -> None:
    both = [Access(0, 0, warp=0), Access(0, 0, warp=1)]
    result = at_steps(both, [5, 5], ONE_SM, 2, resident=2)
    assert result.by_instruction.l1_hits.tolist() == [4, 0]
    assert pending(result) == (4, 0)


def test_a_warp_that_is_further_on_finds_the_data() -> None:
    both = [Access(0, 0, warp=0), Access(0, 0, warp=1)]
    assert pending(at_steps(both, [5, 9], ONE_SM, 2, resident=2)) == (0, 0)


def test_a_warp_that_comes_much_later_finds_the_data() -> None:
    """The instruction is the same, in the next thread block of the only place."""
    both = [Access(0, 0, warp=0), Access(0, 0, warp=1)]
    assert pending(at_steps(both, [900, 900], ONE_SM, 2, resident=1)) == (0, 0)


def test_sms_that_read_one_line_together_wait_for_dram_together() -> None:
    """Two SMs: the second one misses its own L1 and finds the line on its way to L2."""
    both = [Access(0, 0, warp=0), Access(0, 0, warp=1)]
    result = at_steps(both, [5, 5], device(L1), 2)
    assert result.by_instruction.l2_read_hits.tolist() == [4, 0]
    assert pending(result) == (0, 4)
    assert result.dram_read_transactions == 4


def test_stores_that_follow_each_other_to_a_line_are_merged() -> None:
    """Three words of four lanes' structures of 12 bytes, one store each."""
    words = [Access(1, 4 * word, stride=12) for word in range(3)]
    result = at_steps(words, [3, 4, 5], device(L1), 1)
    counts = result.by_instruction
    assert counts.l2_writes.tolist() == [0, 3 * 12]
    assert counts.merged_writes.tolist() == [0, 2 * 12]
    assert counts.partial_writes.tolist() == [0, 12 - 2 * 12]  # all are completed
    apart = at_steps(words, [3, 40, 80], device(L1), 1).by_instruction
    assert apart.merged_writes.tolist() == [0, 0]
    assert apart.partial_writes.tolist() == [0, 3 * 12]


def test_words_far_apart_are_written_in_part() -> None:
    result = traffic([LOAD, STORE], [Access(1, 0, stride=4096)], device())
    assert result.by_instruction.partial_writes.tolist() == [0, 32]
    whole = traffic([LOAD, STORE], [Access(1, 0)], device())
    assert whole.by_instruction.partial_writes.tolist() == [0, 0]


@pytest.mark.parametrize("kib", [16, 64, 256])
def test_what_l2_still_holds_at_the_end_is_not_written_in_the_launch(kib: int) -> None:
    result = traffic([LOAD, STORE], stream(1, kib * KIB), device())
    assert result.dram_write_transactions == kib * KIB // 32
    assert result.left_writes == min(kib, 64) * KIB // 32


def test_l2_fetches_as_much_at_a_time_as_the_device_says() -> None:
    """A sector of every 128 bytes: two of 32 bytes come, of which the second one is there later."""
    pairs = replace(L2, fetch_bytes=64)
    apart = [Access(0, at, stride=128) for at in range(0, BUFFER // 4, 4096)]
    once = traffic([LOAD], apart, device(l2=L2))
    twice = traffic([LOAD], apart, device(l2=pairs))
    assert twice.dram_read_transactions == 2 * once.dram_read_transactions
    near = [Access(0, 0, stride=128), Access(0, 32, stride=128)]
    found = traffic([LOAD], near, device(l2=pairs))
    assert found.dram_read_transactions == 64
    assert found.by_instruction.l2_read_hits.tolist() == [32]
    written = traffic([LOAD, STORE], [Access(1, 0, stride=128)], device(l2=pairs))
    assert written.dram_write_transactions == 32  # a sector each


def test_devices_of_other_latencies_are_simulated_together() -> None:
    """Each version counts what a simulation of its device alone counts."""
    usual = load_device("gtx-1060-6gb")
    assert usual.timing is not None
    devices = [
        replace(usual, timing=replace(usual.timing, l2_latency_cycles=l2, dram_latency_cycles=dram))
        for l2, dram in ((1.0, 2.0), (2.0, 4.0), (216.0, 800.0))
    ]
    drawn = np.random.default_rng(5)
    accesses = [
        Access(int(drawn.integers(2)), int(drawn.integers(64)) * 32, warp=number % 8)
        for number in range(400)
    ]
    trace = trace_of([LOAD, STORE], accesses, 8)
    order = np.argsort(trace.accesses.warp, kind="stable")
    columns = {name: getattr(trace.accesses, name)[order] for name in COLUMNS}
    steps = np.tile(np.arange(50, dtype=np.int32), 8)
    table = replace(trace.accesses, **columns, time=steps)
    batch = AccessBatch(0, 8, table, trace.patterns, np.full(8, 50, np.int32))
    kind = trace.instructions, trace.warp_width, 1
    together = TrafficSimulator(*kind, devices[0], 2, versions=[*map(Latencies.of, devices)])
    together.accept(batch)
    for version, one in enumerate(devices):
        alone = TrafficSimulator(*kind, one, 2)
        alone.accept(batch)
        found, expected = together.finish(version), alone.finish()
        for mine, own in zip(found.by_instruction, expected.by_instruction, strict=True):
            assert mine.tolist() == own.tolist()
        assert found.writes == expected.writes
    assert len({pending(together.finish(version)) for version in range(len(devices))}) > 1
