"""An L2 in two partitions beside closed forms: what both halves of the SMs read is held twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device

THREADS = 256
SWEEPS = 4
READ = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry sweep(.param .u64 a, .param .u32 n) {{
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [a]; ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
    rem.u32 %r4, %r3, %r5;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3;
    {operation}
    ret;
}}
"""
LOAD = "ld.global.cg.f32 %f1, [%rd4];"
STORE = "mov.f32 %f1, 0f3F800000; st.global.f32 [%rd4], %f1;"


def small(partitions: int) -> Device:
    """Two SMs, one thread block each, and 256 KB of L2 that replaces the oldest line."""
    device = load_device("a100-40gb")
    l2 = replace(device.l2, capacity_bytes=1 << 18, partitions=partitions)
    return replace(
        device,
        name="two-sms",
        l2=l2,
        architecture=replace(device.architecture, sm_count=2),
        sm=replace(device.sm, max_thread_blocks=1),
    )


def dram_bytes(words: int, device: Device, operation: str, shift: int = 0) -> float:
    """DRAM traffic of sweeps over an array; the second SM is ahead of the first by `shift`."""
    kernel = kc.load_ptx(READ.format(operation=operation))["sweep"]
    blocks = SWEEPS * words // THREADS + shift
    trace = kernel.run(
        grid=blocks,
        block=THREADS,
        args=[np.zeros(words, np.float32), words],
        code="source",
        devices=[device],
    )
    return trace.profile(device).traffic.dram_bytes


ODD = 193 * THREADS
"""Words of an odd number of thread blocks: each SM reads each of them in every other sweep."""


@pytest.mark.parametrize("partitions", [1, 2])
def test_what_both_halves_read_is_held_twice(partitions: int) -> None:
    """An array of 193 KB is swept by both SMs, which change places with each sweep.

    One L2 of 256 KB has it after the first sweep. Each of two partitions has 128 KB, and gets 145
    between two uses: the 97 that its SM reads, and half of the 97 that the other one reads.
    """
    once = dram_bytes(ODD, small(partitions), LOAD) / (4 * ODD)
    assert once == 1.0 if partitions == 1 else once > 1.5


@pytest.mark.parametrize("partitions", [1, 2])
def test_half_of_what_fits_is_read_once(partitions: int) -> None:
    words = 101 * THREADS
    assert dram_bytes(words, small(partitions), LOAD) == 4 * words


@pytest.mark.parametrize("partitions", [1, 2])
def test_stores_are_held_once(partitions: int) -> None:
    """A line is written in the partition that it belongs to, whoever writes it."""
    words = 201 * THREADS
    assert dram_bytes(words, small(partitions), STORE) == 4 * words


def test_a_store_takes_its_line_from_the_other_partition() -> None:
    """Read, write, read: the second read of the other half finds the new line, not in DRAM."""
    words = 101 * THREADS
    both = f"{LOAD} {STORE} {LOAD}"
    assert dram_bytes(words, small(2), both) == dram_bytes(words, small(1), both)


def test_the_a100_acts_as_if_it_had_half_of_its_cache() -> None:
    """32 MB of 40 that all SMs read again and again are lost (Ernst et al. 2022, section 3)."""
    device = load_device("a100-40gb")
    words = ((32 << 20) // 4 // THREADS + 1) * THREADS  # the halves change places
    one = replace(device, l2=replace(device.l2, partitions=1))
    whole = dram_bytes(words, one, LOAD)
    halves = dram_bytes(words, device, LOAD)
    assert whole == 4 * words
    assert halves > 3 * whole
