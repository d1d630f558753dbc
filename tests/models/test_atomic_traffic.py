"""Atomics change their sectors of L2 in one transaction, whatever counts them."""

from __future__ import annotations

import numpy as np
import pytest

import kernelcast as kc

COUNT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], 1; ret;
}
"""
THREAD_BLOCKS, WARPS = 5000, 4
SECTOR_BYTES, SECTORS_OF_A_WARP = 32, 4


@pytest.fixture(scope="module")
def trace() -> kc.KernelTrace:
    """Each warp adds to 32 neighbouring words."""
    counters = np.zeros(32 * WARPS, np.uint32)
    found = kc.load_ptx(COUNT)["count"].run(
        grid=THREAD_BLOCKS, block=32 * WARPS, args=[counters], devices=["gtx-480", "v100-pcie"]
    )
    assert (counters == THREAD_BLOCKS).all()
    return found


@pytest.mark.parametrize("device", ["gtx-480", "v100-pcie"])
def test_traffic_of_l2(trace: kc.KernelTrace, device: str) -> None:
    traffic = trace.profile(device).traffic
    sectors = THREAD_BLOCKS * WARPS * SECTORS_OF_A_WARP
    assert traffic.l2_read_sectors == traffic.l2_write_sectors == sectors
    assert traffic.l2_bytes == sectors * SECTOR_BYTES


@pytest.mark.parametrize("device", ["gtx-480", "v100-pcie"])
@pytest.mark.parametrize("model", ["warpspeed", "component-throughput", "interval"])
def test_nothing_that_l2_bounds_is_faster_than_the_roofline(
    trace: kc.KernelTrace, device: str, model: str
) -> None:
    """All models let the same bytes through L2; the roofline has its highest rate."""
    profile = trace.profile(device)
    roofline = kc.estimate(profile, "roofline")
    assert roofline.bottleneck == "memory: L2 bandwidth"
    assert kc.estimate(profile, model).time_s >= 0.999 * roofline.time_s
