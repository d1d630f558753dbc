"""Sequences for divisions and roots: counts of the vendor's assembler, times by closed forms."""

from __future__ import annotations

import math
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.instruction_sequences import native_sequences
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

disassembler: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "disassembler.py"))
)
V100 = load_device("v100-pcie")


def statement(name: str, known: str = "") -> str:
    """One PTX instruction that has the sequence."""
    operands = "%x, %x, %y" if name.startswith(("div", "rem")) else "%x, %x"
    spelt = name.replace(".rn.u", ".u").replace(".rn.s", ".s")
    return f"{spelt} {operands.replace('%y', known or '%y')};"


def entry(label: str, name: str, times: int = 1, known: str = "") -> str:
    type_ = name.rpartition(".")[2]
    width, bits = f"b{type_[1:]}", int(type_[1:])
    return f""".visible .entry {label}(.param .u64 p) {{
  .reg .b64 %p, %o; .reg .b32 %t; .reg .{width} %x, %y;
  ld.param.u64 %p, [p]; cvta.to.global.u64 %p, %p;
  mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 8; add.s64 %p, %p, %o;
  ld.global.{width} %x, [%p]; ld.global.{width} %y, [%p+{bits // 8}];
  {statement(name, known) * times}
  st.global.{width} [%p], %x; ret;
}}
"""


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[Pipeline]]:
    """What the assembler makes of each instruction: all from the last load to the store."""
    names = list(native_sequences())
    kernels = "".join(entry(f"k{number}", name) for number, name in enumerate(names))
    text = f".version 7.0\n.target sm_80\n.address_size 64\n{kernels}"
    code = disassembler.disassembled(text, tmp_path_factory.mktemp("sequences"))
    found = {}
    for number, name in enumerate(names):
        way = list(disassembler.ordinary_way(code[f"k{number}"]))
        kinds = [item.kind for item in way]
        begin = len(way) - kinds[::-1].index("LDG")
        found[name] = Counter(item.pipeline for item in way[begin : kinds.index("STG")])
    return found


@pytest.mark.parametrize("name", native_sequences())
def test_a_sequence_has_the_instructions_of_the_assembler(
    name: str, assembled: dict[str, Counter[Pipeline]]
) -> None:
    assert Counter(item.pipeline for item in native_sequences()[name]) == assembled[name]


def timed(
    name: str,
    times: int,
    device: Device = V100,
    known: str = "",
    grid: int = 1,
    block: int = 32,
) -> TimedKernel:
    text = f".version 6.4\n.target sm_70\n.address_size 64\n{entry('k', name, times, known)}"
    data = np.full(1025, 3, np.uint64)
    trace = kc.load_ptx(text)["k"].run(
        grid=grid,
        block=block,
        args=[data],
        devices=[device.name],
        record_paths=True,
        code="as-written",
    )
    kernel = trace.profile(device).derived(timed_warps)
    assert kernel is not None
    return kernel


def cycles_of_one(
    name: str, device: Device = V100, grid: int = 1, block: int = 32
) -> tuple[float, float]:
    """Cycles and instructions that one more takes; few, so that the instruction cache holds all."""
    few, many = (launch_timing(timed(name, n, device, "", grid, block), device) for n in (5, 25))
    return (many.cycles - few.cycles) / 20, (many.issued - few.issued) / 20


def latency(pipeline: Pipeline) -> int:
    assert V100.timing is not None
    if pipeline is Pipeline.WAIT:
        return 1
    if pipeline is Pipeline.BRANCH:
        return math.ceil(V100.timing.branch_latency_cycles)
    cycles: float = getattr(V100.timing, pipeline.value).latency_cycles
    return math.ceil(cycles)


def busy(pipeline: Pipeline) -> float:
    """Cycles in which a scheduler of the V100 sends no other warp to the unit."""
    assert V100.timing is not None
    if pipeline in (Pipeline.BRANCH, Pipeline.WAIT):
        return latency(pipeline)
    lanes: float = getattr(V100.timing, pipeline.value).lanes
    return max(1.0, 32 * V100.sm.warp_schedulers / lanes)


@pytest.mark.parametrize("name", ["div.rn.f32", "div.rn.f64", "sqrt.rn.f32", "div.s32", "rem.u32"])
def test_a_chain_takes_the_latencies_of_its_links(name: str) -> None:
    """One warp takes the latencies of a chain.

    What stands beside the chain is issued while it waits, or its unit is busy with it first; the
    branch at the end comes when the result is there.
    """
    links = native_sequences()[name]
    chain = sum(latency(item.pipeline) for item in links if item.in_chain)
    beside = sum(busy(item.pipeline) for item in links if not item.in_chain)
    cycles, issued = cycles_of_one(name)
    assert issued == len(links)
    assert chain <= cycles <= chain + beside


@pytest.mark.parametrize("device", ["quadro-rtx-4000", "gtx-1070", "l40"])
def test_divisions_of_many_warps_fill_a_narrow_unit(device: str) -> None:
    """Eight multiply-adds and multiplications in double precision each."""
    gpu = load_device(device)
    assert gpu.timing is not None
    sms, warps = gpu.architecture.sm_count, 32
    cycles, _ = cycles_of_one("div.rn.f64", gpu, grid=sms, block=32 * warps)
    busy = 8 * warps * 32 / gpu.timing.fp64.lanes
    assert busy * 0.99 <= cycles <= busy * 1.05


@pytest.mark.drawn(16)
@pytest.mark.parametrize("name", native_sequences())
def test_an_instruction_has_the_sequence_of_its_name(name: str) -> None:
    """Every sequence in the table is that of some instruction."""
    kernel = timed(name, 1)
    sequence = [row.pc for row in kernel.instructions if row.sequence]
    assert {kernel.instructions[pc].sequence for pc in sequence} == {name}
    assert [kernel.pipeline[pc] for pc in sequence] == [
        item.pipeline for item in native_sequences()[name]
    ]


def test_a_known_divisor_takes_no_division() -> None:
    kernel = timed("rem.u32", 1, known="10")
    assert len(kernel.paths.pc) == len(timed("rem.u32", 1).paths.pc) - 16
    assert all(not row.sequence for row in kernel.instructions)


def test_paths_and_rows_grow_alike() -> None:
    """Every event of a sequence is of the division's line, with its lanes; other events stay."""
    kernel = timed("div.rn.f64", 2, grid=3, block=80)
    rows = kernel.instructions
    assert [row.pc for row in rows] == list(range(len(kernel.pipeline)))
    lines = Counter(rows[pc].line for pc in kernel.paths.pc.tolist() if rows[pc].sequence)
    warps = 3 * 3
    assert sum(lines.values()) == 2 * 16 * warps
    assert kernel.paths.start.tolist() == [
        warp * (len(kernel.paths.pc) // warps) for warp in range(warps + 1)
    ]
    last = kernel.paths.lanes[kernel.paths.start[2] : kernel.paths.start[3]]
    assert set(last.tolist()) == {16}
    assert len(kernel.wavefronts) == len(kernel.ideal_wavefronts) == len(kernel.paths.pc)


def test_what_reads_the_result_waits_for_the_whole_sequence() -> None:
    kernel = timed("div.rn.f64", 1)
    numbers = [row.pc for row in kernel.instructions if row.sequence]
    result = next(
        kernel.writes[number, 0]
        for number in reversed(numbers)
        if kernel.writes[number, 0] >= 0
        and native_sequences()["div.rn.f64"][number - numbers[0]].in_chain
    )
    store = next(row.pc for row in kernel.instructions if row.kind == "store")
    assert result in kernel.reads[store]
    assert all(result not in kernel.writes[number] for number in numbers[:-5])
