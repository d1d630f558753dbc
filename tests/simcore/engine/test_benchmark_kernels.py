"""The benchmark kernels compute what NumPy says, in PTX on every engine and in C."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES
from kernelcast.simcore.host.llvm import host_supports_vectors
from kernelcast.simcore.isa.ir.kernel import Branch

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
FROM_EXAMPLES = {"saxpy", "sgemm_tiled", "reduction"}
NAMES = sorted({*FROM_EXAMPLES, *(path.stem for path in (BENCHMARKS / "kernels").glob("*.ptx"))})
# Sizes that the thread blocks or the tiles do not divide, where the kernel allows them.
ODD_SIZES = {
    "saxpy": 1000,
    "stencil2d": 77,
    "stencil3d": 19,
    "sgemm_naive": 37,
    "reduction": 1001,
    "spmv": 333,
    "histogram": 5001,
    "transpose_naive": 75,
    "collatz": 300,
}


@pytest.fixture(scope="module")
def cases() -> Iterator[dict[str, Any]]:
    """The benchmark's own cases by name."""
    sys.path.insert(0, str(BENCHMARKS))
    yield {case.name: case for case in importlib.import_module("kernel_cases").CASES}
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def twins(cases: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("twins")
    return importlib.import_module("c_twins").CTwins(folder)


def test_every_kernel_has_a_case_and_a_source(cases: dict[str, Any]) -> None:
    assert sorted(cases) == NAMES
    assert {name for name in cases if cases[name].example is not None} == FROM_EXAMPLES
    assert all(case.source.with_suffix(".cu").is_file() for case in cases.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", ENGINES)
def test_ptx_against_numpy(cases: dict[str, Any], engine: str, name: str) -> None:
    case = cases[name]
    problem = case.make(case.small)
    assert not problem.is_solved()
    problem.run(case.kernel(), engine)
    assert problem.is_solved()


@pytest.mark.parametrize("name", ODD_SIZES)
@pytest.mark.parametrize("engine", ENGINES)
def test_ptx_of_sizes_that_do_not_divide(cases: dict[str, Any], engine: str, name: str) -> None:
    problem = cases[name].make(ODD_SIZES[name])
    problem.run(cases[name].kernel(), engine)
    assert problem.is_solved()


@pytest.mark.parametrize("name", NAMES)
def test_twin_in_c_against_numpy(cases: dict[str, Any], twins: Any, name: str) -> None:
    for size in (cases[name].small, ODD_SIZES.get(name, cases[name].small)):
        problem = cases[name].make(size)
        twins.prepare(name, problem.arguments)()
        assert problem.is_solved()


def test_an_altered_output_is_no_solution(cases: dict[str, Any], twins: Any) -> None:
    problem = cases["saxpy"].make(100)
    twins.prepare("saxpy", problem.arguments)()
    problem.arguments[problem.output][50] *= 1.001
    assert not problem.is_solved()


def test_fresh_output_leaves_the_original_alone(cases: dict[str, Any], twins: Any) -> None:
    problem = cases["transpose_naive"].make(40)
    copy = problem.with_fresh_output()
    twins.prepare("transpose_naive", copy.arguments)()
    assert copy.is_solved()
    assert not problem.is_solved()


def test_a_twin_that_does_not_compile_is_an_error(
    cases: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    c_twins = importlib.import_module("c_twins")
    (tmp_path / "twins.c").write_text("not C")
    monkeypatch.setattr(c_twins, "KERNELS", tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        c_twins.CTwins(tmp_path)


def test_twins_without_a_compiler(
    cases: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KernelcastError, match="gcc is not installed"):
        importlib.import_module("c_twins").CTwins(tmp_path)


@pytest.mark.skipif(shutil.which("oclgrind-kernel") is None, reason="Oclgrind is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_twin_in_opencl_against_numpy(cases: dict[str, Any], tmp_path: Path, name: str) -> None:
    oclgrind = importlib.import_module("oclgrind_timing")
    problem = cases[name].make(cases[name].small)
    assert oclgrind.is_solved_by_oclgrind(name, problem, tmp_path)


def test_oclgrind_simulation_file(cases: dict[str, Any]) -> None:
    oclgrind = importlib.import_module("oclgrind_timing")
    problem = cases["collatz"].make(300)
    lines = oclgrind.simulation_text("collatz", problem, dump=True).splitlines()
    assert lines[:3] == ["collatz", "512 1 1", "256 1 1"]  # work-items, not work-groups
    assert lines[3] == "<size=1200 int dump>"
    assert lines[4].split() == ["0"] * 300
    assert lines[5:] == ["<size=4 int>", "300"]
    empty = oclgrind.empty_kernel("collatz", problem)
    assert empty == "kernel void collatz(global int *p0, int p1) {}\n"


def test_kernel_for_first_results_has_a_thousand_instructions(cases: dict[str, Any]) -> None:
    source = importlib.import_module("start_up").long_kernel()
    module = read_ptx(source, "long_kernel.ptx")
    blocks = module.kernels["long_kernel"].blocks
    body = sum(len(block.body) for block in blocks)
    branches = sum(isinstance(block.terminator, Branch) for block in blocks)
    assert 900 <= body + branches <= 1100
    assert branches >= 50


def test_timings_are_medians_after_a_warm_up(
    cases: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes on in calls only; neither the warm-up nor the slowest repeat counts."""
    timing = importlib.import_module("timing")
    now, delays = [100.0], iter([8.0, 4.0, 1.0, 2.0])

    def work() -> None:
        now[0] += next(delays)

    clock = SimpleNamespace(perf_counter=lambda: now[0], process_time=lambda: now[0] / 2)
    monkeypatch.setattr(timing, "time", clock)
    found = timing.interleaved({"work": work}, repeats=3)["work"]
    assert (found.wall_s, found.core_s) == (2.0, 1.0)
    assert timing.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_targets_say_whether_they_are_met(cases: dict[str, Any]) -> None:
    targets = importlib.import_module("targets")
    few = targets.Target("time", 2.0, 3.0, "s")
    many = targets.Target("speed-up", 2.0, 3.0, at_least=True)
    assert (few.is_met, many.is_met) == (True, False)
    table = targets.target_table([few, many]).splitlines()
    assert table[1].split() == ["time", "2", "s", "<=", "3", "s", "met"]
    assert table[2].split() == ["speed-up", "2", "x", ">=", "3", "x", "missed"]


def test_what_was_not_measured_is_neither_met_nor_missed(cases: dict[str, Any]) -> None:
    targets = importlib.import_module("targets")
    missing = targets.Target("cost", None, 1.3)
    free = targets.Target("time", 0.25, None, "s")
    assert missing.is_met is None
    assert missing.record()["met"] is None
    table = targets.target_table([missing, free]).splitlines()
    assert table[1].split() == ["cost", "<=", "1.3", "x", "not", "measured"]
    assert table[2].split() == ["time", "0.25", "s"]


def test_padded_arrays_are_the_same_problem(cases: dict[str, Any]) -> None:
    problem = cases["spmv"].make(100)
    padded = problem.padded()
    padded.run(cases["spmv"].kernel(), "reference")
    assert padded.is_solved()
    assert not problem.is_solved()
    for argument in padded.arguments[:-1]:
        assert argument.flags.c_contiguous
        assert argument.base.nbytes == argument.nbytes + 2 * 2**16


@pytest.mark.skipif(not host_supports_vectors(), reason="no vector unit to compile for")
def test_engine_without_bounds_checks(cases: dict[str, Any], tmp_path: Path) -> None:
    """Both processes compute what NumPy does; they share no compiled code."""
    checks = importlib.import_module("bounds_checks")
    (timing,) = checks.measure_checks([cases["saxpy"]], True, tmp_path, repeats=1)
    assert timing.checked_s > 0
    assert timing.unchecked_s > 0
    assert timing.ratio == timing.checked_s / timing.unchecked_s
    assert checks.check_target([timing]).value == pytest.approx(timing.ratio)
    modes = ("checked", "unchecked")
    objects = [{file.name for file in (tmp_path / mode).rglob("*.o")} for mode in modes]
    assert all(objects)
    assert objects[0].isdisjoint(objects[1])


def test_cost_of_checks_needs_every_kernel(cases: dict[str, Any]) -> None:
    checks = importlib.import_module("bounds_checks")
    timings = [checks.CheckTiming("one", 1, 4.0, 2.0), checks.CheckTiming("two", 1, 9.0, 2.0)]
    assert checks.check_target(timings).value == pytest.approx(3.0)
    broken = checks.CheckTiming("three", 1, 1.0, None)
    assert checks.check_target([*timings, broken]).is_met is None
    assert checks.check_table([broken]).splitlines()[1].endswith("not measured")


def test_ratios_and_worst_kernel(cases: dict[str, Any]) -> None:
    kernel_timing = importlib.import_module("kernel_timing")
    seconds = {"counters_core_s": 2.0, "simulation_s": 4.0, "reference_size": 1}
    seconds |= {"simulation_core_s": 5.0, "paths_s": 9.0}
    seconds |= {"reference_counters_s": 30.0, "reference_simulation_s": 60.0}
    seconds |= {"counters_there_s": 1.0, "simulation_there_s": 6.0}
    timings = [
        kernel_timing.KernelTiming(
            name, 1, worst, 10, 1.0, 2.0, counters, native_s=native, **seconds
        )
        for name, worst, counters, native in (("near", 20.0, 8.0, 7.0), ("far", 4.0, 2.0, None))
    ]
    found = {target.name: target.value for target in kernel_timing.kernel_targets(timings)}
    assert found == pytest.approx(
        {
            "counters / C, geometric mean": 4.0,
            "counters / C, core time, geometric mean": 1.0,
            "native counters / C, geometric mean": 7.0,  # of those that have machine code
            "counters / C, worst (far)": 2.0,  # half of its limit; "near" is at 40 %
            "simulation / C, geometric mean": 4.0,
            "simulation / C, core time, geometric mean": 2.5,
            "simulation with paths / C, geometric mean": 9.0,
            "reference / counters, geometric mean": 30.0,
            "reference / simulation, geometric mean": 10.0,
        }
    )
    rows = [row.split() for row in kernel_timing.kernel_table(timings).splitlines()[1:]]
    assert [row[:1] + row[4:9] for row in rows] == [
        ["near", "8.00", "1.00", "7.00", "20", "met"],
        ["far", "2.00", "1.00", "4", "met", "4000.0"],  # nothing where there is no machine code
    ]
    rows = [row.split() for row in kernel_timing.reference_table(timings).splitlines()[1:]]
    assert [(row[4], row[7]) for row in rows] == [("30.0", "10.0")] * 2
    assert timings[0].record()["simulation_speedup"] == pytest.approx(10.0)


def test_unknown_engine_is_one_clear_line() -> None:
    command = [sys.executable, str(BENCHMARKS / "engines.py"), "--engine", "steam"]
    finished = subprocess.run(
        [*command, "--part", "kernels", "--kernel", "saxpy"], capture_output=True, text=True
    )
    assert finished.returncode == 2
    assert finished.stderr.startswith("error: there is no steam engine; known: reference")


def test_what_cannot_be_measured_is_in_the_json_file(tmp_path: Path) -> None:
    """Only the JIT engine can run without bounds checks."""
    file = tmp_path / "measured.json"
    command = [sys.executable, str(BENCHMARKS / "engines.py"), "--engine", "reference"]
    options = ["--part", "checks", "--quick", "--json", str(file)]
    finished = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    assert "not measured" in finished.stdout
    record = json.loads(file.read_text())
    assert record["engine"] == "reference"
    assert [(target["value"], target["met"]) for target in record["targets"]] == [(None, None)]
