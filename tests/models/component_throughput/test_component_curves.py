"""Throughputs over warps and over launches: Zhang and Owens' sections 4 and 5.1, closed forms."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.component_throughput.component_facts import COMPONENTS
from kernelcast.models.component_throughput.curves import (
    global_bandwidth,
    instruction_throughput,
    lanes,
    shared_bandwidth,
    wavefront_bytes,
)
from kernelcast.models.component_throughput.saturation import fit_saturation
from kernelcast.models.component_throughput.stage_profile import InstructionType
from kernelcast.simcore.device.file import known_devices, load_device

PAPERS = Path(__file__).resolve().parents[3] / "validation" / "papers"
DEVICE = load_device("gtx-285")


def table(name: str) -> list[dict[str, str]]:
    with (PAPERS / f"zhang_owens_{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


FACTS = {row["id"]: row["value"] for row in table("facts")}


@pytest.mark.parametrize("name", ["instr_throughput", "shared_bw"])
def test_points_at_6_and_32_warps_predict_16(name: str) -> None:
    six, sixteen, thirty_two = (float(FACTS[f"{name}_{warps}"]) for warps in (6, 16, 32))
    fit = fit_saturation(np.array([6.0, 32.0]), np.array([six, thirty_two]))
    assert fit.at(16.0) == pytest.approx(sixteen, rel=0.02)


@pytest.mark.parametrize("warps", [6, 16, 32])
def test_the_device_has_the_papers_throughputs(warps: int) -> None:
    instructions = instruction_throughput(DEVICE, InstructionType.II).at(warps)
    assert instructions / 1e9 == pytest.approx(float(FACTS[f"instr_throughput_{warps}"]), rel=0.01)
    shared = shared_bandwidth(DEVICE).at(warps)
    assert shared / 1e9 == pytest.approx(float(FACTS[f"shared_bw_{warps}"]), rel=0.01)


def test_peaks_are_those_of_section_4() -> None:
    """The paper rounds the clock of 1.476 GHz to 1.48."""
    cycles_per_s = DEVICE.architecture.sm_count * 1.48e9
    peak = lanes(DEVICE, InstructionType.II) * cycles_per_s / DEVICE.architecture.warp_width
    assert peak / 1e9 == pytest.approx(float(FACTS["peak_mad_instr"]), abs=0.05)
    assert peak * 32 * 2 / 1e9 == pytest.approx(float(FACTS["peak_gflops"]), rel=1e-3)
    shared = lanes(DEVICE, InstructionType.II) * cycles_per_s * DEVICE.shared.bank_bytes
    assert shared / 1e9 == pytest.approx(float(FACTS["peak_shared_bw"]), rel=1e-3)
    assert DEVICE.dram.bandwidth_bytes_per_s / 1e9 == pytest.approx(2.484 * 512 / 8, rel=1e-3)


def test_functional_units_are_those_of_table_1() -> None:
    for row in table("table_1_instruction_types"):
        assert lanes(DEVICE, InstructionType(row["type"])) == float(row["functional_units_per_sm"])


def test_types_share_the_rate_of_one_warp_and_differ_in_their_ceilings() -> None:
    curves = {kind: instruction_throughput(DEVICE, kind) for kind in InstructionType}
    many = {kind: curve.at(1e6) for kind, curve in curves.items()}
    assert many[InstructionType.I] / many[InstructionType.II] == pytest.approx(10 / 8, rel=1e-3)
    assert many[InstructionType.IV] / many[InstructionType.II] == pytest.approx(1 / 8, rel=1e-3)
    one = curves[InstructionType.II].at(1.0)
    assert curves[InstructionType.I].at(1.0) == pytest.approx(one)
    assert one == pytest.approx(curves[InstructionType.II].at(6.0) / 6, rel=1e-6)


def test_global_bandwidth_has_the_teeth_of_figure_3() -> None:
    """Teeth have a period of 10 clusters near the peak; far below it thread blocks count."""
    benchmark = global_bandwidth(DEVICE)
    assert benchmark.clusters == 10

    def rate(thread_blocks: int, transactions: float) -> float:
        return benchmark.bytes_per_s(thread_blocks, 256, transactions)

    for full in (20, 40, 80):
        assert rate(full + 1, 4e4) < rate(full, 4e4)
        assert rate(full + 10, 4e4) == pytest.approx(rate(full, 4e4), rel=0.01)
    teeth = [rate(full, 4e4) - rate(full + 1, 4e4) for full in (20, 40, 80)]
    assert teeth == sorted(teeth, reverse=True)
    assert rate(10, 4) == pytest.approx(2 * rate(5, 4))
    assert rate(20, 0.25) == pytest.approx(2 * rate(10, 0.25), rel=0.02)


def test_a_device_without_curves_has_one_instruction_of_a_warp_at_a_time() -> None:
    device = load_device("v100-pcie")
    timing = device.timing
    assert timing is not None
    curve = instruction_throughput(device, InstructionType.II)
    cycles_per_s = device.architecture.sm_count * device.architecture.clock_hz
    assert curve.at(1.0) == pytest.approx(cycles_per_s / timing.fp32.latency_cycles, rel=1e-6)
    assert curve.at(64.0) == pytest.approx(cycles_per_s * device.sm.fp32_lanes / 32, rel=1e-6)
    assert "assumed" in curve.basis


def test_a_type_without_units_does_not_apply() -> None:
    facts = DEVICE.section(COMPONENTS)
    assert facts is not None
    device = DEVICE.with_section(COMPONENTS, replace(facts, type_4_lanes=0))
    with pytest.raises(ModelNotApplicable, match="no units for instructions of type IV"):
        instruction_throughput(device, InstructionType.IV)


@pytest.mark.parametrize("name", known_devices())
def test_every_device_has_rising_finite_curves(name: str) -> None:
    device = load_device(name)
    kinds = [kind for kind in InstructionType if lanes(device, kind)]
    for curve in (shared_bandwidth(device), *(instruction_throughput(device, k) for k in kinds)):
        values = [curve.at(float(warps)) for warps in range(1, device.sm.max_warps + 1)]
        assert 0 < values[0] < float("inf")
        assert values == sorted(values)
    assert wavefront_bytes(device) > 0
    assert global_bandwidth(device).bytes_per_s(1, 32, 4.0) > 0
