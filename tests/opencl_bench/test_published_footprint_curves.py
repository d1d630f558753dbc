"""Detected levels of published footprint curves against the published summary of the same runs.

data/footprint_curves.csv: pointer-chase latency and cache bandwidth over footprint, one a row;
data/footprint_summary.csv: their plateaus and knees as others read them from the raw rows.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kernelcast.opencl_bench.fits.memory_levels import (
    bandwidth_levels,
    latency_levels,
    value_between,
)
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Unit

DATA = Path(__file__).parent / "data"
TOLERANCE = 0.15

Row = dict[str, str]


def read(name: str) -> list[Row]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


CURVES = read("footprint_curves.csv")
SUMMARY = read("footprint_summary.csv")


def curve_of(row: Row) -> Curve:
    is_latency = row["metric"].startswith("pointer_chase")
    pairs = zip(row["footprints_kb"].split(), row["values"].split(), strict=True)
    points = sorted((float(kilobytes) * 1e3, float(value)) for kilobytes, value in pairs)
    unit = Unit.SECONDS if is_latency else Unit.BYTES_PER_S
    return Curve(
        row["metric"],
        "footprint",
        Unit.BYTES,
        row["unit"],
        unit,
        tuple(CurvePoint(x, y, 0.0) for x, y in points),
        row["source_file"],
    )


def summary_of(row: Row, prefix: str) -> list[Row]:
    """The summary's rows of the device and benchmark that a curve comes from.

    They are of the same publication where it has any, else of the other one, which measured the
    same kind of device.
    """
    publication, benchmark = row["source_file"].rsplit("/", 1)[0].split(":")
    facts = [
        fact
        for fact in SUMMARY
        if fact["device"] == row["device"]
        and f":{benchmark} " in fact["source_file"]
        and fact["metric"].startswith(prefix)
    ]
    own = [fact for fact in facts if fact["source_file"].startswith(publication)]
    return own or facts


def curves_with(metric: str, prefix: str) -> list[Row]:
    return [row for row in CURVES if row["metric"].startswith(metric) and summary_of(row, prefix)]


def named(row: Row) -> str:
    return f"{row['device']}-{row['source_file'].split('/')[0]}"


CHASES = curves_with("pointer_chase", "lat_")
LATENCIES = ("lat_L1", "lat_L1.5", "lat_L2", "lat_LLC", "lat_DRAM")


@pytest.mark.parametrize("row", CHASES, ids=named)
def test_latencies_are_those_of_the_summary(row: Row) -> None:
    facts = {fact["metric"]: float(fact["value"]) for fact in summary_of(row, "lat_")}
    levels = latency_levels(curve_of(row))
    names = [name for name in LATENCIES if name in facts]
    assert len(levels) == len(names)
    for name, level in zip(names, levels, strict=True):
        assert level.value == pytest.approx(facts[name], rel=TOLERANCE), name


@pytest.mark.parametrize("row", CHASES, ids=named)
def test_capacities_are_those_of_the_summary(row: Row) -> None:
    names = [fact["metric"] for fact in summary_of(row, "lat_")]
    knees = {fact["metric"]: float(fact["value"]) * 1e3 for fact in summary_of(row, "knee_")}
    levels = latency_levels(curve_of(row))
    second = 2 if "lat_L1.5" in names else 1
    assert levels[0].fits_bytes == pytest.approx(knees["knee_L1_latency"], rel=TOLERANCE)
    assert levels[second].fits_bytes == pytest.approx(knees["knee_L2_latency"], rel=TOLERANCE)


def test_every_device_with_a_latency_summary_is_compared() -> None:
    summarised = {fact["device"] for fact in SUMMARY if fact["metric"].startswith("lat_")}
    assert {row["device"] for row in CHASES} == summarised
    assert len(summarised) == 12


@pytest.mark.parametrize(
    ("device", "level", "kibibytes"),
    [
        ("V100-PCIe", 1, 6144),
        ("A100-80GB", 2, 40 * 1024),  # behind the near half of the L2 comes the far one
        ("A40", 1, 6144),
        ("L40", 1, 96 * 1024),
        ("GH200", 2, 60 * 1024),
        ("MI300A", 0, 32),
        ("MI300A", 1, 4096),
        ("MI300A", 2, 256 * 1024),
        ("MI300X", 1, 4096),
        ("MI300X", 2, 256 * 1024),
        ("RX6900XT", 0, 16),
        ("RX6900XT", 1, 128),
        ("RX6900XT", 2, 4096),
        ("RX6900XT", 3, 128 * 1024),
    ],
)
def test_half_way_capacities_are_the_makers(device: str, level: int, kibibytes: int) -> None:
    """The densest curve of each device; address translation bends most of them before the knee."""
    rows = [row for row in CHASES if row["device"] == device]
    densest = max(rows, key=lambda row: len(row["values"].split()))
    found = latency_levels(curve_of(densest))[level]
    assert found.capacity_bytes == pytest.approx(kibibytes * 1024, rel=0.05)


@pytest.mark.parametrize(
    "row", curves_with("shared_cache_bw", "bw_"), ids=lambda row: f"{row['device']}-distinct"
)
def test_bandwidths_of_distinct_buffers_are_those_of_the_summary(row: Row) -> None:
    facts = {fact["metric"]: float(fact["value"]) for fact in summary_of(row, "bw_")}
    order = ["bw_L2_distinct", "bw_LLC", "bw_DRAM_read_l2bench"]
    expected = [facts[name] for name in order if name in facts]
    levels = bandwidth_levels(curve_of(row))
    assert [level.value for level in levels] == pytest.approx(expected, rel=TOLERANCE)


@pytest.mark.parametrize(
    "row", curves_with("cache_bw_samebuf", "bw_L1"), ids=lambda row: f"{named(row)}-same"
)
def test_bandwidth_between_known_capacities_is_that_of_the_summary(row: Row) -> None:
    """Where latency tells the capacities, bandwidth needs no plateaus: these curves are noisy."""
    facts = {fact["metric"]: fact for fact in summary_of(row, "bw_")}
    last_kilobytes = float(facts["bw_L1"]["x"].split("<=")[1].split()[0])
    found = value_between(curve_of(row), 0.0, last_kilobytes * 1e3 * 1.25)
    assert found == pytest.approx(float(facts["bw_L1"]["value"]), rel=TOLERANCE)
