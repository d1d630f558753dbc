"""The CUDA measuring tool without a GPU: dry runs, its options, and the order of a measurement."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_accelerator as fake
import numpy as np
import pytest

from kernelcast.measuring import accelerator, cases, measurement, ncu
from kernelcast.validation.measured_times import (
    Api,
    MeasuredCheck,
    MeasuredDevice,
    MeasuredRow,
    read_measured,
)
from tests.drawn_cases import ALL_CASES, drawn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

measure_cuda: Any = importlib.import_module("measure_cuda")

SAXPY = ["--workload", "examples/saxpy", "--size", "small"]


def only_file(folder: Path) -> MeasuredDevice:
    (path,) = folder.glob("*.json")
    return read_measured(path)


# --- dry runs -------------------------------------------------------------------------------------


def test_a_dry_run_goes_through_every_workload(tmp_path: Path) -> None:
    names = sorted({*drawn(sorted(cases.find_workloads()), 40), "rodinia/kmeans_assign"})
    chosen = [] if ALL_CASES else [word for name in names for word in ("--workload", name)]
    assert measure_cuda.main(["--dry-run", "--output", str(tmp_path), *chosen]) == 1
    measured = only_file(tmp_path)
    assert measured.dry_run
    (textures,) = measured.failures
    assert "features is a texture or surface" in textures.error
    found = {row.workload for row in measured.rows}
    assert found == set(names) - {"rodinia/kmeans_assign"}
    assert {row.size for row in measured.rows} == {"small"}
    assert all(row.check is None and not row.metrics for row in measured.rows)


def test_a_dry_run_writes_nothing_among_the_measurements(capsys: Any) -> None:
    folder = ROOT / "validation" / "measured"
    before = sorted(folder.glob("*"))
    assert measure_cuda.main([*SAXPY, "--dry-run", "--output", str(folder)]) == 2
    assert "a dry run measures nothing" in capsys.readouterr().err
    assert measure_cuda.main([*SAXPY, "--dry-run"]) == 0
    assert sorted(folder.glob("*")) == before


def test_results_are_only_replaced_when_told(tmp_path: Path, capsys: Any) -> None:
    options = ["--dry-run", "--output", str(tmp_path)]
    assert measure_cuda.main([*options, *SAXPY]) == 0
    assert measure_cuda.main([*options, *SAXPY]) == 2
    assert "--resume goes on with it, --overwrite begins anew" in capsys.readouterr().err
    first = only_file(tmp_path).rows[0]
    triad = ["--workload", "memory/triad"]
    assert measure_cuda.main([*options, "--resume", *SAXPY, *triad]) == 0
    assert "measured before" in capsys.readouterr().out
    assert [row.workload for row in only_file(tmp_path).rows] == [first.workload, "memory/triad"]
    assert only_file(tmp_path).rows[0] == first
    assert measure_cuda.main([*options, "--overwrite", *triad]) == 0
    assert [row.workload for row in only_file(tmp_path).rows] == ["memory/triad"]


def test_a_file_of_another_device_is_not_resumed(tmp_path: Path, capsys: Any) -> None:
    options = [*SAXPY, "--dry-run", "--output", str(tmp_path)]
    assert measure_cuda.main(options) == 0
    (path,) = tmp_path.glob("*.json")
    record = json.loads(path.read_text())
    record["device"]["driver"] = "1.0"
    path.write_text(json.dumps(record))
    assert measure_cuda.main([*options, "--resume"]) == 2
    assert "its driver is 1.0, now None" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workload", "memory/tirad"], "no workload 'memory/tirad' (did you mean memory/triad"),
        (["--size", "huge"], "no workload that was asked for has a source for this kind of device"),
    ],
)
def test_what_cannot_be_measured_ends_with_2(options: list[str], message: str, capsys: Any) -> None:
    assert measure_cuda.main([*options, "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_list_names_sizes_and_their_values(capsys: Any) -> None:
    assert measure_cuda.main(["--list", "--workload", "examples/saxpy"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["examples/saxpy/saxpy", "full", "n=16777216"],
        ["examples/saxpy/saxpy", "small", "n=10000"],
    ]


def test_fewer_than_twenty_repeats_are_refused(capsys: Any) -> None:
    with pytest.raises(SystemExit) as caught:
        measure_cuda.main(["--repeats", "19"])
    assert caught.value.code == 2
    assert "must be 20 or more" in capsys.readouterr().err


def test_without_cuda_python_one_line_says_so(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    assert measure_cuda.main(SAXPY) == 2
    assert capsys.readouterr().err == (
        "error: cuda-python is not installed: pip install cuda-python\n"
    )


def test_an_interruption_keeps_what_is_written(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    measure = measurement.Session.measure

    def interrupted(session: measurement.Session, prepared: Any, source: bytes) -> Any:
        if prepared.case.name == "memory/triad":
            raise KeyboardInterrupt
        return measure(session, prepared, source)

    monkeypatch.setattr(measurement.Session, "measure", interrupted)
    options = ["--dry-run", "--output", str(tmp_path), *SAXPY, "--workload", "memory/triad"]
    assert measure_cuda.main(options) == 130
    assert "--resume goes on" in capsys.readouterr().err
    assert [row.workload for row in only_file(tmp_path).rows] == ["examples/saxpy/saxpy"]


# --- broken workloads -----------------------------------------------------------------------------

PTX = """
.version 6.0
.target sm_50
.address_size 64
.visible .entry count(.param .u64 to, .param .u32 n)
{
    ret;
}
"""
TOML = """
[kernel]
source = "count.ptx"
[sizes.small]
n = 4
[launch]
grid = [1]
block = [32]
[[args]]
name = "to"
type = "s32[n]"
[[args]]
name = "n"
type = "s32"
value = "n"
[check]
reference = "reference.py:count"
"""


@pytest.fixture
def own_workload(tmp_path: Path, monkeypatch: Any) -> Callable[[str], Path]:
    """Writes the workload `own/count`, which becomes the only one; gives the folder for results."""

    def write(toml: str) -> Path:
        folder = tmp_path / "workloads" / "own"
        folder.mkdir(parents=True)
        (folder / "count.ptx").write_text(PTX)
        (folder / "count.toml").write_text(toml)
        (folder / "reference.py").write_text(
            "def count(inputs, sizes):\n    return {'to': inputs['to'] + inputs['n']}\n"
        )
        monkeypatch.setattr(cases, "_SUITE", tmp_path / "workloads")
        monkeypatch.setattr(cases, "_EXAMPLES", tmp_path / "none")
        return tmp_path / "results"

    return write


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"s32"', '"s64"', "has 8 bytes, the kernel's parameter n 4"),
        ("block = [32]", "block = [2048]", "exceed"),
        ('"count.ptx"', '"count.ptx"\nentry = "cuont"', "has no kernel 'cuont'"),
        ("n = 4", "n = x", "count.toml"),
    ],
)
def test_a_broken_workload_is_recorded_and_the_run_goes_on(
    own_workload: Callable[[str], Path], old: str, new: str, message: str, capsys: Any
) -> None:
    folder = own_workload(TOML.replace(old, new))
    assert measure_cuda.main(["--dry-run", "--output", str(folder)]) == 1
    measured = only_file(folder)
    assert not measured.rows
    (failure,) = measured.failures
    assert failure.workload == "own/count"
    assert message in failure.error
    assert "failed" in capsys.readouterr().out


def test_the_next_case_is_filled_while_one_is_measured(monkeypatch: Any) -> None:
    begun: list[str] = []
    filled = threading.Event()

    def prepare(case: Any) -> Any:
        begun.append(case)
        if case == "second":
            filled.set()
        if case == "third":
            raise accelerator.MeasuringError("no third")
        return case

    monkeypatch.setattr(cases, "prepare", prepare)
    items = iter(cases.prepared_ahead(["first", "second", "third"]))  # type: ignore[list-item]
    first: Any = next(items)
    assert first() == "first"
    assert filled.wait(10)
    second, third = items
    assert second() == "second"  # type: ignore[comparison-overlap]
    with pytest.raises(accelerator.MeasuringError, match="no third"):
        third()


# --- counters -------------------------------------------------------------------------------------


class Profiler:
    """Stands for ncu: launches what it is told, but for one case; breaks where two are together."""

    def __init__(self, left_out: str = "", breaks_at: str = "") -> None:
        self.left_out, self.breaks_at = left_out, breaks_at
        self.commands: list[list[str]] = []

    def profile(self, command: list[str]) -> tuple[list[ncu.ProfiledLaunch], str]:
        places = [item.removeprefix("--launch-only=") for item in command if "@" in item]
        self.commands.append(places)
        if self.breaks_at in places and self.breaks_at:
            raise accelerator.MeasuringError("ncu: lost")
        done = [place for place in places if place != self.left_out]
        launches = [ncu.ProfiledLaunch("k", {"a__b": float(len(place))}) for place in done]
        return launches, "".join(f"launched {place}\n" for place in done)

    def warnings(self, metrics: Any) -> tuple[str, ...]:
        return ()


def three_cases() -> list[Any]:
    (file,) = cases.find_workloads(["memory/triad"]).values()
    (case,) = cases.cases_of("memory/triad", file, ["small"])
    return [replace(case, name=name) for name in ("a", "bb", "ccc")]


def test_one_run_of_the_profiler_counts_several_cases() -> None:
    profiler = Profiler(left_out="bb@small")
    found = list(measure_cuda.BatchCounters(profiler, 0, "driver").count(three_cases()))
    assert len(profiler.commands) == 1
    assert found == [
        ({"a__b": 7.0}, ()),
        ({}, ("ncu: the case was not launched",)),
        ({"a__b": 9.0}, ()),
    ]


def test_a_case_that_breaks_the_profiler_takes_no_other_with_it() -> None:
    profiler = Profiler(breaks_at="bb@small")
    found = list(measure_cuda.BatchCounters(profiler, 0, "driver").count(three_cases()))
    assert found == [({"a__b": 7.0}, ()), ({}, ("ncu: lost",)), ({"a__b": 9.0}, ())]


def test_only_metrics_that_were_asked_for_are_kept(monkeypatch: Any) -> None:
    by_opcode = "sass__inst_executed_per_opcode_with_modifier_all"
    page = f'"ID","Kernel Name","device__chip","a__b","{by_opcode}"\n"","","","",""\n'
    page += '"0","k","7","1","5 (FFMA: 5; LDG.E: 0)"\n'
    monkeypatch.setattr(ncu, "_run", lambda *_: page)
    ((launch,), _) = ncu.NcuProfiler(Path("ncu"), ("a__b", by_opcode)).profile(["x"])
    assert launch.metrics == {"a__b": 1.0, f"{by_opcode}.FFMA": 5.0}


# --- one measurement ------------------------------------------------------------------------------


class Counting:
    """Executes `count`: to[i] += n. Keeps what each launch found."""

    def __init__(self, monkeypatch: Any, *, wrong: bool = False) -> None:
        self.found: list[list[int]] = []
        self.added = 1 if wrong else 0
        monkeypatch.setattr(fake.FakeAccelerator, "is_dry_run", False)
        monkeypatch.setattr(fake.FakeAccelerator, "execute", lambda _self, item: self.run(item))

    def run(self, launch: Any) -> None:
        if not launch.arguments:
            return
        to = launch.arguments[0].handle.view(np.int32)
        self.found.append(to.tolist())
        to += int.from_bytes(launch.arguments[1], "little") + self.added


def measured_count(own_workload: Callable[[str], Path], device: Any) -> MeasuredRow:
    own_workload(TOML)
    (name, file), *_ = cases.find_workloads().items()
    (case,) = cases.cases_of(name, file, ())
    session = measurement.Session(device, measurement.Settings(warm_up_s=0.0))
    source = case.workload.kernel.source.read_bytes()
    row: MeasuredRow = session.measure(cases.prepare(case), source)
    return row


def test_buffers_are_refilled_before_each_launch(
    own_workload: Callable[[str], Path], monkeypatch: Any
) -> None:
    counting = Counting(monkeypatch)
    device = fake.FakeAccelerator(Api.CUDA)
    row = measured_count(own_workload, device)
    assert counting.found == [[0, 0, 0, 0]] * (1 + 3 + 20)
    assert row.restored == ("to",)
    assert row.check == MeasuredCheck(passed=True, worst=0.0)
    assert row.time_s.repeats == 20
    assert row.time_s.min is not None
    assert row.time_s.min <= row.time_s.seconds
    assert device.buffers_in_use == 0


def test_a_wrong_result_is_found(own_workload: Callable[[str], Path], monkeypatch: Any) -> None:
    Counting(monkeypatch, wrong=True)
    row = measured_count(own_workload, fake.FakeAccelerator(Api.CUDA))
    assert row.check == MeasuredCheck(passed=False, worst=0.25)  # 5 where 4 is expected


def test_caches_are_overwritten_before_each_launch(
    own_workload: Callable[[str], Path], monkeypatch: Any
) -> None:
    events: list[str] = []
    Counting(monkeypatch)
    device = fake.FakeAccelerator(Api.CUDA)
    device._facts = replace(device.facts, l2_bytes=100 << 20)
    monkeypatch.setattr(device, "copy", lambda *_: events.append("copy"))
    monkeypatch.setattr(device, "fill", lambda item: events.append(f"fill {item.nbytes >> 20}"))
    monkeypatch.setattr(measurement, "_changed", lambda *_: ["to"])

    def launch(_launch: object) -> float:
        events.append("launch")
        return 1.0

    monkeypatch.setattr(device, "time", launch)
    measured_count(own_workload, device)
    assert events == ["launch", *["copy", "fill 200", "launch"] * 23]


def test_memory_is_given_back_after_an_error(
    own_workload: Callable[[str], Path], monkeypatch: Any
) -> None:
    device = fake.FakeAccelerator(Api.CUDA)

    def fail(_launch: object) -> float:
        raise accelerator.MeasuringError("no")

    monkeypatch.setattr(device, "time", fail)
    with pytest.raises(accelerator.MeasuringError, match="no"):
        measured_count(own_workload, device)
    assert device.buffers_in_use == 0
