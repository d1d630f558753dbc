"""The suite of workloads and the comparison with measured devices, from the command line down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kernelcast.cli import app
from kernelcast.errors import KernelcastError
from kernelcast.models import MODELS
from kernelcast.validation.measured import validate_measured
from kernelcast.validation.workload_suite import (
    SUITE,
    EngineRun,
    WorkloadResult,
    run_suite,
    run_workload,
    workload_files,
)

ROOT = Path(__file__).parents[3]
PTX = """
.version 8.0
.target sm_50
.address_size 64
.visible .entry twice(.param .u64 x)
{ .reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; ld.global.u32 %r2, [%d1];
  add.u32 %r2, %r2, %r2; st.global.u32 [%d1], %r2; ret; }
"""
WORKLOAD = """
[kernel]
source = "twice.ptx"
[sizes.small]
n = 64
[launch]
grid = 1
block = "n"
[[args]]
name = "x"
type = "u32[n]"
init = "arange"
[check]
reference = "reference.py:twice"
"""
REFERENCE = """
def twice(inputs, sizes):
    return {"x": FACTOR * inputs["x"]}
"""


def workload(folder: Path, factor: int, threads: str = "n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "twice.ptx").write_text(PTX)
    (folder / "reference.py").write_text(REFERENCE.replace("FACTOR", str(factor)))
    file = folder / "twice.toml"
    file.write_text(WORKLOAD.replace('block = "n"', f'block = "{threads}"'))
    return file


def test_every_workload_is_complete() -> None:
    """Source, PTX, check, and the two sizes that the suite asks for."""
    files = workload_files()
    assert len(files) >= 40
    from kernelcast.workload.file import load_workload

    for file in files:
        found = load_workload(file)
        assert next(iter(found.sizes)) == "small", file
        assert "full" in found.sizes, file
        assert found.check is not None, file
        assert found.kernel.source.with_suffix(".cu").is_file(), file
    twins = list(SUITE.rglob("*.cl"))
    assert len(twins) >= 15


def test_a_workload_runs_on_both_engines_and_is_estimated(tmp_path: Path) -> None:
    result = run_workload(
        workload(tmp_path, 2), "small", ["gtx-480", "r9-nano"], ["jit", "reference"]
    )
    assert result.failures == ()
    assert [run.engine for run in result.runs] == ["jit", "reference"]
    assert {run.thread_instructions for run in result.runs} == {64 * 8}
    times = {(item.device, item.model): item.time_s for item in result.estimates}
    assert set(times) == {(d, m) for d in ("gtx-480", "r9-nano") for m in MODELS}
    assert all(time is None or time > 0 for time in times.values())


def test_what_does_not_fit_a_device_says_so(tmp_path: Path) -> None:
    """The R9 Nano takes 256 threads in a thread block."""
    file = workload(tmp_path, 2, threads="5 * n")
    file.write_text(file.read_text().replace('type = "u32[n]"', 'type = "u32[5 * n]"'))
    result = run_workload(file, "small", ["gtx-480", "r9-nano"], ["jit"])
    reasons = {item.device: item.reason for item in result.estimates}
    assert "256" in reasons["r9-nano"]
    assert {i.device for i in result.estimates if i.time_s} == {"gtx-480"}
    assert result.failures == ()


def test_wrong_results_and_broken_files_are_failures(tmp_path: Path) -> None:
    bad = run_workload(workload(tmp_path / "a" / "bad", 3), "small", [], ["jit"])
    assert bad.failures == ("jit: x: 63 of 64 elements differ",)
    (tmp_path / "a" / "worse").mkdir()
    (tmp_path / "a" / "worse" / "w.toml").write_text("[kernel]\n")
    report = run_suite(workload_files(tmp_path / "a"), engines=["jit"], jobs=1)
    assert [result.name for result in report.failed] == ["bad/twice", "worse/w"]
    with pytest.raises(KernelcastError, match="no workloads"):
        workload_files(tmp_path / "nothing")


def test_engines_must_agree_unless_the_path_depends_on_the_order_of_atomics() -> None:
    runs = (EngineRun("jit", 0.1, 10), EngineRun("reference", 0.1, 11))
    assert "10 and 11" in WorkloadResult("w", "small", runs).failures[0]
    assert WorkloadResult("w", "small", runs, is_ordered=False).failures == ()
    ordered = {
        name: run_workload(SUITE / f"{name}.toml", "small", [], ["jit"]).is_ordered
        for name in ("graph/bfs_level", "histogram/global_atomics")
    }
    assert ordered == {"graph/bfs_level": False, "histogram/global_atomics": True}


def test_the_suite_from_the_command_line() -> None:
    told = CliRunner().invoke(
        app,
        [
            "validate",
            "suite",
            "--workload",
            "memory/triad",
            "--device",
            "gtx-480",
            "--model",
            "roofline",
            "--json",
        ],
    )
    assert told.exit_code == 0, told.output
    (row,) = json.loads(told.stdout)["rows"]
    assert row["workload"] == "memory/triad"
    assert row["passed"]
    assert len(row["runs"]) == 2
    assert [item["model"] for item in row["estimates"]] == ["roofline"]
    for arguments in (["suite", "--workload", "no such"], ["papers", "--size", "full"]):
        assert CliRunner().invoke(app, ["validate", *arguments]).exit_code == 2


def test_papers_from_the_command_line(tmp_path: Path) -> None:
    """The model of their times; `make validate-small` runs all others."""
    page, plot = tmp_path / "errors.html", tmp_path / "errors.svg"
    forms = ["--html", str(page), "--plot", str(plot), "--markdown"]
    told = CliRunner().invoke(
        app, ["validate", "papers", "--model", "quantitative-roofline", *forms]
    )
    assert told.exit_code == 0, told.output
    assert "| quantitative-roofline | all | 15 | 31.6% |" in told.stdout
    assert "31.6%" in page.read_text()
    assert plot.read_text().count("<svg") == 1


def measured(folder: Path, seconds: float, **changes: Any) -> None:
    row = {
        "workload": "examples/saxpy/saxpy", "size": "small", "kernel": "saxpy",
        "grid": [1, 1, 1], "block": [256, 1, 1], "registers": 12, "shared_bytes": 0,
        "local_bytes": 0, "clocks": {}, "restored": ["y"], "warnings": [],
        "time_s": {"median": seconds, "mean": seconds, "std": 0.0, "min": seconds, "repeats": 20},
        "check": {"passed": True, "worst": 0.0},
        "metrics": {"dram__sectors_write.sum": 1000.0, "another.sum": 3.0},
    } | changes  # fmt: skip
    device = {
        "name": "GeForce GTX 480", "compute_capability": "2.0", "sm_count": 15,
        "sm_clock_hz": None, "memory_clock_hz": None, "memory_bus_bits": None, "l2_bytes": None,
        "driver": None, "cuda_version": None, "date": "2026-01-01",
    }  # fmt: skip
    record = {
        "schema": 1, "api": "cuda", "device": device, "launch_overhead_s": 2e-6, "rows": [row],
        "failures": [{"workload": "memory/copy", "size": "full", "error": "no memory"}],
        "dry_run": False,
    }  # fmt: skip
    (folder / "gtx-480.json").write_text(json.dumps(record))


def test_measured_times_and_counters(tmp_path: Path) -> None:
    measured(tmp_path, 1e-3)
    report = validate_measured(["roofline"], tmp_path)
    (time,) = report.times
    assert (time.device, time.model, time.measured_s) == ("gtx-480", "roofline", 1e-3)
    assert time.error == pytest.approx(time.predicted_s / 1e-3 - 1)
    (counter,) = report.counters
    assert (counter.metric, counter.measured) == ("dram__sectors_write.sum", 1000.0)
    assert report.notes == ("gtx-480: memory/copy full was not measured: no memory",)


def test_devices_choose_what_was_measured_with_our_own_tools(tmp_path: Path) -> None:
    measured(tmp_path, 1e-3)
    (tmp_path / "gtx-480.json").rename(tmp_path / "gtx-960.json")
    measured(tmp_path, 2e-3)
    report = validate_measured(["roofline"], tmp_path, devices=["gtx-480"])
    assert [time.device for time in report.times] == ["gtx-480"]
    with pytest.raises(KernelcastError, match=r"h200 was not measured: .* has gtx-480, gtx-960"):
        validate_measured([], tmp_path, devices=["h200"])


def test_the_profilers_duration_counts_where_there_is_one(tmp_path: Path) -> None:
    measured(tmp_path, 1e-3, metrics={"gpu__time_duration.sum": 5e5})
    (time,) = validate_measured(["roofline"], tmp_path).times
    assert time.measured_s == pytest.approx(5e-4)


def test_measurements_that_do_not_count_are_noted(tmp_path: Path) -> None:
    with pytest.raises(KernelcastError, match="holds no measurements"):
        validate_measured([], tmp_path)
    measured(tmp_path, 1e-3, check={"passed": False, "worst": 2.0})
    report = validate_measured([], tmp_path)
    assert report.times == ()
    assert any("wrong results" in note for note in report.notes)
    (tmp_path / "gtx-480.json").rename(tmp_path / "gtx-999.json")
    assert validate_measured([], tmp_path).notes == (
        "gtx-999.json: there is no device file gtx-999",
    )


def test_rows_predicted_in_two_processes_are_those_of_one(tmp_path: Path) -> None:
    measured(tmp_path, 1e-3)
    (tmp_path / "gtx-480.json").rename(tmp_path / "gtx-960.json")
    measured(tmp_path, 2e-3, metrics={})
    told: list[tuple[str, float]] = []
    both = validate_measured(["roofline"], tmp_path, lambda *stage: told.append(stage), processes=2)
    assert both == validate_measured(["roofline"], tmp_path)
    assert [time.device for time in both.times] == ["gtx-480", "gtx-960"]
    assert sorted(name for name, _ in told) == [
        f"{device}: examples/saxpy/saxpy small" for device in ("gtx-480", "gtx-960")
    ]
    assert [share for _, share in told] == [0.5, 1.0]


def test_jobs_are_of_suite_and_measured() -> None:
    told = CliRunner().invoke(app, ["validate", "papers", "--jobs", "2"])
    assert told.exit_code == 2
    assert "--jobs is of suite and measured" in told.output
