"""What the advice of model `interval` says of cause and place."""

from __future__ import annotations

from dataclasses import replace

from micro_kernel import Step, micro_kernel

from kernelcast.models.interval.advice import advice
from kernelcast.models.interval.shares import time_shares
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.traces.trace import InstructionRow

DEVICE = load_device("v100-pcie")
SMS = DEVICE.architecture.sm_count
CHASE = micro_kernel(
    [Step(Pipeline.GLOBAL, (0,), (1,), sectors=1), Step(Pipeline.FP32, (1,), (0,))], 1000, 1, SMS
)


def advised(kernel: TimedKernel) -> tuple[str, ...]:
    timing = launch_timing(kernel, DEVICE)
    return advice(kernel, DEVICE, timing, time_shares(timing)[0])


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
    """The second instruction waits for the first one's load, in line 8 of the CUDA source."""
    rows = (row(0, "ld.global.f32"), row(1, "fma.rn.f32"))
    line = advised(replace(CHASE, instructions=rows))[0]
    assert "data of DRAM are waited for" in line
    assert "before k.cu:8 (fma.rn.f32, " in line
    assert line.endswith(" times as fast")


def test_a_kernel_without_a_source_has_a_cause_all_the_same() -> None:
    assert "data of DRAM are waited for; without memory latency" in advised(CHASE)[0]


def test_imbalance_has_no_line() -> None:
    steps = [Step(Pipeline.FP32, (0,), (0,))]
    kernel = micro_kernel(steps, 50000, 1, SMS + 1)
    line = next(line for line in advised(kernel) if "imbalance over SMs" in line)
    assert "some SMs run on while others have no thread block left; without" in line
    assert 1.95 < float(line.rsplit(", ", 1)[1].split()[0]) <= 2.0
