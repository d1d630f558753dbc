"""The reader of measurements: what is written is read back, and what is wrong is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kernelcast.errors import MetricsError
from kernelcast.validation.latency_chains import (
    ChainLine,
    ChainMachine,
    ChainPoint,
    FailedChain,
    MeasuredChain,
    MeasuredLatencies,
)
from kernelcast.validation.measured_times import (
    Api,
    DeviceFacts,
    FailedCase,
    MeasuredCheck,
    MeasuredDevice,
    MeasuredRow,
    MeasuredTime,
    Publication,
    read_measured,
)

Record = dict[str, Any]

ROW = MeasuredRow(
    workload="memory/triad",
    size="full",
    kernel="triad",
    grid=(128, 2, 1),
    block=(256, 1, 1),
    registers=16,
    shared_bytes=0,
    local_bytes=None,
    time_s=MeasuredTime(median=2e-3, mean=2.1e-3, std=1e-4, min=1.9e-3, repeats=20),
    clocks={"sm_hz_before": 1.98e9},
    check=MeasuredCheck(passed=True, worst=None),
    restored=("a",),
    metrics={"dram__bytes_read.sum": 1024.0},
    warnings=("odd",),
)
FACTS = DeviceFacts(
    name="NVIDIA Example",
    compute_capability="9.0",
    sm_count=132,
    sm_clock_hz=1.98e9,
    memory_clock_hz=2.6e9,
    memory_bus_bits=5120,
    l2_bytes=50 << 20,
    driver=None,
    cuda_version="12.8",
    date="2026-01-01T00:00:00+00:00",
)
MEASURED = MeasuredDevice(
    Api.CUDA, FACTS, 2e-6, (ROW,), (FailedCase("memory/copy", "full", "no memory"),)
)


def written(folder: Path, change: Callable[[Record], object]) -> Path:
    """The file of MEASURED after `change`."""
    record = json.loads(MEASURED.to_json())
    change(record)
    path = folder / "gpu.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    path.write_text(MEASURED.to_json(), encoding="utf-8")
    assert read_measured(path) == MEASURED


MACHINE = ChainMachine("sm_90", {"FFMA": 1.0}, {"FFMA -> FFMA": 1.0}, 4.0, is_loaded=True)
LATENCIES = MeasuredLatencies(
    chains=(
        MeasuredChain(
            name="fma.f32",
            points=(ChainPoint(8, 45), ChainPoint(16, 77)),
            line=ChainLine(cycles_per_step=4.0, offset=-13.0, residual=0.0),
            machine=ChainMachine(
                "sm_90", {"FFMA": 1.0}, {"FFMA -> FFMA": 1.0}, 4.0, is_loaded=True
            ),
        ),
        MeasuredChain("popc", (ChainPoint(8, 9), ChainPoint(16, 17)), ChainLine(1, 1, 0), None),
    ),
    failures=(FailedChain("bfind", "no"),),
    remarks=("odd",),
)


def with_latencies(change: Callable[[Record], object]) -> Callable[[Record], object]:
    """A change of the record with latencies."""

    def changed(record: Record) -> object:
        record["latencies"] = json.loads(json.dumps(asdict(LATENCIES)))
        return change(record["latencies"])

    return changed


def test_latencies_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    measured = replace(MEASURED, latencies=LATENCIES)
    path.write_text(measured.to_json(), encoding="utf-8")
    assert read_measured(path) == measured
    assert json.loads(path.read_text())["latencies"]["schema"] == 1


def test_files_without_results_and_latencies_are_read(tmp_path: Path) -> None:
    """Published times, and files of older releases."""

    def without(record: Record) -> None:
        del record["latencies"], record["rows"][0]["results"], record["rows"][0]["code"]

    assert read_measured(written(tmp_path, without)) == MEASURED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(schema=2), "latencies.schema must be 1"),
        (lambda r: r.update(chain=[]), "latencies.chain is not a known field"),
        (lambda r: r["chains"][0]["points"].pop(), "chains[0].points must be of two lengths"),
        (lambda r: r["chains"][0]["line"].pop("offset"), "chains[0].line.offset is missing"),
        (lambda r: r["chains"][0]["machine"].update(x=1), "machine.x is not a known field"),
    ],
)
def test_wrong_latencies_are_named(
    tmp_path: Path, change: Callable[[Record], object], message: str
) -> None:
    with pytest.raises(MetricsError, match=re.escape(message)):
        read_measured(written(tmp_path, with_latencies(change)))


RESULT = {
    "name": "a",
    "type": "float32",
    "count": 4,
    "before": "0" * 64,
    "after": "1" * 64,
    "elements": [{"index": 3, "bits": "3f800000"}],
}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("before", "0" * 62, "results[0].before must be bytes in hexadecimal"),
        ("after", "x" * 64, "results[0].after must be bytes in hexadecimal"),
        ("elements", [{"index": 4, "bits": "00"}], "elements[0].index must be below 4, got 4"),
        ("elements", [{"index": 0, "bits": "123"}], "elements[0].bits must be bytes"),
        ("digest", "", "results[0].digest is not a known field"),
    ],
)
def test_wrong_results_are_named(tmp_path: Path, field: str, value: object, message: str) -> None:
    def change(record: Record) -> None:
        record["rows"][0]["results"] = [{**RESULT, field: value}]

    with pytest.raises(MetricsError, match=re.escape(message)):
        read_measured(written(tmp_path, change))


def test_rows_are_found_by_workload_and_size() -> None:
    assert MEASURED.row("memory/triad", "full") is ROW
    assert MEASURED.row("memory/triad", "small") is None


def test_peak_bandwidth_counts_two_transfers_a_cycle() -> None:
    assert FACTS.peak_bytes_per_s == pytest.approx(2.6e9 * 640 * 2)


def test_a_published_time_is_read_back_with_its_source(tmp_path: Path) -> None:
    """A publication gives one figure and no facts of the driver."""
    source = Publication("A. Author, A Title, 2020, table 3", "mean of 9", "none", 0.005)
    row = replace(ROW, time_s=MeasuredTime(None, 2e-3, None, None, 9), published=source)
    measured = replace(MEASURED, rows=(row,), launch_overhead_s=None)
    path = tmp_path / "gpu-published.json"
    path.write_text(measured.to_json(), encoding="utf-8")
    assert read_measured(path) == measured


def test_the_median_comes_before_the_mean_and_the_minimum() -> None:
    time = ROW.time_s
    assert time.seconds == 2e-3
    assert time.spread == pytest.approx(1e-4 / 2e-3)
    assert replace(time, median=None).seconds == 2.1e-3
    assert replace(time, median=None, mean=None).seconds == 1.9e-3
    assert replace(time, std=None).spread == 0.0


def test_failures_may_be_absent(tmp_path: Path) -> None:
    assert read_measured(written(tmp_path, lambda record: record.pop("failures"))).failures == ()


def set_row(**values: object) -> Callable[[Record], object]:
    return lambda record: record["rows"][0].update(values)


def set_time(**values: object) -> Callable[[Record], object]:
    return lambda record: record["rows"][0]["time_s"].update(values)


WRONG: dict[str, tuple[Callable[[Record], object], str]] = {
    "schema": (lambda record: record.update(schema=2), "schema must be 1"),
    "no schema": (lambda record: record.pop("schema"), "schema is missing"),
    "unknown": (lambda record: record.update(rowz=[]), "rowz is not a known field (did you mean"),
    "api": (lambda record: record.update(api="hip"), "api must be one of cuda, opencl, got 'hip'"),
    "rows": (lambda record: record.update(rows={}), "rows must be a list, got dict"),
    "row": (lambda record: record.update(rows=[3]), "rows[0] must be an object, got int '3'"),
    "twice": (lambda record: record["rows"].append(record["rows"][0]), "rows[1]: memory/triad"),
    "device": (lambda record: record["device"].pop("sm_count"), "device.sm_count is missing"),
    "sm": (lambda record: record["device"].update(sm_count=True), "sm_count must be a whole"),
    "driver": (lambda record: record["device"].update(driver=5), "device.driver must be a text"),
    "grid": (set_row(grid=[1, 2]), "rows[0].grid must be three positive whole numbers"),
    "block": (set_row(block=[0, 1, 1]), "rows[0].block must be three positive"),
    "registers": (set_row(registers=1.5), "rows[0].registers must be a whole number"),
    "metric": (set_row(metrics={"a": "b"}), "rows[0].metrics.a must be a number, got str 'b'"),
    "nan": (set_row(metrics={"a": float("nan")}), "rows[0].metrics.a must be finite"),
    "warnings": (set_row(warnings=[1]), "rows[0].warnings must be a list of texts"),
    "check": (set_row(check={"passed": 1, "worst": 0}), "rows[0].check.passed must be true or"),
    "negative": (set_time(std=-1.0), "rows[0].time_s.std must not be negative, got -1"),
    "minimum": (set_time(min=1.0), "rows[0].time_s.median is below the minimum of 1 s"),
    "no time": (set_time(median=None, mean=None, min=None), "must have a median, a mean or a min"),
    "published": (set_row(published={"sauce": "x"}), "published.sauce is not a known field"),
    "no source": (set_row(published={}), "rows[0].published.source is missing"),
    "repeats": (set_time(repeats=0), "rows[0].time_s.repeats must be positive, got 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_name_file_and_field(what: str, tmp_path: Path) -> None:
    change, message = WRONG[what]
    path = written(tmp_path, change)
    with pytest.raises(MetricsError) as caught:
        read_measured(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_measurements(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(MetricsError, match="No such file"):
        read_measured(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(MetricsError, match="not JSON"):
        read_measured(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(MetricsError, match="must be an object, got list"):
        read_measured(path)
