"""Barriers of the suite's OpenCL kernels, taken away in turn: check and Oclgrind say the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from tests.drawn_cases import drawn

pytestmark = pytest.mark.skipif(
    shutil.which("oclgrind-kernel") is None, reason="Oclgrind is not installed"
)

_WORKLOADS = Path(__file__).resolve().parents[3] / "validation" / "workloads"
_BARRIER = re.compile(r"\bbarrier\s*\([^)]*\)\s*;")
_TYPES = {"f4": "float", "f8": "double", "i4": "int", "u4": "uint", "u1": "uchar"}
_FILES = (
    *("dynamic_programming/pathfinder", "gemm/tiled", "histogram/shared_atomics"),
    *("physics/hotspot", "reduction/sum", "simulation/nbody", "transpose/tiled"),
)
CASES = [
    (name, number)
    for name in _FILES
    for number in range(len(_BARRIER.findall((_WORKLOADS / f"{name}.cl").read_text())))
][:11]


def mutant(name: str, number: int) -> str:
    """The source without its barrier of that number."""
    source = (_WORKLOADS / f"{name}.cl").read_text()
    gone = list(_BARRIER.finditer(source))[number]
    return source[: gone.start()] + ";" + source[gone.end() :]


def simulation(kernel: str, launch: Any) -> str:
    """A simulation file of Oclgrind without its first line."""
    items = [n * t for n, t in zip(launch.grid, launch.thread_block, strict=True)]
    lines = [kernel, " ".join(map(str, items)), " ".join(map(str, launch.thread_block))]
    for argument in launch.arguments:
        array = np.asarray(argument)
        lines.append(f"<size={array.nbytes} {_TYPES[array.dtype.str[1:]]}>")
        lines.append(" ".join(str(value) for value in array.reshape(-1).tolist()))
    return "\n".join([*lines, ""])


def races_in_oclgrind(folder: Path, kernel: str, source: str, launch: Any) -> bool:
    (folder / "mutant.cl").write_text(source)
    (folder / "run.sim").write_text("mutant.cl\n" + simulation(kernel, launch))
    finished = subprocess.run(
        ["oclgrind-kernel", "--data-races", "run.sim"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return "data race" in (finished.stdout + finished.stderr).lower()


def verdicts(folder: Path, name: str, source: str) -> tuple[bool, bool]:
    """Whether check and Oclgrind find a race."""
    workload = kc.load_workload(_WORKLOADS / f"{name}.toml")
    (folder / "mutant.cl").write_text(source)
    kernel = kc.load(folder / "mutant.cl").only_kernel()
    launch = workload.make_launch()
    report = kc.check(kernel, args=launch.arguments, grid=launch.grid, block=launch.thread_block)
    kinds = {finding.kind.value for finding in report.errors}
    return "race" in kinds, races_in_oclgrind(folder, kernel.name, source, workload.make_launch())


@pytest.mark.parametrize(("name", "number"), drawn(CASES, 2))
def test_check_and_oclgrind_agree_on_a_missing_barrier(
    name: str, number: int, tmp_path: Path
) -> None:
    ours, theirs = verdicts(tmp_path, name, mutant(name, number))
    assert ours == theirs


@pytest.mark.parametrize("name", drawn(_FILES, 1))
def test_check_and_oclgrind_agree_on_right_kernels(name: str, tmp_path: Path) -> None:
    source = (_WORKLOADS / f"{name}.cl").read_text()
    assert verdicts(tmp_path, name, source) == (False, False)
