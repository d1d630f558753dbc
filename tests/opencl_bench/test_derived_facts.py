"""Facts derived from the curves of a synthetic device whose every answer is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.opencl_bench.device_file.derived_facts import derive_facts
from kernelcast.opencl_bench.fits.local_memory_banks import conflict_degree
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit, measurement
from kernelcast.opencl_bench.target import DeviceFacts

Floats = npt.NDArray[np.float64]
UNITS = 6
L1, L2 = 2.0**15, 2.0**21
FACTS = DeviceFacts(
    name="synthetic",
    vendor="",
    platform="",
    driver="",
    is_cpu=False,
    compute_units=UNITS,
    clock_hz=1e9,
    global_bytes=2**32,
    max_buffer_bytes=2**30,
    local_bytes=2**15,
    constant_bytes=2**16,
    cache_bytes=2**21,
    cache_line_bytes=0,
    max_work_group=1024,
    preferred_work_group_multiple=32,
    features=frozenset(),
)


def curve(name: str, x: Floats, y: Floats) -> Curve:
    points = tuple(CurvePoint(float(a), float(b), 0.0) for a, b in zip(x, y, strict=True))
    return Curve(name, "x", Unit.BYTES, "y", Unit.RATIO, points, "closed form")


def steps(x: Floats, ends: tuple[float, ...], values: tuple[float, ...]) -> Floats:
    return np.array([values[int(np.searchsorted(ends, each))] for each in x])


def findings() -> dict[str, Finding]:
    footprints = 1024.0 * np.exp2(np.arange(0.0, 16.0, 0.25))
    strides = 4.0 * np.exp2(np.arange(9.0))
    offsets = np.arange(0.0, 260.0, 8.0)
    touched = np.ceil((offsets + 128) / 32) - np.floor(offsets / 32)
    words = np.arange(1.0, 34.0)
    degrees = np.array([conflict_degree(int(word), 32, 32, 4, 4) for word in words])
    groups = np.arange(1.0, 4 * UNITS + 2)
    runs = np.exp2(np.arange(9.0))
    curves = [
        curve(
            "chase_latency_over_footprint",
            footprints,
            steps(footprints, (L1, L2), (3e-8, 2e-7, 5e-7)),
        ),
        curve(
            "read_bandwidth_over_footprint",
            footprints,
            steps(footprints, (L1, L2), (9e12, 3e12, 1e12)),
        ),
        curve(
            "private_read_bandwidth_over_footprint",
            footprints,
            steps(footprints, (L1, L2 / UNITS), (9e12, 3e12, 1e12)),
        ),
        curve("read_bandwidth_over_stride", strides, 1e12 / np.minimum(strides, 128)),
        curve("read_bandwidth_over_misalignment", offsets, 1e12 / touched),
        curve("local_load_bandwidth_over_stride", words, 1e12 / degrees),
        curve(
            "fp32_multiply_add_throughput_over_work_groups",
            groups,
            groups / (0.1 + np.ceil(groups / UNITS)),
        ),
        curve("fp32_throughput_over_divergence_run", runs, np.where(runs < 32, 1.0, 2.0)),
    ]
    memory = measurement("global_read_bandwidth", [9e11, 9e11], Unit.BYTES_PER_S, "stream")
    all_findings: list[Finding] = [*curves, memory]
    return {finding.name: finding for finding in all_findings}


def test_every_fact_of_the_synthetic_device() -> None:
    facts = derive_facts(findings(), FACTS)
    near, far, memory = facts.levels
    assert (near.latency_s, far.latency_s, memory.latency_s) == pytest.approx((3e-8, 2e-7, 5e-7))
    assert near.capacity_bytes == pytest.approx(L1, rel=0.2)
    assert far.capacity_bytes == pytest.approx(L2, rel=0.2)
    assert memory.capacity_bytes is None
    assert (near.bandwidth_bytes_per_s, far.bandwidth_bytes_per_s) == pytest.approx((9e12, 3e12))
    assert memory.bandwidth_bytes_per_s == pytest.approx(9e11)
    assert "32768 bytes fit" in near.method
    detections = (
        facts.line_bytes,
        facts.sector_bytes,
        facts.local_banks,
        facts.local_bank_bytes,
        facts.wavefront_width,
        facts.compute_units,
    )
    assert [detection.value for detection in detections] == [128, 32, 32, 4, 32, UNITS]
    assert [detection.value for detection in facts.sharing] == [1, UNITS]


def test_nothing_measured_is_nothing_derived_with_reasons() -> None:
    facts = derive_facts({}, FACTS)
    assert facts.levels == ()
    detections = [
        getattr(facts, field.name)
        for field in dataclasses.fields(facts)
        if field.name not in ("levels", "sharing")
    ]
    for detection in (*detections, *facts.sharing):
        assert detection.value is None
        assert "not measured" in detection.reason


def test_levels_of_a_device_without_a_chase_come_from_bandwidth() -> None:
    measured = findings()
    del measured["chase_latency_over_footprint"]
    facts = derive_facts(measured, FACTS)
    assert [level.latency_s for level in facts.levels] == [None, None, None]
    assert [level.bandwidth_bytes_per_s for level in facts.levels] == pytest.approx(
        [9e12, 3e12, 1e12]
    )


def test_bandwidth_is_unknown_without_its_curve_and_memory_falls_back_to_the_curve() -> None:
    measured = findings()
    del measured["global_read_bandwidth"]
    assert derive_facts(measured, FACTS).levels[-1].bandwidth_bytes_per_s == pytest.approx(1e12)
    del measured["read_bandwidth_over_footprint"]
    facts = derive_facts(measured, FACTS)
    assert {level.bandwidth_bytes_per_s for level in facts.levels} == {None}
    assert "read_bandwidth_over_footprint was not measured" in facts.sharing[0].reason


def test_wavefront_width_from_steps_where_divergence_says_nothing() -> None:
    measured = findings()
    items = np.arange(4.0, 145.0, 4.0)
    stepped = items / (0.1 + np.ceil(items / 16))
    name = "fp32_multiply_add_throughput_over_work_group_size"
    measured[name] = curve(name, items, stepped)
    assert derive_facts(measured, FACTS).wavefront_width.value == 32
    del measured["fp32_throughput_over_divergence_run"]
    assert derive_facts(measured, FACTS).wavefront_width.value == 16


def with_translation_step(bandwidth_beyond: float) -> dict[str, Finding]:
    """The second cache is 1.6 times slower from a quarter of its capacity on."""
    measured = findings()
    footprints = 1024.0 * np.exp2(np.arange(0.0, 16.0, 0.25))
    ends = (L1, L2 / 4, L2)
    measured["chase_latency_over_footprint"] = curve(
        "chase_latency_over_footprint",
        footprints,
        steps(footprints, ends, (3e-8, 1e-7, 1.6e-7, 5e-7)),
    )
    measured["read_bandwidth_over_footprint"] = curve(
        "read_bandwidth_over_footprint",
        footprints,
        steps(footprints, ends, (9e12, 3e12, bandwidth_beyond, 1e12)),
    )
    return measured


def test_a_step_of_latency_only_is_no_cache() -> None:
    near, far, memory = derive_facts(with_translation_step(3e12), FACTS).levels
    assert far.latency_s == pytest.approx(1e-7)
    assert far.capacity_bytes == pytest.approx(L2, rel=0.2)
    assert "a step of latency only" in far.method
    assert (near.latency_s, memory.latency_s) == pytest.approx((3e-8, 5e-7))


def test_a_step_of_latency_and_bandwidth_is_a_cache() -> None:
    levels = derive_facts(with_translation_step(2e12), FACTS).levels
    assert [level.latency_s for level in levels] == pytest.approx([3e-8, 1e-7, 1.6e-7, 5e-7])


def test_a_step_of_latency_only_before_the_memory_belongs_to_it() -> None:
    """Translation of addresses costs more from 8 MiB on, behind the second cache."""
    measured = findings()
    footprints = 1024.0 * np.exp2(np.arange(0.0, 19.0, 0.25))
    ends = (L1, L2, 4 * L2)
    measured["chase_latency_over_footprint"] = curve(
        "chase_latency_over_footprint",
        footprints,
        steps(footprints, ends, (3e-8, 1e-7, 4e-7, 6e-7)),
    )
    measured["read_bandwidth_over_footprint"] = curve(
        "read_bandwidth_over_footprint",
        footprints,
        steps(footprints, ends, (9e12, 3e12, 9e11, 9e11)),
    )
    near, far, memory = derive_facts(measured, FACTS).levels
    assert near.capacity_bytes == pytest.approx(L1, rel=0.2)
    assert far.capacity_bytes == pytest.approx(L2, rel=0.2)
    assert memory.capacity_bytes is None
    assert memory.latency_s == pytest.approx(6e-7)
    assert "a step of latency only" in memory.method
