"""Core time of Oclgrind, which interprets OpenCL kernels, beside an engine's on the same work.

Oclgrind runs the OpenCL twins from simulation files, counting instructions, with one thread; a run
of an empty kernel with the same arguments is taken off. The engine's core time is scaled by
thread-instructions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from kernel_cases import KERNELS, KernelCase
from kernel_timing import KernelTiming
from problem import Problem
from targets import Target
from timing import geometric_mean, process_core_seconds, table

from kernelcast.errors import KernelcastError

__all__ = [
    "COMMAND",
    "OclgrindTiming",
    "empty_kernel",
    "is_installed",
    "is_solved_by_oclgrind",
    "measure_oclgrind",
    "oclgrind_table",
    "oclgrind_targets",
    "simulation_text",
]

COMMAND = "oclgrind-kernel"
_OPTIONS = ("--inst-counts", "--num-threads", "1")
_TYPES = {"f4": "float", "f8": "double", "i4": "int", "u4": "uint"}
_VALUE = re.compile(r"^\s+\S+\[\d+\] = (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OclgrindTiming:
    """Core seconds of both for `thread_instructions` PTX instructions, summed over threads."""

    kernel: str
    size: int
    thread_instructions: int
    oclgrind_core_s: float
    engine_core_s: float

    @property
    def ratio(self) -> float:
        """The core time of Oclgrind over that of the engine."""
        return self.oclgrind_core_s / self.engine_core_s

    def record(self) -> dict[str, Any]:
        """The timing as a record."""
        return asdict(self)


def is_installed() -> bool:
    """Whether Oclgrind is on the path."""
    return shutil.which(COMMAND) is not None


def measure_oclgrind(
    case: KernelCase, timing: KernelTiming, folder: Path, repeats: int
) -> OclgrindTiming:
    """`timing` is the engine's; KernelcastError when Oclgrind's results are not NumPy's."""
    problem = case.make(case.interpreted)
    if not is_solved_by_oclgrind(case.name, problem, folder):
        raise KernelcastError(f"Oclgrind computes something else than NumPy for {case.name}")
    trace = problem.with_fresh_output().run(case.kernel(), "reference")
    _, lane_executions = trace.data.classes.totals()
    instructions = int(lane_executions.sum())
    text = simulation_text(case.name, problem)
    (folder / "empty.cl").write_text(empty_kernel(case.name, problem))
    full, empty = (
        process_core_seconds(_command(folder, program, text), repeats, folder)
        for program in ("twins.cl", "empty.cl")
    )
    scaled = timing.counters_core_s * instructions / timing.thread_instructions
    return OclgrindTiming(case.name, case.interpreted, instructions, full - empty, scaled)


def simulation_text(name: str, problem: Problem, dump: bool = False) -> str:
    """A simulation file without its first line; `dump` prints the output array at the end."""
    items = [(count * size) for count, size in zip(problem.grid, problem.thread_block, strict=True)]
    lines = [name, " ".join(map(str, items)), " ".join(map(str, problem.thread_block))]
    for position, argument in enumerate(problem.arguments):
        array = np.asarray(argument)
        wanted = " dump" if dump and position == problem.output else ""
        kind = _TYPES[array.dtype.str[1:]]
        lines.append(f"<size={array.nbytes} {kind}{wanted}>")
        lines.append(" ".join(str(value) for value in array.reshape(-1).tolist()))
    return "\n".join([*lines, ""])


def empty_kernel(name: str, problem: Problem) -> str:
    """A kernel with the problem's parameters that does nothing."""
    parameters = []
    for position, argument in enumerate(problem.arguments):
        kind = _TYPES[np.asarray(argument).dtype.str[1:]]
        place = "global " if isinstance(argument, np.ndarray) else ""
        star = "*" if isinstance(argument, np.ndarray) else ""
        parameters.append(f"{place}{kind} {star}p{position}")
    return f"kernel void {name}({', '.join(parameters)}) {{}}\n"


def _command(folder: Path, program: str, text: str) -> list[str]:
    """Writes a simulation file; Oclgrind looks for the program beside it."""
    file = folder / f"{program}.sim"
    file.write_text(f"{program}\n{text}")
    return [COMMAND, *_OPTIONS, file.name]


def is_solved_by_oclgrind(name: str, problem: Problem, folder: Path) -> bool:
    """Whether the OpenCL twin computes what NumPy does, to the six digits that Oclgrind prints."""
    shutil.copy(KERNELS / "twins.cl", folder)
    command = _command(folder, "twins.cl", simulation_text(name, problem, dump=True))
    finished = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, text=True)
    values = np.array([float(value) for value in _VALUE.findall(finished.stdout)])
    expected = np.asarray(problem.expected(), np.float64).reshape(-1)
    return values.shape == expected.shape and np.allclose(
        values, expected, rtol=max(problem.rtol, 1e-5), atol=problem.atol
    )


def oclgrind_table(timings: Sequence[OclgrindTiming]) -> str:
    """Core time of Oclgrind, in seconds and per PTX thread-instruction, over the engine's."""
    rows = [
        (
            item.kernel,
            str(item.size),
            f"{item.oclgrind_core_s:.2f}",
            f"{1e9 * item.oclgrind_core_s / item.thread_instructions:.0f}",
            f"{1e9 * item.engine_core_s / item.thread_instructions:.3f}",
            f"{item.ratio:.0f}",
        )
        for item in timings
    ]
    return table(("kernel", "size", "Oclgrind s", "ns/instr", "engine ns/instr", "ratio"), rows)


def oclgrind_targets(timings: Sequence[OclgrindTiming]) -> list[Target]:
    """Not measured without timings."""
    mean = geometric_mean([item.ratio for item in timings]) if timings else None
    return [Target("Oclgrind / counters, core time, geometric mean", mean, 500.0, at_least=True)]
