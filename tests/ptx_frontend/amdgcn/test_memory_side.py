"""The cache between L2 and DRAM of AMD's GPUs, which they call Infinity Cache, by closed forms.

Caches are made small, so that small arrays fit into one and not into the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

HEAD = """.version 7.0
.target sm_70
.address_size 64
"""
READING = """.visible .entry k(.param .u64 array, .param .u32 passes, .param .u32 bytes) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .f32 %f<8>;
  ld.param.u64 %d1, [array]; ld.param.u32 %r1, [passes]; ld.param.u32 %r2, [bytes];
  mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, %r2, 0;
  mov.u32 %r9, %ntid.x; shl.b32 %r9, %r9, 4; shl.b32 %r3, %r3, 4; mov.f32 %f1, 0f00000000;
PASS:
  mov.u32 %r5, %r3;
READ:
  add.u32 %r6, %r5, %r4; cvt.u64.u32 %d2, %r6; add.u64 %d3, %d1, %d2;
  ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%d3]; add.f32 %f1, %f1, %f2;
  add.u32 %r5, %r5, %r9; setp.lt.u32 %p1, %r5, %r2; @%p1 bra READ;
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra PASS;
  setp.eq.f32 %p1, %f1, 0f42280000; @%p1 st.global.f32 [%d1], %f1;
  ret;
}
"""
WRITING = """.visible .entry k(.param .u64 array, .param .u32 passes, .param .u32 bytes) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>;
  ld.param.u64 %d1, [array]; ld.param.u32 %r2, [bytes];
  mov.u32 %r3, %tid.x; shl.b32 %r3, %r3, 2; mov.u32 %r5, %r3; mov.f32 %f1, 0f00000000;
WRITE:
  cvt.u64.u32 %d2, %r5; add.u64 %d3, %d1, %d2; st.global.f32 [%d3], %f1;
  add.u32 %r5, %r5, 128; setp.lt.u32 %p1, %r5, %r2; @%p1 bra WRITE;
  mov.u32 %r5, %r3;
READ:
  cvt.u64.u32 %d2, %r5; add.u64 %d3, %d1, %d2; ld.global.f32 %f2, [%d3]; add.f32 %f1, %f1, %f2;
  add.u32 %r5, %r5, 128; setp.lt.u32 %p1, %r5, %r2; @%p1 bra READ;
  setp.eq.f32 %p1, %f1, 0f42280000; @%p1 st.global.f32 [%d1], %f1;
  ret;
}
"""
CHASE = """.visible .entry k(.param .u64 array, .param .u32 passes, .param .u32 steps) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [array]; ld.param.u32 %r1, [passes]; ld.param.u32 %r2, [steps];
  mul.lo.u32 %r1, %r1, %r2; mov.u64 %d2, %d1;
STEP:
  ld.global.u32 %r4, [%d2]; cvt.u64.u32 %d3, %r4; add.u64 %d2, %d1, %d3;
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra STEP;
  st.global.u32 [%d1+4], %r4;
  ret;
}
"""
BYTES, SMALL, LARGE = 1 << 16, 1 << 15, 1 << 18
TRANSACTION, LINE = 64, 128
STEPS, THREADS = BYTES // LINE, 256


@cache
def device(memory_side_bytes: int, name: str = "rx-6900-xt") -> Device:
    """The GPU with an L1 of 4 KB, an L2 of 16 KB and that cache behind it; none for 0."""
    whole = load_device(name)
    assert whole.l1 is not None
    assert whole.memory_side is not None
    beyond = replace(whole.memory_side, capacity_bytes=memory_side_bytes)
    return replace(
        whole,
        l1=replace(whole.l1, capacity_bytes=4096),
        l2=replace(whole.l2, capacity_bytes=1 << 14),
        memory_side=beyond if memory_side_bytes else None,
    )


def profile(
    text: str, on: Device, passes: int, array: npt.NDArray[np.uint32], blocks: int = 1
) -> KernelProfile:
    """A launch whose thread blocks have equal parts of the array."""
    threads = 1 if text is CHASE else THREADS if blocks > 1 else 32
    last = STEPS if text is CHASE else array.nbytes // blocks
    trace = kc.load_ptx(HEAD + text)["k"].run(
        grid=blocks, block=threads, args=[array, passes, last], devices=[on]
    )
    return trace.profile(on)


def words(size: int) -> npt.NDArray[np.uint32]:
    return np.zeros(size // 4, np.uint32)


@pytest.mark.parametrize(
    ("capacity", "hits"), [(LARGE, 2 * BYTES), (SMALL, 0), (0, 0)], ids=["fits", "small", "none"]
)
def test_what_was_read_before_is_there_if_it_fits(capacity: int, hits: int) -> None:
    """Three passes over an array: of the lines that are used least lately nothing is left."""
    traffic = profile(READING, device(capacity), 3, words(BYTES)).traffic
    assert traffic.memory_side_hits * TRANSACTION == hits
    assert traffic.dram_read_transactions * TRANSACTION == 3 * BYTES - hits


def test_what_was_written_is_there() -> None:
    traffic = profile(WRITING, device(LARGE), 1, words(BYTES)).traffic
    assert traffic.memory_side_hits * TRANSACTION == pytest.approx(BYTES, rel=0.01)
    assert traffic.dram_read_transactions == 0
    assert traffic.dram_write_transactions * TRANSACTION == BYTES


def cycles_of_third_pass(on: Device) -> float:
    """One thread chases pointers through an array, from line to line."""
    array = words(BYTES)
    array[:: LINE // 4] = (np.arange(1, STEPS + 1) % STEPS) * LINE
    found = []
    for passes in (2, 3):
        kernel = profile(CHASE, on, passes, array.copy()).derived(timed_warps)
        assert kernel is not None
        found.append(launch_timing(kernel, on, is_exact=True).full_cycles)
    return found[1] - found[0]


@pytest.mark.parametrize("name", ["rx-6900-xt", "rx-7900-xtx", "mi300x", "mi300a"])
def test_a_hit_takes_the_latency_of_the_device_file(name: str) -> None:
    """A step is sooner than without such a cache by the difference of the two latencies.

    Mean latencies are whole cycles, half a cycle off at most in two and in three passes.
    """
    on = device(LARGE, name)
    assert on.timing is not None
    assert on.memory_side is not None
    faster = cycles_of_third_pass(device(0, name)) - cycles_of_third_pass(on)
    latency = on.timing.dram_latency_cycles - on.memory_side.latency_cycles
    assert faster / STEPS == pytest.approx(latency, abs=2.5)


@pytest.mark.parametrize("name", ["rx-6900-xt", "mi300x"])
def test_hits_come_at_the_bandwidth_of_the_device_file(name: str) -> None:
    """All SMs read their parts again and again; eight passes more, of which DRAM sees nothing."""
    on = device(1 << 24, name)
    assert on.memory_side is not None
    blocks = 2 * on.architecture.sm_count
    seconds = []
    for passes in (8, 16):
        kernel = profile(READING, on, passes, words(blocks << 14), blocks).derived(timed_warps)
        assert kernel is not None
        seconds.append(launch_timing(kernel, on).seconds)
    moved = 8 * (blocks << 14)
    assert moved / (seconds[1] - seconds[0]) == pytest.approx(
        on.memory_side.bandwidth_bytes_per_s, rel=0.1
    )


def test_no_other_gpu_has_one() -> None:
    found = [name for name in known_devices() if load_device(name).memory_side is not None]
    assert found == ["mi300a", "mi300x", "mi355x", "rx-6900-xt", "rx-7900-xtx", "rx-9070-xt"]
