"""Latency chains: the slope on a clock of known latencies, and the machine code of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import InputError
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.cubins import cubin_module
from kernelcast.inputs.native.tools import toolset
from kernelcast.measuring.accelerator import BuiltKernel, DeviceLost, MeasuringError
from kernelcast.measuring.chains import timing
from kernelcast.measuring.chains.machine import chain_machine, with_machine
from kernelcast.measuring.chains.operations import CHAINS, LENGTHS, Chain
from kernelcast.measuring.chains.ptx import MEMORY_BYTES, chain_kernel, chain_ptx
from kernelcast.measuring.chains.timing import measure_latencies
from kernelcast.measuring.machine_code import LoadedCode
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.profile.machine_counts import machine_counts
from kernelcast.traces.trace import Trace
from kernelcast.validation.latency_chains import (
    ChainLine,
    ChainMachine,
    ChainPoint,
    MeasuredChain,
)
from kernelcast.validation.measured_times import DRIVER_CODE, Api
from tests.validation.clocked_device import OVERHEAD, ClockedDevice, latency

BY_NAME = {chain.name: chain for chain in CHAINS}


def as_ptx(monkeypatch: Any) -> None:
    """Lets every chain be loaded as PTX, as where no assembler is."""
    monkeypatch.setattr(
        timing, "assembled_code", lambda text, *_: (LoadedCode(text.encode(), DRIVER_CODE), "none")
    )


def test_the_slope_is_the_latency_of_a_step(monkeypatch: Any) -> None:
    as_ptx(monkeypatch)
    found = measure_latencies(ClockedDevice(Api.CUDA))
    assert not found.failures
    assert [item.name for item in found.chains] == [chain.name for chain in CHAINS]
    for item in found.chains:
        known = sum(latency(text) for text in BY_NAME[item.name].step)
        assert item.line.cycles_per_step == pytest.approx(known), item.name
        assert item.line.offset == pytest.approx(OVERHEAD)
        assert item.line.residual == pytest.approx(0, abs=1e-9)
        assert [point.steps for point in item.points] == list(LENGTHS)
        assert item.machine is None
    assert found.remarks == ("loaded as PTX: none",)


def test_a_line_is_that_of_least_squares() -> None:
    points = [ChainPoint(8, 50), ChainPoint(16, 83), ChainPoint(32, 148), ChainPoint(64, 270)]
    line = ChainLine.through(points)
    slope, offset = np.polyfit([p.steps for p in points], [p.cycles for p in points], 1)
    assert (line.cycles_per_step, line.offset) == pytest.approx((slope, offset))
    away = [abs(p.cycles - slope * p.steps - offset) for p in points]
    assert line.residual == pytest.approx(max(away))


def test_a_chain_that_fails_is_named_and_the_rest_goes_on(monkeypatch: Any) -> None:
    as_ptx(monkeypatch)
    device = ClockedDevice(Api.CUDA)
    build = device.build

    def broken(source: bytes, entry: str, options: Any = ()) -> BuiltKernel:
        if b"popc" in source:
            raise MeasuringError("no popc\nsecond line")
        return build(source, entry)

    monkeypatch.setattr(device, "build", broken)
    found = measure_latencies(device, [BY_NAME["popc"], BY_NAME["fma.f32"]])
    assert [(item.name, item.error) for item in found.failures] == [("popc", "no popc")]
    assert [item.name for item in found.chains] == ["fma.f32"]
    assert device.buffers_in_use == 0


def test_a_clock_that_stands_still_measures_nothing(monkeypatch: Any) -> None:
    as_ptx(monkeypatch)
    device = ClockedDevice(Api.CUDA)
    monkeypatch.setattr(device, "execute", lambda _launch: None)
    found = measure_latencies(device, [BY_NAME["popc"]])
    assert found.failures[0].error == "8 steps took 0 cycles"
    assert device.buffers_in_use == 0


def test_a_lost_device_ends_it(monkeypatch: Any) -> None:
    as_ptx(monkeypatch)
    device = ClockedDevice(Api.CUDA)

    def fail(_launch: object) -> None:
        raise DeviceLost("gone")

    monkeypatch.setattr(device, "execute", fail)
    with pytest.raises(DeviceLost):
        measure_latencies(device, [BY_NAME["popc"]])


# --- what the kernels compute ---------------------------------------------------------------------


def launched(kernel: Kernel, chain: Chain, rounds: int = 1) -> tuple[Trace, bytes]:
    """The trace, and memory after the launch."""
    cycles = np.zeros(rounds, np.int64)
    memory = np.zeros(MEMORY_BYTES, np.uint8)
    values = np.frombuffer(chain.values, np.uint8)
    memory[: values.size] = values
    launch = Launch((1, 1, 1), (32, 1, 1), (cycles, memory, np.uint32(rounds)))
    return execute(kernel, launch, engine="reference"), memory.tobytes()


def kernels_of(chain: Chain) -> list[Kernel]:
    """The kernels of the two shortest chains."""
    module = read_ptx(chain_ptx(chain), "chain.ptx")
    return [module.kernels[chain_kernel(length)] for length in LENGTHS[:2]]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: str(chain.name))
def test_every_chain_executes_its_steps(chain: Chain) -> None:
    short, long = (launched(kernel, chain)[0] for kernel in kernels_of(chain))
    more = int(long.classes.totals()[0].sum() - short.classes.totals()[0].sum())
    assert more == len(chain.step) * (LENGTHS[1] - LENGTHS[0])


def test_each_step_takes_the_result_of_the_one_before() -> None:
    chain = BY_NAME["fma.f32"]
    _, memory = launched(kernels_of(chain)[0], chain, rounds=2)
    x = np.float32(chain.start)
    operands = np.array(chain.operands, np.float32)
    for number in range(2 * LENGTHS[0]):
        y, z = operands[2 * number % 4], operands[(2 * number + 1) % 4]
        x = np.float32(np.float64(x) * np.float64(y) + np.float64(z))
    assert np.frombuffer(memory[:4], np.float32)[0] == x


def test_loads_follow_an_address_to_itself() -> None:
    for name in ("ld.shared", "ld.global.ca", "ld.global.cg"):
        _, memory = launched(kernels_of(BY_NAME[name])[0], BY_NAME[name])
        address = int.from_bytes(memory[:8], "little")
        if "global" in name:
            assert int.from_bytes(memory[40:48], "little") == address
            assert address != 0


# --- machine code ---------------------------------------------------------------------------------

TWO_THAT_WAIT: Mapping[str, Mapping[str, float]] = {
    "fma.f32": {"FFMA -> FFMA": 1},
    "add.u32": {"IADD3 -> IADD3": 0.5},
    "clz": {"FLO.U32 -> IADD3": 1, "IADD3 -> FLO.U32": 1},
    "setp+guarded": {"ISETP.NE.U32.AND -> LOP3.LUT": 1, "LOP3.LUT -> ISETP.NE.U32.AND": 1},
    "mad.wide.u32": {
        "IMAD.WIDE.U32 -> IADD3": 1,
        "IADD3 -> IADD3.X": 0.5,
        "IADD3.X -> IMAD.WIDE.U32": 0.5,
        "IADD3 -> IMAD.X": 0.5,
        "IMAD.X -> IMAD.WIDE.U32": 0.5,
    },
    "bar.sync": {"BAR.SYNC.DEFER_BLOCKING -> BAR.SYNC.DEFER_BLOCKING": 1},
    "ld.shared": {"LDS -> LDS": 1},
}
"""What ptxas makes of a step for sm_80, as its listing shows."""
needs_assembler = pytest.mark.skipif(toolset(80) is None, reason="no assembler; CI has it")


@pytest.mark.drawn(4)
@needs_assembler
@pytest.mark.parametrize("name", TWO_THAT_WAIT)
def test_a_step_has_the_instructions_that_execute(name: str) -> None:
    """Executing the machine code counts them another way: over the whole launch."""
    chain = BY_NAME[name]
    text = chain_ptx(chain)
    cubin = assemble(text, "sm_80", "chain")
    machine = chain_machine(text, cubin, "sm_80", is_loaded=False)
    assert machine.pairs == TWO_THAT_WAIT[name]
    module = cubin_module(cubin, "chain.cubin")
    counts = [
        machine_counts(launched(module.kernels[chain_kernel(length)], chain)[0])
        for length in LENGTHS[-2:]
    ]
    short, long = (item.by_opcode for item in counts if item is not None)
    more = {opcode: long[opcode] - short.get(opcode, 0) for opcode in long}
    executed = {o: n / (LENGTHS[-1] - LENGTHS[-2]) for o, n in more.items() if n}
    assert executed == machine.opcodes


@needs_assembler
def test_machine_code_is_what_is_timed() -> None:
    device = ClockedDevice(Api.CUDA)  # of capability 8.0
    found = measure_latencies(device, [BY_NAME["fma.f32"], BY_NAME["add.u32"]])
    assert not found.remarks
    fma, add = found.chains
    assert fma.machine is not None
    assert (fma.machine.architecture, fma.machine.is_loaded) == ("sm_80", True)
    assert fma.pair_cycles == {"FFMA -> FFMA": pytest.approx(9)}
    assert add.pair_cycles == {"IADD3 -> IADD3": pytest.approx(18)}  # two numbers at once


@needs_assembler
def test_stalls_of_dependent_instructions_are_known_latencies() -> None:
    """4 cycles for arithmetic on Volta and newer, measured by Jia et al., 2018, table 4.1."""
    text = chain_ptx(BY_NAME["fma.f32"])
    machine = chain_machine(text, assemble(text, "sm_80", "chain"), "sm_80", is_loaded=False)
    assert machine.stall_cycles == 4


@needs_assembler
def test_machine_code_is_added_where_it_was_not_known(monkeypatch: Any) -> None:
    device = ClockedDevice(Api.CUDA)
    with monkeypatch.context() as patched:
        as_ptx(patched)
        before = measure_latencies(device, [BY_NAME["fma.f32"]])
    (chain,) = with_machine(before, device.facts).chains
    assert chain.machine is not None
    assert not chain.machine.is_loaded
    assert chain.pair_cycles == {"FFMA -> FFMA": pytest.approx(4)}
    nothing = replace(device.facts, compute_capability=None)
    assert with_machine(before, nothing) == before


@needs_assembler
def test_a_chain_that_is_folded_away_is_not_taken_for_one() -> None:
    """Machine code with another number of readings of the clock is refused by name."""
    text = chain_ptx(BY_NAME["popc"])
    once = text.replace("mov.u64 end, %clock64;", "mov.u64 end, 0;")
    cubin = assemble(once, "sm_80", "chain")
    with pytest.raises(InputError, match="reads the clock 1 times, not twice"):
        chain_machine(once, cubin, "sm_80", is_loaded=True)


# --- cycles by pair -------------------------------------------------------------------------------


def chain_of(pairs: Mapping[str, float], cycles: float) -> MeasuredChain:
    machine = ChainMachine("sm_80", {}, pairs, None, is_loaded=True)
    points = (ChainPoint(8, 40), ChainPoint(16, 72))
    return MeasuredChain("x", points, ChainLine(cycles, 0.0, 0.0), machine)


@pytest.mark.parametrize(
    ("pairs", "cycles", "found"),
    [
        ({"FFMA -> FFMA": 1.0}, 4.0, {"FFMA -> FFMA": 4.0}),
        ({"IADD3 -> IADD3": 0.5}, 2.0, {"IADD3 -> IADD3": 4.0}),
        ({"A -> B": 1.0, "B -> A": 1.0}, 9.0, {"A -> B + B -> A": 9.0}),
        ({"A -> B": 0.5, "A -> A": 1.0}, 6.0, {"A -> B + 2 x A -> A": 12.0}),
        ({}, 6.0, {}),
    ],
)
def test_cycles_are_told_by_pairs(
    pairs: Mapping[str, float], cycles: float, found: Mapping[str, float]
) -> None:
    assert chain_of(pairs, cycles).pair_cycles == found
