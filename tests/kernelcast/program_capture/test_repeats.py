"""Launches that repeat: executed each time, estimated when something may have changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelcast.api import estimate, load_ptx
from kernelcast.program_capture import launches as launches_module
from kernelcast.program_capture.code import Function
from kernelcast.program_capture.launches import Launches
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.protocol import LaunchRequest
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.launch.device_memory import DeviceMemory
from tests.drawn_cases import ALL_CASES

INCREMENT = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry increment(.param .u64 data, .param .u32 by)
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r4, [by];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3]; add.s32 %r5, %r5, %r4; st.global.u32 [%rd3], %r5;
  ret;
}
"""
COUNT = 1 << 14


def launches(
    memory: DeviceMemory, *, every: bool = False, is_fast: bool = False
) -> tuple[Launches, Function, LaunchRequest]:
    """Something to launch `increment` with."""
    kernel = load_ptx(INCREMENT)["increment"]
    function = Function(1, 1, kernel, Path("increment.ptx"))
    chosen = CaptureOptions(code="source", every=every, is_fast=is_fast)
    request = LaunchRequest(1, (COUNT // 128, 1, 1), (128, 1, 1), 0, 0, None, False)
    return Launches([load_device("v100-pcie")], memory, chosen), function, request


def parameters(address: int, by: int) -> bytes:
    return address.to_bytes(8, "little") + by.to_bytes(4, "little")


def test_repeats_are_executed_and_checked_at_times_that_grow() -> None:
    memory = DeviceMemory()
    data = memory.allocate(4 * COUNT, "data")
    made, function, request = launches(memory)
    found = []
    for _ in range(200):
        before = made.estimated
        made.make(function, request, parameters(data.address, 3))
        found.append(made.estimated - before)
    assert [number + 1 for number, new in enumerate(found) if new] == [1, 2, 16, 128]
    assert (memory.read(data, COUNT, np.uint32) == 600).all()


def test_every_launch_is_estimated_when_asked_for() -> None:
    memory = DeviceMemory()
    data = memory.allocate(4 * COUNT, "data")
    made, function, request = launches(memory, every=True)
    for _ in range(5):
        made.make(function, request, parameters(data.address, 1))
    assert made.estimated == 5


def test_repeats_are_not_executed_when_nobody_needs_them() -> None:
    memory = DeviceMemory()
    data = memory.allocate(4 * COUNT, "data")
    made, function, request = launches(memory, is_fast=True)
    times = [made.make(function, request, parameters(data.address, 1)).seconds for _ in range(20)]
    assert (made.estimated, made.skipped) == (3, 17)  # the first, the second and the 16th
    assert (memory.read(data, COUNT, np.uint32) == 3).all()
    assert times[2] == times[1]


def test_launches_of_many_parameters_stand_for_each_other_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = launches_module._MOST_VARIANTS if ALL_CASES else 8
    monkeypatch.setattr(launches_module, "_MOST_VARIANTS", most)
    memory = DeviceMemory()
    data = memory.allocate(4 * COUNT, "data")
    made, function, request = launches(memory)
    count = most + 32
    for by in range(count):
        made.make(function, request, parameters(data.address, by))
    assert made.estimated == most + 32 // 8
    assert (memory.read(data, COUNT, np.uint32) == count * (count - 1) // 2).all()


def test_the_second_launch_finds_what_the_first_left() -> None:
    memory = DeviceMemory()
    data = memory.allocate(4 * COUNT, "data")
    made, function, request = launches(memory)
    device = load_device("v100-pcie")
    first, second = (
        made.make(function, request, parameters(data.address, 1)).seconds[0] for _ in range(2)
    )
    alone = {
        caches: estimate(
            function.kernel.run(
                grid=request.grid,
                block=request.block,
                args=[data, 1],
                memory=memory,
                devices=[device],
                code="source",
                caches=caches,
            ).profile(device)
        ).time_s
        for caches in ("cold", "warm")
    }
    assert first == alone["cold"]
    assert second == pytest.approx(alone["warm"], rel=1e-9)
    assert second < first
