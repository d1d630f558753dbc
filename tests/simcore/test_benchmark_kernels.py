"""The benchmark kernels compute what NumPy says, in PTX on every engine and in C."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.kernel import Branch

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(path.stem for path in (BENCHMARKS / "kernels").glob("*.ptx"))
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
    return importlib.import_module("native_twins").NativeTwins(folder)


def test_every_kernel_has_a_case_and_a_source(cases: dict[str, Any]) -> None:
    assert sorted(cases) == NAMES
    assert sorted(path.stem for path in (BENCHMARKS / "kernels").glob("*.cu")) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", ENGINES)
def test_ptx_against_numpy(cases: dict[str, Any], engine: str, name: str) -> None:
    case = cases[name]
    problem = case.make(case.small)
    assert not problem.is_solved()
    execute(case.kernel(), problem.launch(), engine=engine)
    assert problem.is_solved()


@pytest.mark.parametrize("name", ODD_SIZES)
@pytest.mark.parametrize("engine", ENGINES)
def test_ptx_of_sizes_that_do_not_divide(cases: dict[str, Any], engine: str, name: str) -> None:
    problem = cases[name].make(ODD_SIZES[name])
    execute(cases[name].kernel(), problem.launch(), engine=engine)
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
    native_twins = importlib.import_module("native_twins")
    (tmp_path / "twins.c").write_text("not C")
    monkeypatch.setattr(native_twins, "KERNELS", tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        native_twins.NativeTwins(tmp_path)


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


def test_timings_are_medians_after_a_warm_up(cases: dict[str, Any]) -> None:
    timing = importlib.import_module("timing")
    delays = iter([0.3, 0.05, 0.0, 0.0])
    found = timing.interleaved({"sleep": lambda: time.sleep(next(delays))}, repeats=3)
    assert found["sleep"].wall_s < 0.04  # neither the warm-up nor the slowest repeat
    assert timing.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_targets_say_whether_they_are_met(cases: dict[str, Any]) -> None:
    targets = importlib.import_module("targets")
    few = targets.Target("time", 2.0, 3.0, "s")
    many = targets.Target("speed-up", 2.0, 3.0, at_least=True)
    assert (few.is_met, many.is_met) == (True, False)
    table = targets.target_table([few, many]).splitlines()
    assert table[1].split() == ["time", "2", "s", "<=", "3", "s", "met"]
    assert table[2].split() == ["speed-up", "2", "x", ">=", "3", "x", "missed"]


def test_ratios_and_worst_kernel(cases: dict[str, Any]) -> None:
    kernel_timing = importlib.import_module("kernel_timing")
    seconds = {"counters_core_s": 2.0, "simulation_s": 4.0, "reference_size": 1}
    seconds |= {"reference_counters_s": 30.0, "reference_simulation_s": 60.0}
    seconds |= {"counters_there_s": 1.0, "simulation_there_s": 6.0}
    timings = [
        kernel_timing.KernelTiming(name, 1, worst, 10, 1.0, counters, **seconds)
        for name, worst, counters in (("near", 20.0, 8.0), ("far", 4.0, 2.0))
    ]
    found = {target.name: target.value for target in kernel_timing.kernel_targets(timings)}
    assert found == pytest.approx(
        {
            "counters / C, geometric mean": 4.0,
            "counters / C, worst (far)": 2.0,  # half of its limit; "near" is at 40 %
            "simulation / C, geometric mean": 4.0,
            "reference / counters, geometric mean": 30.0,
            "reference / simulation, geometric mean": 10.0,
        }
    )


def test_unknown_engine_is_one_clear_line() -> None:
    command = [sys.executable, str(BENCHMARKS / "engines.py"), "--engine", "steam"]
    finished = subprocess.run(
        [*command, "--part", "kernels", "--kernel", "saxpy"], capture_output=True, text=True
    )
    assert finished.returncode == 2
    assert finished.stderr.startswith("error: there is no steam engine; known: reference")
