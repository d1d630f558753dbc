"""Atomics on one address beside closed forms: one by one at L2, lane by lane in shared memory."""

from __future__ import annotations

import csv
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.device.atomic_facts import AtomicFacts
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.memory.atomic_contention import serialises_lanes
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.traces.trace import InstructionRow

THREADS = 256
HEADER = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a) {
    .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<5>;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 256, %r1; mov.u32 %r8, 1; mov.f32 %f1, 0f3F800000;
"""


def timed(body: str, device: Device, words: int, thread_blocks: int) -> LaunchTiming:
    kernel = kc.load_ptx(HEADER + body + " ret; }")["k"]
    trace = kernel.run(
        grid=thread_blocks,
        block=THREADS,
        args=[np.zeros(words, np.int32)],
        devices=[device],
        code="as-written",
    )
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    return launch_timing(found, device)


def on_global(words: int, operation: str) -> str:
    """Thread i works on word i modulo `words`, a power of two, at %rd3."""
    return f"""
        and.b32 %r4, %r3, {words - 1}; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;
        {operation}
    """


def on_shared(words: int, operation: str) -> str:
    """Each of 64 times, the thread works on word i modulo `words` of shared memory, at %r5."""
    return f"""
        and.b32 %r4, %r1, {words - 1}; shl.b32 %r4, %r4, 2; mov.u32 %r6, tile;
        add.u32 %r5, %r4, %r6; mov.u32 %r7, 0;
        L: {operation * 8} add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 8; @%p1 bra L;
    """


SUM = "red.global.add.u32 [%rd3], %r8;"
FETCHED = "atom.global.add.u32 %r9, [%rd3], %r8; add.u32 %r9, %r9, 1;"
FLOATS = "red.global.add.f32 [%rd3], %f1;"
EXCHANGE = "atom.global.cas.b32 %r9, [%rd3], %r8, %r3; add.u32 %r9, %r9, 1;"
BLOCKS = 2000
MICRO_KERNELS = Path(__file__).resolve().parents[3] / "validation/measured/microkernels"


@pytest.mark.parametrize("words", [1, 4, 32])
@pytest.mark.parametrize(
    ("operation", "combined"), [(SUM, 16), (FETCHED, 16), (FLOATS, 1), (EXCHANGE, 1)]
)
def test_operations_on_one_address_follow_one_another(
    operation: str, combined: int, words: int
) -> None:
    """A warp's lanes with one address are `combined` to an operation, which takes three cycles."""
    device = replace(load_device("v100-pcie"), atomics=AtomicFacts(3.0, 16))
    timing = timed(on_global(words, operation), device, words, BLOCKS)
    lanes_of_one = 32 // words
    operations = BLOCKS * THREADS // 32 * math.ceil(lanes_of_one / combined)
    assert timing.cycles == pytest.approx(3 * operations, rel=0.05)
    assert timing.lost(StallReason.ATOMICS) > 0.75 * timing.full_cycles * timing.slots_per_cycle


def test_many_addresses_take_no_longer_than_their_sectors() -> None:
    """No warp waits for an address of half a million; four of them are the limit of the launch."""
    device = load_device("v100-pcie")
    apart = timed(on_global(1 << 19, FLOATS), device, 1 << 19, BLOCKS)
    together = timed(on_global(4, FLOATS), device, 4, BLOCKS)
    assert apart.lost(StallReason.ATOMICS) < 0.02 * apart.full_cycles * apart.slots_per_cycle
    assert together.cycles > 5 * apart.cycles
    assert together.cycles == pytest.approx(BLOCKS * THREADS / 4, rel=0.05)


DRAWN = """
    mul.lo.u32 %r4, %r3, 2654435769; shr.u32 %r5, %r4, 16; xor.b32 %r4, %r4, %r5;
    mul.lo.u32 %r4, %r4, 2246822507; shr.u32 %r5, %r4, 13; xor.b32 %r4, %r4, %r5;
    and.b32 %r6, %r4, 7; shr.u32 %r4, %r4, 3; and.b32 %r4, %r4, GROUPS;
    mul.lo.u32 %r4, %r4, STRIDE; shl.b32 %r6, %r6, 2; add.u32 %r4, %r4, %r6;
    cvt.u64.u32 %rd2, %r4; add.u64 %rd3, %rd1, %rd2;
"""


@pytest.mark.parametrize("gpu", ["h200", "h100-sxm"])
@pytest.mark.parametrize(
    ("groups", "stride"),
    [(1, 32), (8, 32), (128, 32), (512, 32), (2, 256), (2, 512), (4, 256), (2, 1024), (8, 16384)],
)
def test_sectors_of_one_place_of_l2_take_turns_as_measured(
    groups: int, stride: int, gpu: str
) -> None:
    """Lanes go to one of eight words of one of `groups` groups, so many bytes apart."""
    device = load_device(gpu)
    device = replace(device, atomics=replace(device.atomics, combined_lanes=1))
    body = DRAWN.replace("GROUPS", str(groups - 1)).replace("STRIDE", str(stride)) + SUM
    timing = timed(body, device, groups * stride // 4, 2 * BLOCKS)
    rate = 2 * BLOCKS * THREADS / device.seconds(timing.cycles)
    with (MICRO_KERNELS / gpu / "capacity.csv").open(encoding="utf-8") as stream:
        settings = f"groups={groups} stride={stride}"
        (row,) = (row for row in csv.DictReader(stream) if row["settings"] == settings)
    assert rate == pytest.approx(float(row["value"]), rel=0.3)


def test_without_contention_the_operations_cost_what_their_accesses_do() -> None:
    device = load_device("v100-pcie")
    kernel = kc.load_ptx(HEADER + on_global(1, FLOATS) + " ret; }")["k"]
    words = [np.zeros(1, np.int32)]
    trace = kernel.run(grid=BLOCKS, block=THREADS, args=words, devices=[device])
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    free = launch_timing(found, device, frozenset((Component.ATOMICS,)))
    assert free.lost(StallReason.ATOMICS) == 0
    assert free.cycles < 0.1 * launch_timing(found, device).cycles


@pytest.mark.parametrize("words", [1, 4, 16, 32])
@pytest.mark.parametrize("lane_passes", [1, 2])
def test_lanes_with_one_word_of_shared_memory_take_turns(words: int, lane_passes: int) -> None:
    """Each bank serves its word lane by lane; a warp waits for one atomic before its next."""
    facts = AtomicFacts(shared_lane_passes=lane_passes)
    device = replace(load_device("v100-pcie"), atomics=facts)
    body = on_shared(words, "atom.shared.add.u32 %r9, [%r5], %r8;")
    timing = timed(body, device, 1, device.architecture.sm_count)
    passes = max(1, 32 // words * lane_passes)
    assert device.timing is not None
    expected = 64 * max(THREADS // 32 * passes, device.timing.shared_latency_cycles)
    assert timing.cycles == pytest.approx(expected, rel=0.1)


def test_increments_that_count_lanes_take_one_pass() -> None:
    row = InstructionRow(0, "atom", "ATOMS.POPC.INC.32", "load/store", 0, "atomic", 0, "shared", 4)
    assert not serialises_lanes(row)
    assert serialises_lanes(replace(row, mnemonic="ATOMS.ADD"))


def test_the_advice_names_atomics_on_one_word() -> None:
    kernel = kc.load_ptx(HEADER + on_global(1, FLOATS) + " ret; }")["k"]
    device = kc.device("v100-pcie")
    words = [np.zeros(1, np.int32)]
    trace = kernel.run(grid=BLOCKS, block=THREADS, args=words, devices=[device])
    found = kc.estimate(trace.profile(device))
    assert found.bottleneck == "contended atomics"
    assert "contended atomics" in found.advice[0].why


@pytest.mark.parametrize("name", known_devices())
def test_every_device_says_how_atomics_follow_one_another(name: str) -> None:
    device = load_device(name)
    found = {key for key in device.provenance if key.startswith("atomics.")}
    measured = {"atomics.request_cycles"}  # on few GPUs
    assert found | measured == {f"atomics.{item.name}" for item in fields(AtomicFacts)}
