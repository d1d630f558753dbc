"""How fast an engine runs the OpenCL twins of the benchmark kernels, beside their PTX.

`python benchmarks/opencl_twins.py` compiles `kernels/twins.cl` with clang and runs both from the
same arrays; the calls whose ratio is shown take turns.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kernel_cases import CASES, KERNELS, KernelCase
from problem import Problem
from start_up import DEVICE
from targets import Target, target_table
from timing import geometric_mean, interleaved, table, use_two_threads

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.execution.instruction_mix import instruction_mix
from kernelcast.execution.runnable import LoadedModule, RunnableKernel

COMPILERS = ("clang-15", "clang-14", "clang")
OPTIONS = (
    *("-cl-std=CL1.2", "-target", "spir64-unknown-unknown", "-Xclang", "-finclude-default-header"),
    *("-O2", "-fno-slp-vectorize"),
)
"""No compiler for a GPU, which has no vector units, packs scalars of one thread into vectors."""
_REPEATS, _QUICK_REPEATS = 5, 3
_MOST_TIME = 1.2
"""Seconds of the OpenCL twin over those of the PTX, geometric mean."""


@dataclass(frozen=True, slots=True)
class TwinTiming:
    """Seconds of one launch; `simulation` includes the memory simulation of one GPU."""

    kernel: str
    size: int
    ptx_instructions: int
    opencl_instructions: int
    ptx_counters_s: float
    opencl_counters_s: float
    ptx_simulation_s: float
    opencl_simulation_s: float

    @property
    def counters_ratio(self) -> float:
        """The time of the OpenCL twin over that of PTX, with counters only."""
        return self.opencl_counters_s / self.ptx_counters_s

    @property
    def simulation_ratio(self) -> float:
        """The time of the OpenCL twin over that of PTX, with simulated memory."""
        return self.opencl_simulation_s / self.ptx_simulation_s

    def record(self) -> dict[str, Any]:
        """The timing with its ratios as a record."""
        return asdict(self) | {
            "counters_ratio": self.counters_ratio,
            "simulation_ratio": self.simulation_ratio,
        }


def compiled_twins(folder: Path) -> LoadedModule:
    """The OpenCL twins as bitcode; KernelcastError without clang."""
    compiler = next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise KernelcastError("clang is not installed: it compiles the OpenCL twins")
    module = folder / "twins.bc"
    command = [compiler, *OPTIONS, "-emit-llvm", "-c", str(KERNELS / "twins.cl")]
    subprocess.run([*command, "-o", str(module)], check=True)
    return kc.load(module)


def measure(
    case: KernelCase, twins: LoadedModule, engine: str, repeats: int, quick: bool
) -> TwinTiming:
    """Times one kernel in both forms; KernelcastError when either computes a wrong result."""
    size = case.reference if quick else case.full
    problem, device = case.make(size), kc.device(DEVICE)
    kernels = {"ptx": case.kernel(), "opencl": twins[case.name]}
    instructions = {
        name: _checked(case, problem, kernel, engine) for name, kernel in kernels.items()
    }
    found = interleaved(
        {
            f"{name} {mode}": call
            for name, kernel in kernels.items()
            for mode, call in (
                ("counters", partial(problem.run, kernel, engine)),
                ("simulation", partial(_simulate, kernel, problem, engine, device)),
            )
        },
        repeats,
    )
    return TwinTiming(
        kernel=case.name,
        size=size,
        ptx_instructions=instructions["ptx"],
        opencl_instructions=instructions["opencl"],
        ptx_counters_s=found["ptx counters"].wall_s,
        opencl_counters_s=found["opencl counters"].wall_s,
        ptx_simulation_s=found["ptx simulation"].wall_s,
        opencl_simulation_s=found["opencl simulation"].wall_s,
    )


def _checked(case: KernelCase, problem: Problem, kernel: RunnableKernel, engine: str) -> int:
    """Thread-instructions of the source, as the engine counts them."""
    fresh = problem.with_fresh_output()
    trace = fresh.run(kernel, engine)
    if not fresh.is_solved():
        raise KernelcastError(f"{case.name} of {kernel.kernel.target}: not what NumPy computes")
    return instruction_mix(trace.data).thread_instructions


def _simulate(
    kernel: RunnableKernel, problem: Problem, engine: str, device: kc.Device
) -> kc.KernelProfile:
    return problem.run(kernel, engine, device).profile(device)


def twin_table(timings: Sequence[TwinTiming]) -> str:
    """The timings of the twins as a table."""
    rows = [
        (
            item.kernel,
            str(item.size),
            f"{item.opencl_instructions / item.ptx_instructions:.2f}",
            f"{1e3 * item.ptx_counters_s:.1f}",
            f"{1e3 * item.opencl_counters_s:.1f}",
            f"{item.counters_ratio:.2f}",
            f"{1e3 * item.ptx_simulation_s:.1f}",
            f"{1e3 * item.opencl_simulation_s:.1f}",
            f"{item.simulation_ratio:.2f}",
        )
        for item in timings
    ]
    head = ("kernel", "size", "instr", "PTX ms", "OpenCL ms", "ratio", "sim ms", "sim ms", "ratio")
    return table(head, rows)


def targets(timings: Sequence[TwinTiming]) -> list[Target]:
    """The geometric means of both ratios, beside their limits."""
    counters = geometric_mean([item.counters_ratio for item in timings])
    simulation = geometric_mean([item.simulation_ratio for item in timings])
    return [
        Target("OpenCL / PTX, counters, geometric mean", counters, _MOST_TIME),
        Target("OpenCL / PTX, simulation, geometric mean", simulation, _MOST_TIME),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Times the OpenCL twins beside their PTX.")
    parser.add_argument("--engine", default="jit", help="the engine under test (default: jit)")
    parser.add_argument(
        "--kernel", action="append", choices=[case.name for case in CASES], help="only this one"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and fewer repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Times the chosen twins; exit status 1 for an error or a missed target."""
    options = _parser().parse_args(arguments)
    use_two_threads()
    repeats = _QUICK_REPEATS if options.quick else _REPEATS
    chosen = [case for case in CASES if options.kernel is None or case.name in options.kernel]
    with tempfile.TemporaryDirectory() as folder:
        try:
            twins = compiled_twins(Path(folder))
            timings = [
                measure(case, twins, options.engine, repeats, options.quick) for case in chosen
            ]
        except KernelcastError as error:
            sys.stderr.write(f"error: {error}\n")
            return 1
    lines = (twin_table(timings), target_table(targets(timings)))
    sys.stdout.write("\n\n".join(lines) + "\n")
    if options.json is not None:
        options.json.write_text(json.dumps([item.record() for item in timings], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
