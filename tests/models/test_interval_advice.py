"""What the advice of model `interval` says of cause and place."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.models.estimate import Advice
from kernelcast.models.interval.advice import explanation
from kernelcast.models.interval.relief import WAITS, never_waits, reliefs
from kernelcast.models.interval.shares import time_shares
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.traces.trace import InstructionRow

random_kernels: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "simcore/random_timing_kernels.py"))
)
DEVICE = load_device("v100-pcie")
SMS = DEVICE.architecture.sm_count
CHASE = micro_kernel(
    [Step(Pipeline.GLOBAL, (0,), (1,), sectors=1), Step(Pipeline.FP32, (1,), (0,))], 1000, 1, SMS
)


def advised(kernel: TimedKernel) -> tuple[Advice, ...]:
    timing = launch_timing(kernel, DEVICE)
    found = reliefs(kernel, DEVICE, timing)
    return explanation(kernel, timing, time_shares(timing)[0], found).advice


def row(pc: int, name: str) -> InstructionRow:
    return InstructionRow(
        pc=pc,
        opcode=name,
        mnemonic=name,
        unit="fp32",
        flops=0,
        kind="compute",
        basic_block=0,
        file="k.ptx",
        line=20 + pc,
        origin_file="src/k.cu",
        origin_line=7 + pc,
    )


def test_cause_place_and_gain() -> None:
    """The second instruction waits for the first one's load, in line 7 of the CUDA source."""
    rows = (row(0, "ld.global.f32"), row(1, "fma.rn.f32"))
    first = advised(replace(CHASE, instructions=rows))[0]
    line = str(first)
    assert "data of DRAM are waited for" in line
    assert "before k.cu:8 (fma.rn.f32, " in line
    assert ", for k.cu:7 (ld.global.f32))" in line
    assert line.endswith(" times as fast")
    assert first.where == ("src/k.cu:8",)
    assert f"{first.gain:.2f} times" in line


def test_a_kernel_without_a_source_has_a_cause_all_the_same() -> None:
    assert "data of DRAM are waited for; without memory latency" in str(advised(CHASE)[0])


def test_what_two_parts_wait_for_is_told_once() -> None:
    """Half of the places for warps are free: more of them would hide the latency, too."""
    kernel = replace(CHASE, thread_blocks=SMS * 4)
    found = advised(kernel)
    assert {"limits of occupancy", "memory latency"} <= {
        part
        for part in ("limits of occupancy", "memory latency")
        if f"without {part} " in str(found)
    }
    cause = "data of DRAM are waited for"
    assert sum(cause in str(item) for item in found) == 1


def test_the_tail_has_no_line() -> None:
    steps = [Step(Pipeline.FP32, (0,), (0,))]
    kernel = micro_kernel(steps, 50000, 1, SMS + 1)
    line = next(str(item) for item in advised(kernel) if "tail of the last wave" in str(item))
    assert "the last wave of thread blocks does not fill the SMs; without" in line
    assert 1.95 < float(line.rsplit(", ", 1)[1].split()[0]) <= 2.0


def test_one_sm_with_more_than_its_place_in_the_only_wave() -> None:
    steps = [Step(Pipeline.FP32, (0,), (0,))]
    kernel = micro_kernel(steps, 50000, 32, SMS + 1, 2)
    line = next(str(item) for item in advised(kernel) if "imbalance over SMs" in str(item))
    assert "some SMs run on while others have no thread block left; without" in line


@pytest.mark.parametrize("seeds", [range(at, at + 20) for at in (0, 20, 40)])
def test_without_what_nothing_waits_for_a_launch_takes_as_long(seeds: range) -> None:
    skipped = 0
    for seed in seeds:
        name, kernel = random_kernels.random_kernel(seed, waves=(1, 4))
        device = random_kernels.DEVICES[name]
        timing = launch_timing(kernel, device)
        for part in (*WAITS, Component.OUTSTANDING_REQUESTS):
            if never_waits(timing, part):
                skipped += 1
                assert launch_timing(kernel, device, frozenset((part,))).cycles == timing.cycles
    assert skipped > 40


def test_what_is_waited_for_is_simulated() -> None:
    """Multiply-adds wait for their lanes, loads for others to come."""
    adds = micro_kernel([Step(Pipeline.FP32, (0,), (1,))], 1000, 32, SMS)
    timing = launch_timing(adds, DEVICE)
    assert not never_waits(timing, Component.FP32)
    assert launch_timing(adds, DEVICE, frozenset((Component.FP32,))).cycles < timing.cycles
    loads = micro_kernel([Step(Pipeline.GLOBAL, (0,), (1,), l2_hits=0.5)], 100, 32, SMS)
    assert not never_waits(launch_timing(loads, DEVICE), Component.OUTSTANDING_REQUESTS)
