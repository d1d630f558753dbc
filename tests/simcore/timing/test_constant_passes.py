"""Reads of constants with several addresses beside a closed form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.simcore.timing.launch.launch_timing import launch_timing


@pytest.mark.parametrize("name", ["v100-pcie", "gtx-1070", "mi210"])
@pytest.mark.parametrize("pass_cycles", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("passes", [8, 32])
def test_each_address_takes_a_pass(name: str, pass_cycles: float, passes: int) -> None:
    """Independent reads of eight warps: all passes follow one another in the SM's one cache."""
    device = load_device(name)
    device = replace(device, constant=replace(device.constant, pass_cycles=pass_cycles))
    steps = [
        Step(Pipeline.CONSTANT, writes=(register,), passes=float(passes)) for register in range(8)
    ]
    kernel = micro_kernel(
        steps,
        trips=10,
        warps=8,
        thread_blocks=device.architecture.sm_count,
        warp_width=device.architecture.warp_width,
    )
    expected = 8 * 10 * 8 * passes * pass_cycles
    assert launch_timing(kernel, device).cycles == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("name", known_devices())
def test_every_device_says_how_long_a_pass_takes(name: str) -> None:
    assert "constant.pass_cycles" in load_device(name).provenance
