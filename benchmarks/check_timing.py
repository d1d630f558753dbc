"""Core time of `kernelcast check` beside the plain run, and of Oclgrind's detectors beside check.

`python benchmarks/check_timing.py [--quick] [--kernel NAME]` prints both; they take turns in one
process. Oclgrind runs the OpenCL twins with `--data-races --uninitialized` on one thread, less a
run of an empty kernel, at the sizes for interpreters; check's time there is that of the same size.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernel_cases import CASES, KernelCase
from oclgrind_timing import COMMAND, empty_kernel, is_installed, simulation_text
from problem import Problem
from targets import Target, target_table
from timing import geometric_mean, interleaved, process_core_seconds, table, use_two_threads

from kernelcast.simcore.checking.checked_launch import CheckedRun, Settings, check_launch
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits, dimensions

__all__ = ["CheckCost", "check_cost_table", "check_cost_targets", "measure_check_cost"]

_DETECTORS = ("--data-races", "--uninitialized", "--num-threads", "1")
_REPEATS = 3
_TWINS = Path(__file__).parent / "kernels" / "twins.cl"


@dataclass(frozen=True, slots=True)
class CheckCost:
    """Core seconds at the full size, and at the size for interpreters; None without Oclgrind."""

    kernel: str
    plain_core_s: float
    check_core_s: float
    shadow_bytes: int
    small_check_core_s: float
    oclgrind_core_s: float | None

    @property
    def ratio(self) -> float:
        """The core time of a check over that of the plain run."""
        return self.check_core_s / self.plain_core_s

    @property
    def oclgrind_ratio(self) -> float | None:
        """Oclgrind's core time over that of a check."""
        if self.oclgrind_core_s is None:
            return None
        return self.oclgrind_core_s / self.small_check_core_s

    def record(self) -> dict[str, Any]:
        """The costs as a record."""
        return asdict(self)


def measure_check_cost(case: KernelCase, quick: bool, folder: Path) -> CheckCost:
    """Medians; RuntimeError where a check finds anything in a right kernel."""
    loaded = case.kernel()
    kernel = loaded.kernel
    problem = case.make(case.reference if quick else case.full)
    found = interleaved(
        {
            "plain": lambda: problem.run(loaded, "jit"),
            "check": _checking(kernel, problem),
        },
        _REPEATS,
    )
    small = case.make(case.interpreted)
    there = interleaved({"check": _checking(kernel, small)}, _REPEATS)
    run = _checking(kernel, problem)()
    if run.findings:
        raise RuntimeError(f"{case.name}: {run.findings[0].message}")
    return CheckCost(
        case.name,
        found["plain"].core_s,
        found["check"].core_s,
        run.shadow_bytes,
        there["check"].core_s,
        _oclgrind_core_s(case.name, small, folder) if is_installed() else None,
    )


def _checking(kernel: Kernel, problem: Problem) -> Callable[[], CheckedRun]:
    launch = Launch(
        dimensions(problem.grid, "grid"),
        dimensions(problem.thread_block, "thread block"),
        problem.arguments,
    )
    limits = Limits(instructions_per_warp=None)

    def run() -> CheckedRun:
        return check_launch(kernel, launch, Settings(limits=limits))

    return run


def _oclgrind_core_s(name: str, problem: Problem, folder: Path) -> float:
    text = simulation_text(name, problem)
    (folder / "twins.cl").write_text(_TWINS.read_text())
    (folder / "empty.cl").write_text(empty_kernel(name, problem))
    seconds = []
    for program in ("twins.cl", "empty.cl"):
        file = folder / f"{program}.sim"
        file.write_text(f"{program}\n{text}")
        command = [COMMAND, *_DETECTORS, file.name]
        seconds.append(process_core_seconds(command, _REPEATS, folder))
    return seconds[0] - seconds[1]


def check_cost_table(costs: Sequence[CheckCost]) -> str:
    """Milliseconds, ratios and shadow memory by kernel."""
    rows = [
        (
            item.kernel,
            f"{1e3 * item.plain_core_s:.1f}",
            f"{1e3 * item.check_core_s:.1f}",
            f"{item.ratio:.1f}",
            f"{item.shadow_bytes / 2**20:.1f}",
            "" if item.oclgrind_core_s is None else f"{item.oclgrind_core_s:.2f}",
            "" if item.oclgrind_ratio is None else f"{item.oclgrind_ratio:.0f}",
        )
        for item in costs
    ]
    header = ("kernel", "plain ms", "check ms", "ratio", "shadow MiB", "Oclgrind s", "over check")
    return table(header, rows)


def check_cost_targets(costs: Sequence[CheckCost]) -> list[Target]:
    """Not measured without costs, or without Oclgrind."""
    over = [item.oclgrind_ratio for item in costs if item.oclgrind_ratio is not None]
    mean = geometric_mean([item.ratio for item in costs]) if costs else None
    beside = geometric_mean(over) if over else None
    return [
        Target("check / counters, core time, geometric mean", mean, 15.0),
        Target("Oclgrind's detectors / check, core time", beside, 100.0, at_least=True),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 for a missed target."""
    parser = argparse.ArgumentParser(description="Times checks of launches.")
    parser.add_argument("--kernel", action="append", choices=[case.name for case in CASES])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args(arguments)
    use_two_threads()
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if not options.kernel or case.name in options.kernel:
                costs.append(measure_check_cost(case, options.quick, Path(folder)))
                sys.stdout.write(check_cost_table(costs[-1:]) + "\n")
                sys.stdout.flush()
    targets = check_cost_targets(costs)
    sys.stdout.write(f"{check_cost_table(costs)}\n\n{target_table(targets)}\n")
    return int(any(target.is_met is False for target in targets))


if __name__ == "__main__":
    sys.exit(main())
