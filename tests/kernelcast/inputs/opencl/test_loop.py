"""The closed loop: what it runs, what it makes of times, and the references of its kernels."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_accelerator import FakeAccelerator

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import KernelcastError
from kernelcast.measuring.accelerator import BuiltKernel, DeviceBuffer, DeviceLaunch, MeasuringError
from kernelcast.measuring.cases import Case
from kernelcast.validation.measured_times import Api
from kernelcast.validation.opencl import (
    is_throughput_bound,
    opencl_cases,
    validate_opencl,
    validate_opencl_times,
)
from kernelcast.validation.opencl_times import LoopTime, read_loop_times
from kernelcast.workload.file import load_workload

MICRO_BENCHMARKS = Path(__file__).resolve().parents[4] / "validation" / "opencl"
SECONDS = 3e-3

pytestmark = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("clang", "clang-15", "clang-14")),
    reason="clang is not installed",
)

KERNEL = """
__kernel void twice(__global float *x) {
    const size_t i = get_global_id(0);
    x[i] = 2.0f * x[i];
}
__kernel void shifted(__global float *x, __local float *part) {
    part[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = part[63 - get_local_id(0)];
}
__kernel void some(__global float *x) {
    if (get_global_id(0) % 3 == 0)
        x[get_global_id(0)] = sqrt(x[get_global_id(0)]) + 1.0f;
}
__kernel void counted(__global int *x) { atomic_add(x + get_global_id(0) % 7, 1); }
"""
WORKLOAD = """
[kernel]
source = "k.cl"
entry = "twice"
options = ["-DX=1"]
[sizes.full]
n = 4096
[launch]
global_size = ["n"]
local_size = [64]
[[args]]
name = "x"
type = "f32[n]"
init = "ones"
[check]
reference = "reference.py:twice"
"""


class Twice(FakeAccelerator):
    """A device that knows `twice`, for SECONDS."""

    is_dry_run = False

    def __init__(self, factor: float = 2.0) -> None:
        super().__init__(Api.OPENCL)
        self.factor = factor
        self.options: Sequence[str] = ()

    def build(self, source: bytes, entry: str, options: Sequence[str] = ()) -> BuiltKernel:
        self.options = options
        return super().build(source, entry, options)

    def time(self, launch: DeviceLaunch) -> float:
        (buffer,) = launch.arguments
        assert isinstance(buffer, DeviceBuffer)
        buffer.handle.view(np.float32)[:] *= self.factor
        return SECONDS


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "k.toml").write_text(WORKLOAD)
    (tmp_path / "reference.py").write_text("def twice(a, sizes):\n    return {'x': 2 * a['x']}\n")
    return Case("twice", "full", load_workload(tmp_path / "k.toml"))


def test_at_least_fifteen_kernels_and_the_three_micro_benchmarks() -> None:
    cases = opencl_cases()
    assert len({case.name for case in cases}) >= 15
    assert all(case.workload.kernel.source.suffix == ".cl" for case in cases)
    files = {case.workload.kernel.source.name for case in cases}
    assert files >= {"mixed.cl", "cache.cl", "local_memory.cl"}


def test_predicted_stands_beside_measured(case: Case) -> None:
    device, accelerator = kc.device("gtx-480"), Twice()
    report = validate_opencl(device, accelerator, ["roofline"], [case])
    (point,) = report.times
    assert (point.kernel, point.device, point.model) == ("twice full", "gtx-480", "roofline")
    assert point.measured_s == SECONDS
    # 4096 floats read and written at the peak bandwidth
    assert point.predicted_s == pytest.approx(2 * 4 * 4096 / 1.77e11)
    assert accelerator.options == ("-DX=1",)
    assert report.notes == (
        f"roofline: median error {abs(point.error):.1%} of the 1 throughput-bound kernels (no "
        "barriers, no atomics, full warps): twice full",
    )


def test_wrong_results_are_not_compared(case: Case) -> None:
    report = validate_opencl(kc.device("gtx-480"), Twice(3.0), ["roofline"], [case])
    assert not report.times
    assert report.notes == ("twice full: wrong results on dry run: not compared",)


def test_a_device_that_fails_is_a_note(case: Case, monkeypatch: Any) -> None:
    def fail(*_: object) -> float:
        raise MeasuringError("no more")

    monkeypatch.setattr(Twice, "time", fail)
    report = validate_opencl(kc.device("gtx-480"), Twice(), ["roofline"], [case])
    assert (report.times, report.notes) == ((), ("twice full: no more",))


def test_a_model_that_never_applies_is_one_note(case: Case) -> None:
    cases = [case, replace(case, name="again")]
    device = replace(kc.device("gtx-480"), timing=None)
    report = validate_opencl(device, Twice(), ["interval"], cases)
    (note,) = report.notes
    assert note.startswith("interval does not apply: ")
    assert note.endswith(" (2 kernels: twice full, again full)")


def test_times_of_an_earlier_run_are_compared_anew(case: Case) -> None:
    device, models = kc.device("gtx-480"), ["roofline"]
    times = {
        "twice full": LoopTime(SECONDS, "a GPU", "2031-05-06"),
        "old full": LoopTime(1, "", ""),
    }
    report = validate_opencl_times(device, times, models, [case, replace(case, name="new")])
    (point,) = report.times
    assert (point.kernel, point.measured_s) == ("twice full", SECONDS)
    assert point.source == "a GPU, 2031-05-06"
    assert point.predicted_s == pytest.approx(2 * 4 * 4096 / 1.77e11)
    assert report.notes[:2] == (
        "old full: measured, but no kernel of today",
        "new full: no measured time",
    )


def _recorded(folder: Path, record: object) -> Path:
    file = folder / "times.json"
    file.write_text(record if isinstance(record, str) else json.dumps(record))
    return file


def _row(**changes: object) -> dict[str, object]:
    row = {"kernel": "twice full", "measured_s": SECONDS, "source": "GTX 480, rev 2, 2031-05-06"}
    return row | changes


def test_times_are_read_from_what_the_command_writes(tmp_path: Path) -> None:
    device = kc.device("gtx-480")
    named = replace(device, architecture=replace(device.architecture, name=" GTX 480,  rev 2 "))
    file = _recorded(tmp_path, {"suite": "opencl", "rows": [_row(), _row(kernel="b full")]})
    expected = LoopTime(SECONDS, "GTX 480, rev 2", "2031-05-06")
    assert read_loop_times(file, named) == {"twice full": expected, "b full": expected}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"suite": "opencl", "rows": [_row()]}, "times of GTX 480, rev 2, but gtx-480 describes"),
        ({"suite": "opencl", "rows": []}, "not what kernelcast validate opencl --json writes"),
        ({"suite": "thesis", "rows": [_row()]}, "not what kernelcast validate opencl --json"),
        ({"suite": "opencl", "rows": [_row(measured_s=0)]}, "not what kernelcast validate opencl"),
        ([1], "not what kernelcast validate opencl --json writes"),
        ("{", "no JSON"),
    ],
)
def test_other_files_of_times_are_refused(tmp_path: Path, record: object, message: str) -> None:
    with pytest.raises(KernelcastError, match=message):
        read_loop_times(_recorded(tmp_path, record), kc.device("gtx-480"))


def test_a_missing_file_of_times_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("opencl", "--device", "gtx-480", "--measured", "nowhere.json")
    assert main(["validate", *options]) == 2
    assert "nowhere.json: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "expected"), [("twice", True), ("shifted", False), ("some", False), ("counted", False)]
)
def test_what_counts_as_throughput_bound(case: Case, name: str, expected: bool) -> None:
    kernel = kc.load(case.workload.kernel.source)[name]
    array = np.ones(128, np.int32 if name == "counted" else np.float32)
    local = [kc.LocalBytes(256)] if name == "shifted" else []
    trace = kernel.run(global_size=128, local_size=64, args=[array, *local])
    assert is_throughput_bound(trace) is expected


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("mixed_fp32", "4_multiply_adds"),
        ("mixed_fp64", "0_multiply_adds"),
        ("cache_read", "16_KiB"),
        ("cache_read", "256_KiB"),
        ("local_swap_128", "full"),
        ("local_swap_32", "full"),
    ],
)
def test_micro_benchmarks_compute_what_their_references_say(name: str, size: str) -> None:
    workload = load_workload(MICRO_BENCHMARKS / f"{name}.toml")
    assert workload.run_check(size).passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("opencl", "--accept"), "opencl has no errors to accept: they are those of one machine"),
        (("opencl", "--size", "full"), "are of the suite"),
        (("opencl", "--workload", "gemm"), "are of the suite"),
        (("thesis", "--opencl-device", "0"), "--opencl-device is of opencl"),
        (("thesis", "--measured", "x.json"), "--measured is of opencl"),
        (("opencl", "--measured", "x.json"), "--measured compares with --device"),
        (
            ("opencl", "--device", "gtx-480", "--measured", "x.json", "--opencl-device", "0"),
            "no --opencl-device",
        ),
        (
            ("opencl", "--device", "gtx-480", "--device", "gtx-660"),
            "validate opencl measures one device",
        ),
    ],
)
def test_options_of_other_suites_are_refused(
    options: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", *options]) == 2
    assert message in capsys.readouterr().err
