"""The memory benchmarks on a device of known answers."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, Finding, Measurement
from kernelcast.opencl_bench.memory import MEMORY_BENCHMARKS
from kernelcast.opencl_bench.memory.access_pattern import scattered
from kernelcast.opencl_bench.memory.parallelism import usual_launch
from kernelcast.opencl_bench.target import DeviceFacts, Feature

synthetic: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("synthetic_memory.py")))
)
CPU: DeviceFacts = synthetic.CPU
GPU: DeviceFacts = synthetic.GPU
LEVELS, DRAM, LINE, MIB, KIB = (
    synthetic.LEVELS,
    synthetic.DRAM,
    synthetic.LINE,
    synthetic.MIB,
    synthetic.KIB,
)
BY_NAME = {benchmark.name: benchmark for benchmark in MEMORY_BENCHMARKS}


def find(name: str, target: Any = None, effort: Effort = Effort.QUICK) -> dict[str, Finding]:
    chosen = Effort.FULL if name == "write_share" else effort
    found = BY_NAME[name].measure(target or synthetic.SyntheticMemory(), chosen)
    return {item.name: item for item in found}


def curve(found: Mapping[str, Finding], name: str) -> dict[float, float]:
    item = found[name]
    assert isinstance(item, Curve)
    xs = [point.x for point in item.points]
    assert xs == sorted(set(xs))
    return {point.x: point.y for point in item.points}


def value(found: Mapping[str, Finding], name: str) -> float:
    item = found[name]
    assert isinstance(item, Measurement)
    return item.value


BOTH = pytest.mark.parametrize("facts", [CPU, GPU], ids=["cpu", "gpu"])


@BOTH
def test_streams_count_loads_and_stores(facts: DeviceFacts) -> None:
    """The device also moves what it overwrites: a third of the copy's traffic is not counted."""
    found = find("global_bandwidth", synthetic.SyntheticMemory(facts))
    shares = {"read": 1, "write": 1 / 2, "copy": 2 / 3, "triad": 3 / 4}
    for name, share in shares.items():
        assert value(found, f"global_{name}_bandwidth") == pytest.approx(share * DRAM)


def test_plain_work_items_stream_on_a_cpu() -> None:
    """A word each: what a read adds to its sum is as much as it reads."""
    found = find("global_bandwidth", synthetic.SyntheticMemory(CPU))
    item = found["work_item_global_copy_bandwidth"]
    assert isinstance(item, Measurement)
    assert "work-groups of 256, 1 interleaved 32-bit elements each" in item.method
    assert item.value == pytest.approx(2 / 3 * DRAM)
    on_gpu = find("global_bandwidth", synthetic.SyntheticMemory(GPU), Effort.FULL)
    assert not any(name.startswith("work_item_") for name in on_gpu)


def test_a_full_session_copies_with_indices_of_type_int() -> None:
    name = "work_item_int_index_copy_bandwidth"
    assert name not in find("global_bandwidth", synthetic.SyntheticMemory(CPU))
    item = find("global_bandwidth", synthetic.SyntheticMemory(CPU), Effort.FULL)[name]
    assert isinstance(item, Measurement)
    assert item.method.endswith("1 interleaved 32-bit elements each, indices of type int")
    assert item.value == pytest.approx(2 / 3 * DRAM)


@BOTH
def test_footprints_show_the_levels_and_what_is_shared(facts: DeviceFacts) -> None:
    found = find("cache_bandwidth", synthetic.SyntheticMemory(facts))
    first, second, _ = LEVELS
    for size, rate in curve(found, "read_bandwidth_over_footprint").items():
        assert rate == pytest.approx(next(y for limit, y, _ in LEVELS if size <= limit))
    for name in ("private_read_bandwidth_over_footprint", "update_bandwidth_over_footprint"):
        points = curve(found, name)
        assert len(points) >= 4
        for size, rate in points.items():
            shared = second[1] if size <= second[0] / facts.compute_units else DRAM
            assert rate == pytest.approx(first[1] if size <= first[0] else shared)


def test_plain_work_items_read_the_caches_of_a_cpu() -> None:
    name = "work_item_bandwidth_over_footprint"
    found = find("cache_bandwidth", synthetic.SyntheticMemory(CPU))
    item = found[name]
    assert isinstance(item, Curve)
    assert "work-groups of 64, 32 bits a load" in item.method
    first = LEVELS[0]
    near = [rate for size, rate in curve(found, name).items() if size <= first[0]]
    assert near
    assert near == pytest.approx([first[1]] * len(near))
    assert name not in find("cache_bandwidth", synthetic.SyntheticMemory(GPU))


def test_the_share_of_writes_is_exact() -> None:
    found = find("write_share")
    for name, rate in (("cache", LEVELS[0][1]), ("global", DRAM)):
        points = curve(found, f"{name}_bandwidth_over_write_share")
        assert list(points) == pytest.approx([n / (8 + n) for n in (0, 1, 2, 4, 6, 8)])
        assert list(points.values()) == pytest.approx([rate] * 6)
    assert not BY_NAME["write_share"].measure(synthetic.SyntheticMemory(), Effort.QUICK)


def test_latency_over_footprint() -> None:
    points = curve(find("pointer_chase"), "chase_latency_over_footprint")
    assert min(points) == KIB
    assert max(points) == 4 * MIB
    for size, latency in points.items():
        assert latency == pytest.approx(next(z for limit, _, z in LEVELS if size <= limit))


def test_the_clock_of_a_cpu_only() -> None:
    assert value(find("clock"), "clock_under_load") == pytest.approx(synthetic.CLOCK)
    assert not find("clock", synthetic.SyntheticMemory(GPU))


@BOTH
def test_constant_memory(facts: DeviceFacts) -> None:
    found = find("constant_memory", synthetic.SyntheticMemory(facts))
    assert value(found, "constant_broadcast_bandwidth") == pytest.approx(8e9)
    assert value(found, "constant_serialised_bandwidth") == pytest.approx(1e9)


@BOTH
def test_stride_and_offset_show_the_line(facts: DeviceFacts) -> None:
    found = find("stride", synthetic.SyntheticMemory(facts))
    strides = curve(found, "read_bandwidth_over_stride")
    for distance, rate in strides.items():
        assert rate == pytest.approx(DRAM * 4 / min(distance, LINE), rel=1e-3)
    offsets = curve(found, "read_bandwidth_over_misalignment")
    for offset, rate in offsets.items():
        assert rate == pytest.approx(DRAM * (1 if offset % LINE == 0 else 2 / 3), rel=1e-3)


@BOTH
def test_gather_over_spread(facts: DeviceFacts) -> None:
    points = curve(find("gather", synthetic.SyntheticMemory(facts)), "gather_bandwidth_over_spread")
    for spread, rate in points.items():
        latency = next(z for limit, _, z in LEVELS if spread <= limit)
        assert rate == pytest.approx(4 / latency)
    assert max(points) == 4 * MIB


@pytest.mark.parametrize("bits", [0, 1, 2, 5, 12])
def test_the_random_order_takes_each_index_once_and_stays_in_its_window(bits: int) -> None:
    indices = np.arange(1 << 14, dtype=np.uint32)
    order = scattered(indices, bits)
    assert sorted(order.tolist()) == indices.tolist()
    assert np.array_equal(order >> bits, indices >> bits)
    steps = np.diff(order[: 1 << bits].astype(np.int64))
    assert bits < 5 or len(set(steps.tolist())) > len(steps) // 4


@BOTH
@pytest.mark.parametrize("real", ["fp32", "fp64"])
def test_intensity_shows_the_roofline(facts: DeviceFacts, real: str) -> None:
    found = find(f"mixed_{real}", synthetic.SyntheticMemory(facts))
    rates = curve(found, f"{real}_throughput_over_intensity")
    for intensity, rate in rates.items():
        assert rate == pytest.approx(min(synthetic.FLOPS, intensity * DRAM))
    moved = curve(found, f"{real}_bandwidth_over_intensity")
    assert [rates[x] / x for x in rates] == pytest.approx(list(moved.values()))
    assert max(rates.values()) == pytest.approx(synthetic.FLOPS)


@BOTH
def test_bandwidth_over_parallelism_follows_the_loads_on_their_way(facts: DeviceFacts) -> None:
    found = find("parallelism", synthetic.SyntheticMemory(facts))
    groups = curve(found, "read_bandwidth_over_work_groups")
    usual = usual_launch(facts)
    assert list(groups) == [2**k for k in range(int(np.log2(2 * usual.groups)) + 1)]
    sizes = curve(found, "read_bandwidth_over_work_group_size")
    loads = curve(found, "read_bandwidth_over_loads_per_item")
    for number, rate in groups.items():
        assert rate == pytest.approx(
            synthetic.on_their_way(usual.work_group * usual.loads * number)
        )
    for number, rate in sizes.items():
        assert rate == pytest.approx(synthetic.on_their_way(usual.groups * usual.loads * number))
    for number, rate in loads.items():
        assert rate == pytest.approx(
            synthetic.on_their_way(usual.groups * usual.work_group * number)
        )


def test_transfers() -> None:
    found = find("transfer")
    for name, rate in (("host_to_device", 8e9), ("device_to_host", 4e9)):
        points = curve(found, f"{name}_bandwidth_over_size")
        for size, bandwidth in points.items():
            assert bandwidth == pytest.approx(size / (synthetic.COPY_S + size / rate))
        assert value(found, f"{name}_bandwidth") == points[max(points)]


CHECKED = sorted(BY_NAME.keys() - {"transfer"})


@pytest.mark.parametrize("broken", ["one word", "stores"])
@pytest.mark.parametrize("name", CHECKED)
def test_a_wrong_result_is_an_error(name: str, broken: str) -> None:
    with pytest.raises(BenchmarkError, match=r"^kernel \w+ computes a wrong result$"):
        find(name, synthetic.SyntheticMemory(broken=broken))


@pytest.mark.parametrize("name", CHECKED)
def test_a_clock_that_stands_still_is_an_error(name: str) -> None:
    with pytest.raises(BenchmarkError, match="clock does not advance"):
        find(name, synthetic.SyntheticMemory(broken="clock"))


def test_a_device_without_memory_is_an_error() -> None:
    small = replace(CPU, global_bytes=2 * MIB)
    with pytest.raises(BenchmarkError, match="3 arrays of 1 MiB do not fit on synthetic"):
        find("global_bandwidth", synthetic.SyntheticMemory(small))
    with pytest.raises(BenchmarkError, match="512 bytes of constant memory are too few"):
        find("constant_memory", synthetic.SyntheticMemory(replace(CPU, constant_bytes=512)))


def test_only_fp64_needs_a_feature() -> None:
    needs = {name: benchmark.needs for name, benchmark in BY_NAME.items() if benchmark.needs}
    assert needs == {"mixed_fp64": frozenset({Feature.FP64})}
    assert len(BY_NAME) == len(MEMORY_BENCHMARKS)
