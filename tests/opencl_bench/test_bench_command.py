"""`kernelcast bench` on the OpenCL device of this machine, and on a synthetic session."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.cli import main
from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench import registry
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.drivers import opencl_device
from kernelcast.opencl_bench.measurement import (
    Curve,
    CurvePoint,
    Finding,
    Unit,
    measurement,
)
from kernelcast.opencl_bench.opencl_target import OpenClTarget
from kernelcast.opencl_bench.target import Target
from kernelcast.simcore.launch.launch import LocalBytes

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130
KERNELS = """
__kernel void count(__global uint *out, uint rounds) {
    uint x = get_global_id(0);
    for (uint i = 0; i < rounds; ++i) x = x * STEP + (x >> 3);
    out[get_global_id(0)] = x;
}
__kernel void share(__global float *out, __local float *part) {
    part[get_local_id(0)] = (float)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[get_local_size(0) - 1 - get_local_id(0)];
}
"""

Output = Callable[..., str]


def _has_driver() -> bool:
    try:
        opencl_device(None)
    except BenchmarkError:
        return False
    return True


needs_driver = pytest.mark.skipif(not _has_driver(), reason="no OpenCL driver")


def _curve(target: Target, effort: Effort) -> Sequence[Finding]:
    points = tuple(CurvePoint(2.0**n, 1e9 * n, 0.2 if n == 5 else 0.0) for n in range(1, 10))
    unit = Unit.BYTES_PER_S
    return [Curve("rate_over_size", "size", Unit.BYTES, "bandwidth", unit, points, "synthetic")]


def _figure(target: Target, effort: Effort) -> Sequence[Finding]:
    return [measurement("barrier_cost", [1e-7, 2e-7, 3e-7], Unit.SECONDS, "synthetic")]


def _wrong(target: Target, effort: Effort) -> Sequence[Finding]:
    raise BenchmarkError("wrong result")


@pytest.fixture
def synthetic(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Three benchmarks that need no driver's time."""
    known = (
        Benchmark("curve", "a curve", _curve),
        Benchmark("figure", "a figure", _figure),
        Benchmark("wrong", "a defect", _wrong),
    )
    monkeypatch.setattr(registry, "BENCHMARKS", known)
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def kernel_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that stands for the package, with the kernels of this file."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "test.cl").write_text(KERNELS, encoding="utf-8")
    monkeypatch.setattr(
        "kernelcast.opencl_bench.opencl_target.resources.files", lambda package: tmp_path
    )
    return tmp_path


@needs_driver
def test_json_has_the_documented_shape(synthetic: None, output: Output) -> None:
    record = json.loads(output("bench", "--quick", "--json"))
    assert list(record) == ["schema", "device", "effort", "file", "benchmarks"]
    assert record["effort"] == "quick"
    assert record["file"] is None
    assert record["device"]["compute_units"] > 0
    states = {item["name"]: (item["state"], item["reason"]) for item in record["benchmarks"]}
    assert states == {
        "curve": ("measured", ""),
        "figure": ("measured", ""),
        "wrong": ("failed", "wrong result"),
    }
    (figure,) = record["benchmarks"][1]["findings"]
    assert (figure["value"], figure["unit"], figure["noisy"]) == (2e-7, "s", True)
    (curve,) = record["benchmarks"][0]["findings"]
    assert curve["points"][0] == [2.0, 1e9, 0.0]


@needs_driver
def test_csv_has_a_row_for_each_point(synthetic: None, output: Output) -> None:
    text = output("bench", "--quick", "--csv", "--only", "curve", "--only", "figure")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in rows] == ["rate_over_size"] * 9 + ["barrier_cost"]
    assert [float(row["value"]) for row in rows[:9]] == [1e9 * n for n in range(1, 10)]
    assert [row["noisy"] for row in rows].count("true") == 2


@needs_driver
def test_the_report_flags_noise_failures_and_what_is_kept(synthetic: None, output: Output) -> None:
    first = output("bench", "--quick")
    assert "noisy: above 10 %" in first
    assert "wrong: failed: wrong result" in first
    assert "kept" not in first
    assert "2 of 3 benchmarks are kept" in output("bench", "--quick")
    assert "kept" not in output("bench", "--quick", "--fresh")


@needs_driver
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plots(synthetic: None, output: Output, tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "plots"
    output("bench", "--quick", "--plots", str(folder), "--plot-format", suffix)
    (plot,) = folder.iterdir()
    assert plot.name == f"rate_over_size.{suffix}"
    start = {"png": b"\x89PNG", "svg": b"<?xml"}[suffix]
    assert plot.read_bytes().startswith(start)


@needs_driver
def test_a_file_without_its_measurements(
    synthetic: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "my.toml"
    assert main(["bench", "--quick", "-o", str(path)]) == BAD_INPUT
    assert "no device file without fp32_multiply_add_throughput" in capsys.readouterr().err
    assert not path.exists()


@needs_driver
def test_an_interrupt_keeps_what_is_done(
    synthetic: None,
    monkeypatch: pytest.MonkeyPatch,
    output: Output,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(target: Target, effort: Effort) -> Sequence[Finding]:
        raise KeyboardInterrupt

    known = registry.BENCHMARKS
    monkeypatch.setattr(registry, "BENCHMARKS", (*known[:2], Benchmark("wrong", "", interrupt)))
    assert main(["bench", "--quick"]) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"
    monkeypatch.setattr(registry, "BENCHMARKS", known)
    record = json.loads(output("bench", "--quick", "--json"))
    assert [item["state"] for item in record["benchmarks"]] == ["kept", "kept", "failed"]


@needs_driver
def test_the_list_shows_devices_and_benchmarks(synthetic: None, output: Output) -> None:
    record = json.loads(output("bench", "--list", "--json"))
    assert record["devices"][0]["index"] == 0
    assert [item["name"] for item in record["benchmarks"]] == ["curve", "figure", "wrong"]
    assert "a defect" in output("bench", "--list")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "my.json"], "device files end in .toml"),
        (["-o", "/nowhere/my.toml"], "there is no folder /nowhere"),
        (["--plots", "/nowhere/plots"], "No such file"),
        (["--only", "figur"], "did you mean figure"),
    ],
)
def test_bad_input(
    synthetic: None, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == BAD_INPUT
    assert message in capsys.readouterr().err


@needs_driver
def test_an_index_beyond_the_devices(synthetic: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--opencl-device", "99"]) == BAD_INPUT
    assert "no OpenCL device 99" in capsys.readouterr().err


@needs_driver
def test_a_real_device_computes_and_takes_longer_for_more(kernel_folder: Path) -> None:
    target = OpenClTarget(opencl_device(None))
    kernel = target.kernel("test.cl", "count", {"STEP": 5})
    assert target.kernel("test.cl", "count", {"STEP": 5}) is kernel
    out = target.buffer(np.zeros(256, np.uint32))
    medians = []
    for rounds in (1000, 100_000):
        seconds = target.seconds(kernel, (256,), (64,), (out, np.uint32(rounds)), 5)
        assert seconds.shape == (5,)
        medians.append(float(np.median(seconds)))
    assert medians[1] > 10 * medians[0]
    target.seconds(kernel, (256,), (64,), (out, np.uint32(3)), 1)
    expected = np.arange(256, dtype=np.uint32)
    for _ in range(3):
        expected = expected * np.uint32(5) + (expected >> np.uint32(3))
    np.testing.assert_array_equal(target.read(out, expected), expected)


@needs_driver
def test_local_memory_transfers_and_launches(kernel_folder: Path) -> None:
    target = OpenClTarget(opencl_device(None))
    kernel = target.kernel("test.cl", "share", {"STEP": True})
    out = target.empty(4 * 64)
    target.seconds(kernel, (64,), (32,), (out, LocalBytes(4 * 32)), 1)
    found = target.read(out, np.zeros(64, np.float32))
    np.testing.assert_array_equal(found, np.tile(np.arange(31, -1, -1), 2))
    for to_device in (True, False):
        seconds: Any = target.transfer_seconds(1 << 20, to_device, 3)
        assert seconds.shape == (3,)
        assert (1 << 20) / seconds.max() > 1e7
    assert 0 < target.launch_seconds(kernel, (out, LocalBytes(4)), 20) < 0.1


@needs_driver
def test_what_a_target_refuses(kernel_folder: Path) -> None:
    target = OpenClTarget(opencl_device(None))
    with pytest.raises(BenchmarkError, match=r"^test\.cl does not compile: .*STEP"):
        target.kernel("test.cl", "count", {})
    with pytest.raises(BenchmarkError, match=r"test\.cl has no kernel cuont"):
        target.kernel("test.cl", "cuont", {"STEP": 1})
    with pytest.raises(BenchmarkError, match=r"no benchmark kernel file none\.cl"):
        target.kernel("none.cl", "count", {})
    with pytest.raises(BenchmarkError, match="the device allows"):
        target.empty(target.facts.max_buffer_bytes + 1)
    kernel = target.kernel("test.cl", "count", {"STEP": 1})
    out, size = target.empty(4), target.facts.max_work_group + 1
    with pytest.raises(BenchmarkError, match=f"a work-group of {size}, the limit is"):
        target.seconds(kernel, (size,), (size,), (out, np.uint32(1)), 1)


@needs_driver
def test_a_quick_real_benchmark(
    output: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path))
    record = json.loads(output("bench", "--quick", "--only", "global_bandwidth", "--json"))
    (bandwidth,) = record["benchmarks"]
    assert bandwidth["state"] == "measured"
    values = {item["name"]: item["value"] for item in bandwidth["findings"]}
    assert 1e8 < values["global_read_bandwidth"] < 1e14


def test_names_of_benchmarks_are_unique() -> None:
    names = [benchmark.name for benchmark in registry.BENCHMARKS]
    assert len(names) == len(set(names))


def test_what_the_device_file_needs_runs_first() -> None:
    names = tuple(benchmark.name for benchmark in registry.BENCHMARKS)
    assert names[: len(registry.FIRST)] == registry.FIRST
