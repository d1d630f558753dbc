"""Lines, sectors, banks, sharing and widths of synthetic devices with known answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.opencl_bench.fits.access_granularity import line_bytes, sector_bytes
from kernelcast.opencl_bench.fits.cache_sharing import units_sharing_caches
from kernelcast.opencl_bench.fits.detection import Detection
from kernelcast.opencl_bench.fits.local_memory_banks import conflict_degree, local_banks
from kernelcast.opencl_bench.fits.staircase import (
    compute_units,
    wavefront_width,
    width_from_divergence,
)
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Unit

Floats = npt.NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)


def curve(x: Floats, y: Floats) -> Curve:
    points = tuple(CurvePoint(float(a), float(b), 0.0) for a, b in zip(x, y, strict=True))
    return Curve("synthetic", "x", Unit.COUNT, "y", Unit.RATIO, points, "closed form")


def octaves(count: int) -> Floats:
    """1, 2, 4 and so on."""
    return np.exp2(np.arange(count, dtype=np.float64))


def noisy(values: Floats, amplitude: float, seed: int) -> Floats:
    return values * (1 + amplitude * np.random.default_rng(seed).uniform(-1, 1, values.size))


def lines_touched(stride: float, line: int, elements: int = 4096) -> int:
    """Distinct lines of 4-byte elements at a stride, counted one by one."""
    return np.unique(np.arange(elements) * stride // line).size


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([32, 64, 128, 256]), st.floats(0, 0.05), SEEDS)
def test_line_is_the_stride_at_which_every_access_has_its_own(
    line: int, amplitude: float, seed: int
) -> None:
    strides = 4.0 * octaves(9)
    bandwidth = np.array([1e12 / lines_touched(stride, line) for stride in strides])
    found = line_bytes(curve(strides, noisy(bandwidth, amplitude, seed)))
    assert found.value == line
    assert found.residual < 0.1


def test_line_of_a_device_whose_short_strides_are_limited_by_something_else() -> None:
    strides = 4.0 * octaves(9)
    bandwidth = np.minimum(0.2, 4 / np.minimum(strides, 64))
    assert line_bytes(curve(strides, bandwidth)).value == 64


def test_pages_beyond_the_line_do_not_count() -> None:
    strides = 4.0 * octaves(14)
    bandwidth = 4 / np.minimum(strides, 64) / np.maximum(strides / 4096, 1)
    assert line_bytes(curve(strides, bandwidth)).value == 64


def test_no_line_without_a_fall_or_without_its_end() -> None:
    strides = 4.0 * octaves(6)
    flat = line_bytes(curve(strides, np.ones(6)))
    falling = line_bytes(curve(strides, 1 / strides))
    short = line_bytes(curve(strides[:3], np.ones(3)))
    assert (flat.value, falling.value, short.value) == (None, None, None)
    assert "does not fall" in flat.reason
    assert "still falls" in falling.reason
    assert "fewer than four" in short.reason


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([16, 32, 64, 128]), st.floats(0, 0.02), SEEDS)
def test_sector_is_what_a_misaligned_run_touches_one_more_of(
    sector: int, amplitude: float, seed: int
) -> None:
    offsets = np.arange(0.0, 260.0, 4.0)
    touched = [len({byte // sector for byte in range(int(o), int(o) + 128)}) for o in offsets]
    bandwidth = 128 / (0.2 + np.array(touched, dtype=np.float64))
    found = sector_bytes(curve(offsets, noisy(bandwidth, amplitude, seed)), 128)
    assert found.value == sector


def test_no_sector_where_misalignment_is_free_or_unmeasured() -> None:
    offsets = np.arange(0.0, 132.0, 4.0)
    free = sector_bytes(curve(offsets, noisy(np.ones(33), 0.03, 1)), 128)
    aligned = sector_bytes(curve(np.array([0.0]), np.array([1.0])), 128)
    assert (free.value, aligned.value) == (None, None)
    assert "as fast" in free.reason


def test_conflict_degree_by_counting() -> None:
    for stride in range(34):
        for banks, width in ((16, 4), (32, 4), (32, 8)):
            passes: dict[int, set[int]] = {}
            for lane in range(32):
                word = lane * stride * 4 // width
                passes.setdefault(word % banks, set()).add(word)
            expected = max(len(words) for words in passes.values())
            assert conflict_degree(stride, 32, banks, width, 4) == expected


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([(16, 4, 16), (32, 4, 32), (32, 8, 32), (64, 4, 64)]), SEEDS)
def test_banks_from_strides(layout: tuple[int, int, int], seed: int) -> None:
    banks, width, lanes = layout
    strides = np.arange(1.0, 34.0) if banks < 64 else np.array([*range(1, 34), 64.0])
    degrees = np.array([conflict_degree(int(s), lanes, banks, width, 4) for s in strides])
    found = local_banks(curve(strides, noisy(1 / (0.1 + degrees), 0.03, seed)), lanes)
    assert found.count.value == banks
    assert found.width_bytes.value == width


def test_no_banks_without_conflicts() -> None:
    found = local_banks(curve(np.arange(1.0, 34.0), np.ones(33)), 32)
    assert found.count.value is None
    assert "no bank conflicts" in found.count.reason


def test_no_banks_where_the_strides_tell_nothing_of_them() -> None:
    """A cache of lines: slower with every stride, but by no number of banks."""
    strides = np.arange(1.0, 34.0)
    found = local_banks(curve(strides, 1 / strides), 32)
    assert found.count.value is None


@pytest.mark.parametrize("units", [1, 2, 8])
def test_sharing_of_private_and_common_caches(units: int) -> None:
    footprints = 1024.0 * 2.0 ** (np.arange(49) / 3)
    same = np.where(footprints <= 2**15, 9.0, np.where(footprints <= 2**22, 3.0, 1.0))
    own = np.where(footprints <= 2**15, 9.0, np.where(footprints <= 2**22 / units, 3.0, 1.0))
    private, common = units_sharing_caches(curve(footprints, same), curve(footprints, own), units)
    assert private.value == 1
    assert common.value == units


def test_sharing_is_unknown_where_curves_disagree() -> None:
    footprints = 1024.0 * 2.0 ** (np.arange(49) / 3)
    one_cache = curve(footprints, np.where(footprints <= 2**15, 9.0, 1.0))
    far_larger = curve(footprints, np.where(footprints <= 2**21, 9.0, 1.0))
    flat = curve(footprints, np.ones_like(footprints))
    (sharing,) = units_sharing_caches(one_cache, far_larger, 4)
    (nothing,) = units_sharing_caches(flat, flat, 4)
    assert (sharing.value, nothing.value) == (None, None)
    assert "no sharing explains" in sharing.reason


def sawtooth(items: Floats, width: int, fixed: float = 0.3) -> Floats:
    return items / (fixed + np.ceil(items / width))


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 30), st.floats(0, 0.03), SEEDS)
def test_compute_units_are_the_period_of_the_sawtooth(
    units: int, amplitude: float, seed: int
) -> None:
    groups = np.arange(1.0, 4 * units + 2)
    found = compute_units(curve(groups, noisy(sawtooth(groups, units), amplitude, seed)))
    assert found.value == units


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_wavefront_is_the_period_over_work_items(width: int) -> None:
    items = np.arange(4.0, 4 * width + 1, 4.0)
    found = wavefront_width(curve(items, noisy(sawtooth(items, width), 0.02, 3)))
    assert found.value == width


def absent_reasons(*detections: Detection) -> list[str]:
    assert all(detection.value is None for detection in detections)
    return [detection.reason for detection in detections]


def test_no_width_without_steps() -> None:
    items = np.arange(1.0, 65.0)
    even, few, coarse = absent_reasons(
        wavefront_width(curve(items, items / (1 + 0.1 * items))),
        wavefront_width(curve(items[:3], items[:3])),
        wavefront_width(curve(np.array([64.0, 128.0, 192.0, 448.0]), np.ones(4))),
    )
    assert "evenly" in even
    assert "fewer than four" in few
    assert coarse


@pytest.mark.parametrize("width", [8, 32, 64])
def test_wavefront_from_divergence(width: int) -> None:
    """Runs shorter than a wavefront make it execute both sides."""
    runs = octaves(9)
    throughput = np.where(runs >= width, 2.0, 1.0)
    assert width_from_divergence(curve(runs, noisy(throughput, 0.03, 7))).value == width


def test_no_width_where_divergence_is_free() -> None:
    runs = octaves(9)
    assert width_from_divergence(curve(runs, np.ones(9))).value is None


def test_layouts_that_the_measured_points_cannot_tell_apart_are_not_guessed() -> None:
    strides = np.arange(1.0, 34.0)
    degrees = np.array([conflict_degree(int(s), 64, 32, 4, 4) for s in strides])
    banks = local_banks(curve(strides, 1 / (0.1 + degrees)), 64)
    sector = sector_bytes(curve(np.array([0.0, 4.0]), np.array([1.0, 0.7])), 128)
    reasons = absent_reasons(banks.count, sector)
    assert "several bank counts" in reasons[0]
    assert "several sizes" in reasons[1]


def test_scattered_strides_show_no_line() -> None:
    strides = 4.0 * octaves(8)
    scattered = np.array([8.0, 1.0, 6.0, 1.0, 7.0, 2.0, 1.0, 2.0])
    assert "no line explains" in line_bytes(curve(strides, scattered)).reason
