"""The GPUs that come with kernelcast, against vendors' figures, and which files are refused."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kernelcast.api import estimate
from kernelcast.cli import app
from kernelcast.errors import DeviceFileError, ModelNotApplicable
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models import MODELS
from kernelcast.report.devices import device_rows
from kernelcast.simcore.device.checks import (
    DEVICE_NAME,
    QUANTITIES,
    Observation,
    contradictions,
)
from kernelcast.simcore.device.device import Device, Provenance, Source
from kernelcast.simcore.device.file import known_devices, load_device, load_observations
from kernelcast.simcore.isa.tensor_types import TensorType
from kernelcast.simcore.memory.hierarchy import cold_l1, cold_l2
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape, OccupancyLimiter
from kernelcast.traces.trace import ResourceNeeds
from kernelcast.workload.file import load_workload

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "simcore" / "devices"

# SMs, TFLOPS in single and double precision, GB/s, GB, KB of L2: what the vendors advertise
ADVERTISED = {
    "gtx-285": (30, 0.7085, 0.0886, 159, 1, None),
    "gtx-260": (24, 0.477, 0.0596, 111.9, 0.875, None),
    "gtx-1070": (15, 6.5, 0.202, 256, 8, 2048),
    "quadro-rtx-4000": (36, 7.1, 0.222, 416, 8, 4096),
    "v100-pcie": (80, 14, 7, 900, 16, 6144),
    "v100-sxm2": (80, 15.7, 7.8, 900, 16, 6144),
    "a100-40gb": (108, 19.5, 9.7, 1555, 40, 40960),
    "a100-80gb": (108, 19.5, 9.7, 2039, 80, 40960),
    "a40": (84, 37.4, 0.585, 696, 48, 6144),
    "rtx-3070": (46, 20.3, 0.317, 448, 8, 4096),
    "rtx-3090": (82, 35.6, 0.556, 936, 24, 6144),
    "rtx-a6000": (84, 38.7, 0.605, 768, 48, 6144),
    "l40": (142, 90.5, 1.414, 864, 48, 98304),
    "rtx-4090": (128, 82.6, 1.29, 1008, 24, 73728),
    "h100-pcie": (114, 51.2, 25.6, 2039, 80, 51200),
    "h100-sxm": (132, 66.9, 33.5, 3350, 80, 51200),
    "h200": (132, 67, 34, 4800, 131.3, None),
    "gh200": (132, 67, 34, 4000, 96, None),
    "b200": (148, 75, 37, 8000, 180, None),
    "mi100": (120, 23.1, 11.5, 1228.8, 32, 8192),
    "mi210": (104, 22.6, 22.6, 1638.4, 64, 8192),
    "mi250x": (110, 47.9 / 2, 47.9 / 2, 3276.8 / 2, 64, 8192),
    "mi300a": (228, 122.6, 61.3, 5300, 128, 6 * 4096),
    "mi300x": (304, 163.4, 81.7, 5300, 192, 8 * 4096),
    "mi355x": (256, 157.3, 78.6, 8000, 288, 8 * 4096),
    "rx-6900-xt": (80, 23.04, 1.44, 512, 16, 4096),
    "rx-7900-xtx": (96, 61.4, 1.92, 960, 24, 6144),
    "rx-9070-xt": (64, 48.7, 1.52, 640, 16, 8192),
    "arc-b580": (20, 14.59, 0.912, 456, 12, 18432),
    "max-1550": (64, 52.4 / 2, 52.4 / 2, 3276.8 / 2, 64, 208896),
}
# CUDA C++ Programming Guide, technical specifications and throughput: resident warps and thread
# blocks, KB of shared memory of an SM and of a thread block, lanes; KB of L1 with shared memory
COMPUTE_CAPABILITY = {
    "1.3": (32, 8, 16, 16, 8, 1, None),
    "6.1": (64, 32, 96, 48, 128, 4, None),
    "7.0": (64, 32, 96, 96, 64, 32, 128),
    "7.5": (32, 16, 64, 64, 64, 2, 96),
    "8.0": (64, 32, 164, 163, 64, 32, 192),
    "8.6": (48, 16, 100, 99, 128, 2, 128),
    "8.9": (48, 24, 100, 99, 128, 2, 128),
    "9.0": (64, 32, 228, 227, 128, 64, 256),
    "10.0": (64, 32, 228, 227, 128, 64, 256),
}
# RRZE-HPC/gpu-benches at 1038c5d, te42kyfo/gpu-benches at 1c36d50, gpu-latency: kB up to which a
# pointer chase stays at the latency of L1, of the nearest part of L2; how many parts L2 has
KNEES = {
    "v100-pcie": (120.8, 6066.8, 1),
    "a100-80gb": (152.1, 19290.6, 2),
    "a40": (104.0, 5714.2, 1),
    "l40": (85.9, 93729.2, 1),
    "h100-pcie": (216.0, 24136.0, 2),
    "gh200": (212.9, 29494.6, 2),
    "mi100": (15.0, 6040.4, 1),
    "mi210": (15.5, 4338.8, 1),
    "mi300x": (32.0, 3996.9, 8),
    "mi300a": (32.0, 3996.9, 6),
    "rx-6900-xt": (16.0, 4084.5, 1),
}
FLOAT_UNITS = (
    *("_hz", "_bytes_per_s", "_flops_per_s", "_ops_per_s", "_s"),
    *("_cycles", "_bytes", "_bytes_per_cycle", ".lanes", "_sectors", "_efficiency"),
    "texels_per_cycle",
    *(f"ptx_costs.parallel_degree.{constant}" for constant in "abcdm"),
    *(f"_hit_rate.{constant}" for constant in ("a", "b", "steepness")),
    *(f"tensor.{type_.value}" for type_ in TensorType),
)
ELEMENTS = 10_000


@pytest.mark.parametrize("name", ADVERTISED)
def test_specifications_are_those_of_the_vendors(name: str) -> None:
    device = load_device(name)
    sms, single, double, bandwidth, gigabytes, l2 = ADVERTISED[name]
    assert device.architecture.sm_count == sms
    assert device.peak.fp32_flops_per_s == pytest.approx(1e12 * single, rel=0.015)
    assert device.peak.fp64_flops_per_s == pytest.approx(1e12 * double, rel=0.02)
    assert device.dram.bandwidth_bytes_per_s == pytest.approx(1e9 * bandwidth, rel=0.001)
    assert device.dram.capacity_bytes == pytest.approx(2**30 * gigabytes, rel=0.001)
    assert l2 is None or device.l2.capacity_bytes == 1024 * l2


def of_nvidia() -> list[str]:
    return [name for name in ADVERTISED if load_device(name).architecture.vendor == "NVIDIA"]


@pytest.mark.parametrize("name", of_nvidia())
def test_limits_of_the_compute_capability(name: str) -> None:
    device = load_device(name)
    sm = device.sm
    found = COMPUTE_CAPABILITY[device.architecture.compute_capability]
    warps, thread_blocks, shared, most_shared, single, double, unified = found
    assert (sm.max_warps, sm.max_thread_blocks) == (warps, thread_blocks)
    assert sm.shared_bytes == 1024 * shared
    assert sm.max_shared_bytes_per_thread_block == 1024 * most_shared
    reserves = float(device.architecture.compute_capability) >= 8.0
    assert sm.reserved_shared_bytes == (1024 if reserves else None)
    assert (sm.fp32_lanes, sm.fp64_lanes) == (single, double)
    if unified is not None:
        assert device.l1 is not None
        assert max(device.l1.capacity_bytes, sm.shared_bytes) <= 1024 * unified


@pytest.mark.parametrize("name", KNEES)
def test_capacities_cover_the_measured_knees(name: str) -> None:
    device = load_device(name)
    l1_knee, l2_knee, parts = KNEES[name]
    assert device.l1 is not None
    assert 0.5 <= 1000 * l1_knee / device.l1.capacity_bytes <= 1.0
    assert 0.5 <= 1000 * l2_knee * parts / device.l2.capacity_bytes <= 1.0


@pytest.mark.parametrize(
    ("registers", "shared_bytes", "by_registers", "resident"),
    [(16, 348, 16, 8), (30, 1088, 8, 8), (58, 4284, 4, 3)],
)
def test_occupancy_of_the_gtx_285(
    registers: int, shared_bytes: int, by_registers: int, resident: int
) -> None:
    """Zhang and Owens 2011, Table 2: thread blocks of 64 threads; it misprints 4 as 3."""
    needs = ResourceNeeds(registers, shared_bytes, registers=registers)
    found = occupancy(needs, LaunchShape((10_000, 1, 1), (64, 1, 1)), load_device("gtx-285"))
    assert dict(found.limits)[OccupancyLimiter.REGISTERS] == by_registers
    assert found.thread_blocks_per_sm == resident


@pytest.mark.parametrize("name", known_devices())
def test_every_device_is_possible(name: str) -> None:
    device = load_device(name)
    assert DEVICE_NAME.fullmatch(name)
    assert list(contradictions(device, load_observations(name))) == []
    assert cold_l2(device).sets > 0
    assert cold_l1(device).sets > 0


@pytest.mark.parametrize("name", ADVERTISED)
def test_throughputs_say_how_they_are_known(name: str) -> None:
    """H100 and H200 were measured here: others are published, derived, or assumed."""
    device = load_device(name)
    assert device.measured is not None
    known = {Source.PUBLISHED, Source.DERIVED, Source.ASSUMED}
    if name in ("h100-sxm", "h200"):
        known.add(Source.MEASURED)
    for item in fields(device.measured):
        assert device.provenance[f"measured.{item.name}"].source in known


def test_the_template_is_assumed_throughout() -> None:
    template = load_device("hypothetical")
    assert set(template.assumed) == set(template.provenance)


@pytest.mark.parametrize("name", known_devices())
def test_show_has_every_value_with_unit_and_source(name: str) -> None:
    device = load_device(name)
    rows = {str(row[0]): row[1:] for row in device_rows(device)[1:]}
    assert set(rows) == set(device.provenance)
    for key, (value, unit, source, reference) in rows.items():
        assert source
        assert reference
        assert not isinstance(value, float) or (unit and key.endswith(FLOAT_UNITS))


def test_show_prints_a_new_device() -> None:
    result = CliRunner().invoke(app, ["devices", "show", "mi300x", "--json"])
    assert result.exit_code == 0
    values = {row["name"]: row for row in json.loads(result.output)["values"]}
    assert values["architecture.sm_count"]["value"] == 304
    assert values["dram.bandwidth_bytes_per_s"]["value"] == 5.3e12
    assert values["measured.fp32_ops_per_s"]["source"] == "published"
    assert values["observed.l2_latency_cycles"]["unit"] == "cycles"


@cache
def _executed(warp_width: int) -> KernelTrace:
    workload = load_workload(ROOT / "examples" / "saxpy" / "saxpy.toml")
    return workload.run("small", warp_width=warp_width)


@pytest.mark.drawn(16)
@pytest.mark.parametrize("name", known_devices())
def test_every_model_that_applies_gives_an_estimate(name: str) -> None:
    """y = a x + y moves 12 bytes an element, whatever the GPU, but for a part of the last line."""
    device = load_device(name)
    profile = _executed(device.architecture.warp_width).profile(device)
    assert profile.traffic.dram_bytes == pytest.approx(12 * ELEMENTS, rel=0.005)
    applied = set()
    for model in MODELS:
        try:
            found = estimate(profile, model)
        except ModelNotApplicable:
            continue
        applied.add(model)
        assert found.assumptions
        assert math.isfinite(found.time_s)
        if model != "mpd-cpd":  # which lets computation hide any traffic (deviation L8)
            moved = found.time_s * device.dram.bandwidth_bytes_per_s
            assert moved >= 12 * ELEMENTS * (1 - 1e-9)
    assert {"roofline", "quantitative-roofline"} <= applied


def _changed(device: Device, **values: Any) -> Device:
    """`section__name=value` sets one value of a section."""
    for key, value in values.items():
        section, _, name = key.partition("__")
        device = replace(device, **{section: replace(getattr(device, section), **{name: value})})
    return device


@pytest.mark.parametrize(
    ("values", "key", "message"),
    [
        ({"sm__max_warps": 63}, "sm.max_warps", "too few for 2048 threads"),
        ({"sm__max_threads": 1984}, "sm.max_warps", "more than sm.max_threads"),
        ({"sm__max_thread_blocks": 65}, "sm.max_thread_blocks", "more than sm.max_warps"),
        ({"sm__shared_bytes": 131073}, "sm.shared_allocation_bytes", "does not divide"),
        ({"sm__registers": 65537}, "sm.register_allocation_unit", "does not divide"),
        ({"sm__max_registers_per_thread": 2049}, "sm.max_registers_per_thread", "one warp"),
        ({"architecture__clock_hz": 2000.0}, "architecture.clock_hz", "outside of"),
        ({"architecture__warp_width": 33}, "architecture.warp_width", "power of two, got 33"),
        ({"dram__bandwidth_bytes_per_s": 2000.0}, "dram.bandwidth_bytes_per_s", "outside of"),
        ({"dram__capacity_bytes": 32}, "dram.capacity_bytes", "outside of"),
        ({"shared__bank_bytes": 6}, "shared.bank_bytes", "power of two, got 6"),
        ({"l1__capacity_bytes": 131073}, "l1.ways", "do not divide the capacity"),
        ({"l1__sector_bytes": 96}, "l1.sector_bytes", "does not divide l1.line_bytes"),
        ({"l2__capacity_bytes": 65536}, "l1.capacity_bytes", "more than l2.capacity_bytes"),
        ({"l2__capacity_bytes": 2**36}, "l2.capacity_bytes", "more than dram.capacity_bytes"),
        ({"peak__fp32_flops_per_s": 1.1e14}, "peak.fp32_flops_per_s", "give 5.12e+13"),
        ({"peak__fp64_flops_per_s": 5.13e13}, "peak.fp64_flops_per_s", "more than peak.fp32"),
        ({"measured__fp32_ops_per_s": 5.7e13}, "measured.fp32_ops_per_s", "of 5.12e+13"),
        ({"measured__fp64_ops_per_s": 2.9e13}, "measured.fp64_ops_per_s", "of 2.56e+13"),
        ({"measured__int_ops_per_s": 5.7e13}, "measured.int_ops_per_s", "of 5.12e+13"),
        ({"measured__add_ops_per_s": 2.9e13}, "measured.add_ops_per_s", "of 2.56e+13"),
        ({"measured__load_store_ops_per_s": 7.1e12}, "measured.load_store_ops_per_s", "6.4e+12"),
        (
            {"measured__dram_bandwidth_bytes_per_s": 2.01e12},
            "measured.dram_bandwidth_bytes_per_s",
            "above the peak of 2e+12",
        ),
    ],
)
def test_what_cannot_be_is_found(values: dict[str, Any], key: str, message: str) -> None:
    found = list(contradictions(_changed(load_device("hypothetical"), **values)))
    assert [item for item in found if item.key == key and message in item.message]


def test_boards_may_clock_above_the_nominal_clock() -> None:
    """Konstantinidis 2017: the GTX 1060 reaches 4610 Gflop/s, 20 % above its nominal peak."""
    fast = _changed(load_device("hypothetical"), measured__fp32_ops_per_s=5.6e13)
    assert list(contradictions(fast)) == []
    measured, peak = load_device("gtx-1060-6gb").measured, load_device("gtx-1060-6gb").peak
    assert measured is not None
    assert measured.fp32_ops_per_s > 1.19 * peak.fp32_flops_per_s


def _observed(**values: float) -> list[Observation]:
    where = Provenance(Source.PUBLISHED, "a test")
    return [Observation(quantity, value, where) for quantity, value in values.items()]


@pytest.mark.parametrize(
    ("observations", "key"),
    [
        (_observed(l1_latency_cycles=200.0, l2_latency_cycles=190.0), "l2_latency_cycles"),
        (_observed(l1_latency_cycles=30.0, dram_latency_cycles=30.0), "dram_latency_cycles"),
        (
            _observed(far_l2_latency_cycles=500.0, dram_latency_cycles=400.0),
            "dram_latency_cycles",
        ),
        (
            _observed(l1_read_bandwidth_bytes_per_s=1e13, l2_read_bandwidth_bytes_per_s=2e13),
            "l2_read_bandwidth_bytes_per_s",
        ),
        (
            _observed(l2_read_bandwidth_bytes_per_s=1e12, dram_read_bandwidth_bytes_per_s=1.5e12),
            "dram_read_bandwidth_bytes_per_s",
        ),
        (_observed(dram_triad_bandwidth_bytes_per_s=2.1e12), "dram_triad_bandwidth_bytes_per_s"),
    ],
)
def test_published_figures_keep_the_order_of_the_levels(
    observations: list[Observation], key: str
) -> None:
    untimed = replace(load_device("hypothetical"), timing=None)
    found = list(contradictions(untimed, observations))
    assert [item.key for item in found] == [f"observed.{key}"]


def test_the_lowest_latencies_are_compared() -> None:
    """One slow figure of a near level says nothing: sources disagree by up to a factor of two."""
    slow = _observed(l1_latency_cycles=30.0, l2_latency_cycles=200.0)
    slow += _observed(l1_latency_cycles=210.0)
    assert list(contradictions(load_device("hypothetical"), slow)) == []


def test_observations_keep_what_sources_say() -> None:
    observations = load_observations("a100-80gb")
    latencies = [item for item in observations if item.quantity == "l1_latency_cycles"]
    assert len({item.value for item in latencies}) >= 3
    assert all(item.provenance.source is Source.PUBLISHED for item in observations)
    reads = [item for item in observations if item.quantity == "l2_read_bandwidth_bytes_per_s"]
    assert len({item.provenance.reference for item in reads}) == len(reads) >= 4
    assert load_observations("gtx-480") == ()
    assert load_observations(SHIPPED / "a100-80gb.toml") == observations


def test_quantities_name_their_unit() -> None:
    assert all(name.endswith(("_cycles", "_bytes_per_s", "_s")) for name in QUANTITIES)


LATENCY = 'l1_latency_cycles = [{ value = 30, source = "published", ref = "a test" }]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("observed = 1", r"observed: must be a section"),
        ("[observed]\nl1_latency = []", r"observed\.l1_latency: is unknown \(did you mean"),
        ("[observed]\nl1_latency_cycles = []", r"observed\.l1_latency_cycles: must be a list"),
        ("[observed]\n" + LATENCY.replace("[", "").replace("]", ""), r"must be a list of"),
        ("[observed]\n" + LATENCY.replace("30", "nan"), r"cycles\[0\]: must be positive and"),
        ("[observed]\n" + LATENCY.replace("30", '"x"'), r"cycles\[0\]: must be a number"),
        ("[observed]\n" + LATENCY.replace(', ref = "a test"', ""), r"cycles\[0\]\.ref: is miss"),
        ("[observed]\n" + LATENCY.replace("published", "heard"), r"cycles\[0\]\.source: must be"),
        (
            f"[observed]\n{LATENCY}\n{LATENCY.replace('l1', 'l2')}",
            r"observed\.l2_latency_cycles: 30 is not above l1_latency_cycles, 30",
        ),
    ],
)
def test_wrong_observations_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    shipped = (SHIPPED / "hypothetical.toml").read_text()
    path.write_text(f"{text}\n{shipped}" if text.startswith("observed") else f"{shipped}\n{text}\n")
    with pytest.raises(DeviceFileError, match=message) as caught:
        load_device(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fast.toml"
    shipped = (SHIPPED / "hypothetical.toml").read_text()
    path.write_text(shipped.replace("value = 1.8e12", "value = 2.8e12"))
    with pytest.raises(DeviceFileError, match=r"measured\.dram_bandwidth_bytes_per_s: 2\.8e\+12"):
        load_device(path)


def test_the_clock_under_load_explains_the_measured_throughput() -> None:
    """GPU Boost: 89.67 GFLOPS of 4 lanes on 8 SMs need 1.401 GHz, where Table 5.1 has 1.329."""
    assert load_device("gtx-960").running_clock_hz == pytest.approx(89.67e9 / 64)
    for name in ("gtx-480", "tesla-k20c", "v100-pcie", "mi210"):
        device = load_device(name)
        assert device.running_clock_hz == device.architecture.clock_hz
