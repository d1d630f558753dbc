"""What is lost while thread blocks follow one another: to the memory, to stores, to the launch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.awaited_loads import awaited_loads
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing

VOLTA = load_device("v100-pcie")
LAUNCH = StallReason.THREAD_BLOCK_LAUNCH


def share(timing: LaunchTiming, *reasons: StallReason) -> float:
    """A share of the slots of schedulers that have a warp, as the model counts them."""
    slots = int(timing.slots.sum()) - timing.lost(StallReason.IDLE)
    return sum(map(timing.lost, reasons)) / slots


def timing_facts(device: Device) -> tuple[int, int]:
    assert device.timing is not None
    return round(device.timing.thread_block_launch_cycles), device.timing.issue_cycles


@pytest.mark.parametrize("name", ["v100-pcie", "a100-80gb", "gtx-1060-6gb", "mi210"])
@pytest.mark.parametrize("warps", [2, 8])
def test_a_stream_loses_its_slots_to_dram(name: str, warps: int) -> None:
    """A load and a store a thread: DRAM is busy all the time, behind any launch."""
    device = load_device(name)
    steps = [
        Step(Pipeline.GLOBAL, (0,), (1,), sectors=16, bytes_per_lane=16),
        Step(Pipeline.GLOBAL, (1,), sectors=16, bytes_per_lane=16),
    ]
    sms, width = device.architecture.sm_count, device.architecture.warp_width
    timing = launch_timing(micro_kernel(steps, 1, warps, sms * 400, 32 // warps, width), device)
    assert share(timing, LAUNCH) < 0.02
    memory = (StallReason.DRAM_BANDWIDTH, StallReason.REQUESTS_DRAM, StallReason.DRAIN)
    assert share(timing, *memory, StallReason.L2_BANDWIDTH) > 0.9


def test_a_launch_that_nothing_hides_is_lost_to_it() -> None:
    """One warp after the other, each of 100 dependent instructions: the launches in between."""
    launch, _ = timing_facts(VOLTA)
    steps, thread_blocks = [Step(Pipeline.FP32, (0,), (0,))] * 100, 50
    kernel = micro_kernel(steps, 1, 1, 80 * thread_blocks, 1)
    timing = launch_timing(kernel, VOLTA, is_exact=True)
    assert timing.lost(LAUNCH) == pytest.approx((thread_blocks - 1) * launch, abs=thread_blocks)


def test_a_place_that_stores_keep_is_lost_to_them() -> None:
    """Each thread block ends with a store that is acknowledged after 1,000 cycles."""
    assert VOLTA.timing is not None
    device = replace(VOLTA, timing=replace(VOLTA.timing, store_retire_cycles=1000))
    steps = [Step(Pipeline.FP32, (0,), (0,)), Step(Pipeline.GLOBAL, (0,), sectors=1, l2_hits=1.0)]
    timing = launch_timing(micro_kernel(steps, 1, 1, 80 * 20, 1), device, is_exact=True)
    assert timing.lost(StallReason.DRAIN) == pytest.approx(19 * 1000, rel=0.05)
    launch, _ = timing_facts(device)
    assert timing.lost(LAUNCH) == pytest.approx(19 * launch, rel=0.02)


def test_a_store_waits_for_the_load_that_it_stores() -> None:
    """A move between them is folded; an addition would be what is waited for."""
    steps = [
        Step(Pipeline.GLOBAL, (0,), (1,)),
        Step(Pipeline.GLOBAL, (0,), (2,)),
        Step(Pipeline.NONE, (1,), (3,)),
        Step(Pipeline.GLOBAL, (3,)),
        Step(Pipeline.FP32, (2,), (4,)),
        Step(Pipeline.GLOBAL, (4,)),
    ]
    kernel = micro_kernel(steps, 1)
    is_store = np.array([False, False, False, True, False, True])
    assert (kernel.is_store == is_store).all()
    assert awaited_loads(kernel) == {3: 0, 4: 1}


def test_of_two_loads_the_later_one_is_waited_for() -> None:
    steps = [
        Step(Pipeline.GLOBAL, (0,), (1,)),
        Step(Pipeline.SHARED, (0,), (2,)),
        Step(Pipeline.FP32, (1, 2), (3,)),
    ]
    assert awaited_loads(micro_kernel(steps, 1)) == {2: 1}
    assert awaited_loads(micro_kernel([Step(Pipeline.FP32, (0,), (0,))], 5)) == {}
