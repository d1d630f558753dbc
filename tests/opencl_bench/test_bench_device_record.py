"""The device file of a synthetic device whose throughputs, caches and latencies are known."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.errors import BenchmarkError, ModelNotApplicable
from kernelcast.models.quantitative_roofline.equations import instruction_weights
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.device_file.basis import power_of_two_above
from kernelcast.opencl_bench.device_file.observations import quantity
from kernelcast.opencl_bench.device_file.record import (
    device_file_text,
    missing_for_device,
    write_device_file,
)
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Measurement, Unit
from kernelcast.opencl_bench.session import Outcome, Session, State
from kernelcast.opencl_bench.target import DeviceFacts, Feature
from kernelcast.simcore.device.checks import is_quantity
from kernelcast.simcore.device.device import Device, Source
from kernelcast.simcore.device.file import load_observations
from kernelcast.simcore.profile.profile import WorkType

Output = Callable[..., str]

CLOCK_HZ = 2e9
CORES = 4
KIB, MIB = 1 << 10, 1 << 20
STEP = 2**0.5
"""The factor between neighbouring footprints."""
CAPACITIES = (32 * KIB, 512 * KIB, 16 * MIB)
LATENCIES_S = (2e-9, 7e-9, 25e-9, 90e-9)
READ_RATES = (400e9, 200e9, 90e9, 30e9)
CPU = DeviceFacts(
    name='A "processor"',
    vendor="nobody",
    platform="synthetic",
    driver="OpenCL 3.0",
    is_cpu=True,
    compute_units=CORES,
    clock_hz=CLOCK_HZ,
    global_bytes=8 << 30,
    max_buffer_bytes=2 << 30,
    local_bytes=256 * KIB,
    constant_bytes=64 * KIB,
    cache_bytes=16 * MIB,
    cache_line_bytes=64,
    max_work_group=4096,
    preferred_work_group_multiple=8,
    features=frozenset(Feature),
    llvm_float_width=8,
)
GPU = replace(CPU, is_cpu=False, max_work_group=256, preferred_work_group_multiple=64)
FIGURES = {
    "fp32_multiply_add_throughput": 240e9,  # 15 of 16 lanes x 2 x 4 x 2 GHz
    "fp64_multiply_add_throughput": 120e9,
    "int32_multiply_add_throughput": 60e9,
    "int32_add_throughput": 110e9,
    "local_load_store_throughput": 50e9,
}
BANDWIDTHS = {
    "global_read_bandwidth": 30e9,
    "global_write_bandwidth": 18e9,
    "global_copy_bandwidth": 24e9,
    "global_triad_bandwidth": 26e9,
}


def _level(footprint: float, levels: tuple[float, ...]) -> float:
    return levels[sum(footprint > capacity for capacity in CAPACITIES)]


def _curve(name: str, levels: tuple[float, ...], unit: Unit) -> Curve:
    footprints = [1024 * STEP**step for step in range(36)]
    points = tuple(CurvePoint(x, _level(x, levels), 0.01) for x in footprints)
    return Curve(name, "footprint", Unit.BYTES, "rate", unit, points, "synthetic")


def _points(name: str, points: list[tuple[float, float]]) -> Curve:
    values = tuple(CurvePoint(x, y, 0.0) for x, y in points)
    unit = Unit.OPERATIONS_PER_S
    return Curve(name, "x", Unit.RATIO, "y", unit, values, "synthetic")


def _findings() -> list[Finding]:
    return [
        *(
            Measurement(name, value, Unit.OPERATIONS_PER_S, 0.02, 7, "a chain.")
            for name, value in FIGURES.items()
        ),
        *(
            Measurement(name, value, Unit.BYTES_PER_S, 0.02, 7, "a stream")
            for name, value in BANDWIDTHS.items()
        ),
        Measurement("barrier_cost", 3e-7, Unit.SECONDS, 0.2, 5, "two loops"),
        _curve("chase_latency_over_footprint", LATENCIES_S, Unit.SECONDS),
        _curve("read_bandwidth_over_footprint", READ_RATES, Unit.BYTES_PER_S),
    ]


def _session(facts: DeviceFacts = CPU, *without: str) -> Session:
    findings = tuple(item for item in _findings() if item.name not in without)
    benchmark = Benchmark("all", "all", lambda target, effort: findings)
    outcome = Outcome(benchmark, State.MEASURED, findings, date="2031-05-06")
    return Session(facts, Effort.QUICK, (outcome,))


@pytest.fixture
def cpu(tmp_path: Path) -> Device:
    return write_device_file(_session(), tmp_path / "my-cpu.toml")


def test_the_six_throughputs_are_those_of_the_thesis(cpu: Device) -> None:
    assert cpu.measured is not None
    assert cpu.measured.fp32_ops_per_s == 240e9
    assert cpu.measured.fp64_ops_per_s == 120e9
    assert cpu.measured.int_ops_per_s == 60e9
    assert cpu.measured.add_ops_per_s == 110e9
    assert cpu.measured.load_store_ops_per_s == 50e9
    assert cpu.measured.dram_bandwidth_bytes_per_s == pytest.approx((30e9 + 18e9 + 24e9) / 3)
    assert cpu.throughputs == "measured"


def test_a_reference_names_method_spread_and_date(cpu: Device) -> None:
    reference = cpu.provenance["measured.fp32_ops_per_s"].reference
    assert reference == "a chain; 7 samples, spread 2.0%; 2031-05-06"
    mean = cpu.provenance["measured.dram_bandwidth_bytes_per_s"].reference
    assert all(name in mean for name in list(BANDWIDTHS)[:3])


def test_cores_are_sms_and_lanes_are_what_the_throughput_needs(cpu: Device) -> None:
    assert cpu.architecture.sm_count == CORES
    assert cpu.architecture.warp_width == CPU.llvm_float_width
    assert (cpu.sm.fp32_lanes, cpu.sm.fp64_lanes) == (16, 8)
    assert cpu.peak.fp32_flops_per_s == 16 * 2 * CORES * CLOCK_HZ
    assert cpu.sm.max_thread_blocks == 1
    assert cpu.title == CPU.name


def test_private_and_last_cache_of_a_cpu(cpu: Device) -> None:
    assert cpu.l1 is not None
    assert 1 / STEP <= cpu.l1.capacity_bytes / CAPACITIES[1] <= STEP
    assert 1 / STEP <= cpu.l2.capacity_bytes / CAPACITIES[2] <= STEP
    assert cpu.l2.sector_bytes == cpu.l2.line_bytes == 64
    assert cpu.provenance["l2.capacity_bytes"].source is Source.MEASURED


def test_a_gpu_has_its_nearest_cache_as_l1(tmp_path: Path) -> None:
    gpu = write_device_file(_session(GPU), tmp_path / "my-gpu.toml")
    assert gpu.l1 is not None
    assert 1 / STEP <= gpu.l1.capacity_bytes / CAPACITIES[0] <= STEP
    assert gpu.architecture.warp_width == 64
    assert gpu.sm.max_threads_per_thread_block == 256
    assert "sm.registers" in gpu.assumed


def test_observations_hold_all_other_figures(cpu: Device, tmp_path: Path) -> None:
    found = {item.quantity: item.value for item in load_observations(tmp_path / "my-cpu.toml")}
    assert found["barrier_cost_s"] == 3e-7
    assert found["dram_triad_bandwidth_bytes_per_s"] == 26e9
    for name, latency in zip(("l1", "l2", "dram"), LATENCIES_S[1:], strict=True):
        assert found[f"{name}_latency_cycles"] == pytest.approx(latency * CLOCK_HZ, rel=0.02)
    assert found["cache_level_1_latency_s"] == pytest.approx(LATENCIES_S[0], rel=0.02)
    noisy = [i for i in load_observations(tmp_path / "my-cpu.toml") if "NOISY" in str(i.provenance)]
    assert [item.quantity for item in noisy] == ["barrier_cost_s"]


def _with(*extra: Finding) -> Session:
    session = _session()
    outcome = session.outcomes[0]
    more = replace(outcome, findings=(*outcome.findings, *extra))
    return replace(session, outcomes=(more,))


def test_figures_of_plain_work_items_are_the_thesis_throughputs(tmp_path: Path) -> None:
    """Figures of explicit vectors stay the peak, also those measured of vectors only."""
    plain = Measurement(
        "work_item_fp32_multiply_add_throughput", 20e9, Unit.OPERATIONS_PER_S, 0.0, 7, "scalars"
    )
    cpu = write_device_file(_with(plain), tmp_path / "scalar.toml")
    assert cpu.measured is not None
    assert cpu.measured.fp32_ops_per_s == 20e9
    assert cpu.measured.fp64_ops_per_s == 120e9
    assert cpu.peak.fp32_flops_per_s == 16 * 2 * CORES * CLOCK_HZ
    assert cpu.ceilings["work_item_fp32_multiply_add_throughput_ops_per_s"] == 20e9
    assert cpu.ceilings["fp32_multiply_add_throughput_ops_per_s"] == 240e9


def test_b_mem_is_that_of_plain_work_items(tmp_path: Path) -> None:
    """The best streams stay the bandwidth of the memory."""
    plain = [
        Measurement(f"work_item_{name}", rate / 2, Unit.BYTES_PER_S, 0.0, 7, "a word each")
        for name, rate in BANDWIDTHS.items()
    ]
    cpu = write_device_file(_with(*plain), tmp_path / "streams.toml")
    assert cpu.measured is not None
    assert cpu.measured.dram_bandwidth_bytes_per_s == pytest.approx((30e9 + 18e9 + 24e9) / 6)
    usual = write_device_file(_session(CPU), tmp_path / "usual.toml")
    assert cpu.dram.bandwidth_bytes_per_s == usual.dram.bandwidth_bytes_per_s


def test_work_items_that_beat_explicit_vectors_raise_the_lanes(tmp_path: Path) -> None:
    fast = Measurement(
        "work_item_fp32_multiply_add_throughput", 400e9, Unit.OPERATIONS_PER_S, 0.0, 7, "scalars"
    )
    assert write_device_file(_with(fast), tmp_path / "fast.toml").sm.fp32_lanes == 32


def test_ceilings_of_the_hierarchical_roofline(tmp_path: Path) -> None:
    rates = (200e9, 100e9, 50e9, 25e9)
    cpu = write_device_file(
        _with(
            _curve("work_item_bandwidth_over_footprint", rates, Unit.BYTES_PER_S),
            Measurement("local_bandwidth_128_bit", 250e9, Unit.BYTES_PER_S, 0.0, 7, "swaps"),
            *(
                Measurement(f"fp32_{name}_throughput", rate, Unit.OPERATIONS_PER_S, 0.0, 7, name)
                for name, rate in (("exp", 2e9), ("log", 4e9), ("sin", 4e9))
            ),
        ),
        tmp_path / "levels.toml",
    )
    assert cpu.ceilings["shared_bandwidth_bytes_per_s"] == 250e9  # wider than 4 x 50e9
    assert cpu.ceilings["special_function_throughput_ops_per_s"] == pytest.approx(3e9)
    found = {item.quantity: item.value for item in load_observations(tmp_path / "levels.toml")}
    near = found["work_item_l1_read_bandwidth_bytes_per_s"]
    assert rates[1] <= near <= rates[0]
    last = found["work_item_l2_read_bandwidth_bytes_per_s"]
    assert last == pytest.approx(rates[2])
    assert found["work_item_dram_read_bandwidth_bytes_per_s"] == rates[3]
    for number, capacity in enumerate(CAPACITIES, 1):
        knee = found[f"read_bandwidth_knee_{number}_bytes"]
        assert 1 / STEP <= knee / capacity <= STEP


def test_curves_come_back_as_they_were_measured(cpu: Device) -> None:
    curve = cpu.curves["chase_latency_over_footprint"]
    assert curve.x_unit == "bytes"
    assert curve.y_unit == "s"
    assert curve.x == pytest.approx([1024 * STEP**step for step in range(36)], rel=1e-5)
    assert curve.y[0] == LATENCIES_S[0]
    assert curve.y[-1] == LATENCIES_S[-1]
    assert curve.spread == (0.01,) * 36
    assert curve.provenance.source is Source.MEASURED


def test_show_prints_observations_and_curves(cpu: Device, tmp_path: Path, output: Output) -> None:
    path = str(tmp_path / "my-cpu.toml")
    record = json.loads(output("devices", "show", path, "--json"))
    values = {row["name"]: row for row in record["values"]}
    barrier = values["observed.barrier_cost_s"]
    assert (barrier["value"], barrier["unit"], barrier["source"]) == (3e-7, "s", "measured")
    assert values["measured.fp32_ops_per_s"]["unit"] == "op/s"
    chase = record["curves"][0]
    assert chase["name"] == "chase_latency_over_footprint"
    assert chase["points"][0] == [1024.0, LATENCIES_S[0], 0.01]
    text = output("devices", "show", path, "-v")
    assert "observed.barrier_cost_s" in text
    assert "chase_latency_over_footprint" in text


def test_parameters_of_models_are_fitted(tmp_path: Path) -> None:
    """A roofline of 100 Gop/s and 20 GB/s, and curves over warps that saturate at 4 and at once."""
    intensities = [2.0**n for n in range(-3, 8)]
    warps = [1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0]
    extra = (
        _points("fp32_throughput_over_intensity", [(x, min(100e9, 20e9 * x)) for x in intensities]),
        _points(
            "fp32_multiply_add_throughput_over_warps", [(x, 16e9 * min(x, 4.0)) for x in warps]
        ),
        _points("local_bandwidth_over_warps", [(x, 5e9) for x in warps]),
    )
    session = _session()
    outcome = session.outcomes[0]
    more = replace(outcome, findings=(*outcome.findings, *extra))
    write_device_file(replace(session, outcomes=(more,)), tmp_path / "fitted.toml")
    found = {item.quantity: item for item in load_observations(tmp_path / "fitted.toml")}
    assert found["roofline_fp32_ops_per_s"].value == pytest.approx(100e9, rel=0.02)
    assert found["roofline_fp32_bytes_per_s"].value == pytest.approx(20e9, rel=0.02)
    assert found["roofline_fp32_ridge_ratio"].value == pytest.approx(5.0, rel=0.03)
    assert found["roofline_fp32_ridge_ratio"].provenance.source is Source.DERIVED
    assert "roofline_fp64_ops_per_s" not in found
    throughput = found["saturated_instruction_throughput_ops_per_s"]
    assert throughput.value == pytest.approx(64e9 / 2 / CPU.llvm_float_width, rel=0.03)
    knees = [
        found[f"warps_that_saturate_{name}_count"].value
        for name in ("instruction_throughput", "shared_memory_bandwidth")
    ]
    assert knees == pytest.approx([4.0, 1.0], rel=0.05)


def test_levels_out_of_order_do_not_spoil_the_file(tmp_path: Path) -> None:
    session = _session(CPU, "read_bandwidth_over_footprint")
    slow_cache = _curve("read_bandwidth_over_footprint", (10e9,) * 4, Unit.BYTES_PER_S)
    outcome = session.outcomes[0]
    odd = replace(outcome, findings=(*outcome.findings, slow_cache))
    write_device_file(replace(session, outcomes=(odd,)), tmp_path / "odd.toml")
    found = {item.quantity for item in load_observations(tmp_path / "odd.toml")}
    assert "l2_read_bandwidth_bytes_per_s" not in found
    assert "cache_level_1_read_bandwidth_bytes_per_s" in found


def test_a_device_without_double_precision_loses_only_that(tmp_path: Path) -> None:
    facts = replace(GPU, features=frozenset())
    path = tmp_path / "single.toml"
    device = write_device_file(_session(facts, "fp64_multiply_add_throughput"), path)
    assert device.measured is not None
    assert (device.sm.fp64_lanes, device.measured.fp64_ops_per_s) == (0, 0.0)
    with pytest.raises(ModelNotApplicable, match="no fp64 operations"):
        instruction_weights(device.measured, WorkType.FP64)


def test_without_curves_the_driver_says_the_cache(tmp_path: Path) -> None:
    names = ("chase_latency_over_footprint", "read_bandwidth_over_footprint")
    device = write_device_file(_session(CPU, *names), tmp_path / "no-curves.toml")
    assert device.l1 is None
    assert device.l2.capacity_bytes == CPU.cache_bytes
    assert device.provenance["l2.capacity_bytes"].source is Source.DATASHEET


def test_a_driver_that_knows_nothing(tmp_path: Path) -> None:
    facts = replace(
        CPU, clock_hz=0.0, cache_bytes=0, cache_line_bytes=0, llvm_float_width=1, local_bytes=0
    )
    names = ("chase_latency_over_footprint", "read_bandwidth_over_footprint")
    device = write_device_file(_session(facts, *names), tmp_path / "silent.toml")
    assert {"architecture.clock_hz", "l2.capacity_bytes", "l2.line_bytes"} <= set(device.assumed)


def test_missing_measurements_are_named(tmp_path: Path) -> None:
    session = _session(CPU, "int32_add_throughput", "global_copy_bandwidth")
    assert missing_for_device(session) == ("int32_add_throughput", "global_copy_bandwidth")
    with pytest.raises(BenchmarkError, match="without int32_add_throughput, global_copy_bandw"):
        write_device_file(session, tmp_path / "none.toml")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_checker_refuses_is_not_written(tmp_path: Path) -> None:
    tiny = replace(CPU, global_bytes=1000)
    with pytest.raises(BenchmarkError, match=r"contradict each other: (dram|l2)\.capacity_bytes"):
        write_device_file(_session(tiny), tmp_path / "tiny.toml")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="No such file"):
        write_device_file(_session(), tmp_path / "nowhere" / "my.toml")


def test_the_text_is_toml_and_every_entry_has_a_reference() -> None:
    table = tomllib.loads(device_file_text(_session()))
    for section in ("architecture", "sm", "l1", "l2", "shared", "constant", "dram", "peak"):
        assert all(set(entry) == {"value", "source", "ref"} for entry in table[section].values())


@pytest.mark.parametrize(
    ("name", "unit", "expected"),
    [
        ("barrier_cost", Unit.SECONDS, "barrier_cost_s"),
        ("clock_under_load", Unit.HERTZ, "clock_under_load_hz"),
        ("fp32_add_throughput", Unit.OPERATIONS_PER_S, "fp32_add_throughput_ops_per_s"),
        ("global_read_bandwidth", Unit.BYTES_PER_S, "dram_read_bandwidth_bytes_per_s"),
        ("wide", Unit.COUNT, "wide_count"),
    ],
)
def test_quantities_end_with_their_unit(name: str, unit: Unit, expected: str) -> None:
    found = quantity(Measurement(name, 1.0, unit, 0.0, 1, "none"))
    assert found == expected
    assert is_quantity(found)


@pytest.mark.parametrize(
    "name", ["l1_latency", "l3_latency", "Barrier_s", "s", "l2_copy_bytes_per_s"]
)
def test_what_is_no_quantity(name: str) -> None:
    assert not is_quantity(name)


@pytest.mark.parametrize(("value", "expected"), [(0.3, 1), (1, 1), (1.1, 2), (16, 16), (17, 32)])
def test_power_of_two_above(value: float, expected: int) -> None:
    assert power_of_two_above(value) == expected
