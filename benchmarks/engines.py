"""How fast an engine executes kernels, beside C, the reference engine and Oclgrind.

`python benchmarks/engines.py` prints tables; `--json FILE` keeps what was measured. All times are
medians of five after one warm-up, on two CPUs; ratios come from one run.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from address_volumes import ranking_targets
from bounds_checks import ENGINE as CHECKED_ENGINE
from bounds_checks import check_table, check_target, measure_checks
from c_twins import CTwins
from device_pointers import measure_pointers, pointer_table, pointer_targets
from growth import growth_targets
from kept_results import (
    kept_result_table,
    kept_result_targets,
    measure_kept_results,
)
from kernel_cases import CASES
from kernel_timing import (
    KernelTimer,
    KernelTiming,
    kernel_table,
    kernel_targets,
    reference_table,
)
from oclgrind_timing import (
    COMMAND,
    is_installed,
    measure_oclgrind,
    oclgrind_table,
    oclgrind_targets,
)
from repeated_launches import launch_table, launch_targets, measure_launches
from sm_timing import walk_targets
from start_up import DEVICE, start_up_targets
from targets import Target, target_table
from timing import use_two_threads

import kernelcast as kc
from kernelcast.simcore.engine import ENGINES

PARTS = (
    *("kernels", "oclgrind", "checks", "pointers", "launches", "start-up", "ranking"),
    *("store", "walk", "growth"),
)
_REPEATS, _QUICK_REPEATS = 5, 3


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Times an engine of kernelcast.")
    parser.add_argument("--engine", default="jit", help="the engine under test (default: jit)")
    parser.add_argument(
        "--kernel", action="append", choices=[case.name for case in CASES], help="only this one"
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part")
    parser.add_argument("--quick", action="store_true", help="small sizes and fewer repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n\n")
    sys.stdout.flush()


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")


class Benchmark:
    """Prints every table as soon as it is there; keeps what was measured in `record`."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._engine: str = options.engine
        self._quick: bool = options.quick
        self._folder = folder
        self._repeats = _QUICK_REPEATS if options.quick else _REPEATS
        self._cases = [case for case in CASES if not options.kernel or case.name in options.kernel]
        self._targets: list[Target] = []
        self.record: dict[str, Any] = {
            "engine": options.engine,
            "quick": options.quick,
            "repeats": self._repeats,
            **_machine(),
        }

    def measure(self, parts: Sequence[str]) -> None:
        """Measures the named parts and prints their tables."""
        if "kernels" in parts or "oclgrind" in parts:
            timings = self._kernels()
            if "oclgrind" in parts:
                self._oclgrind(timings)
        if "checks" in parts:
            self._checks()
        if "pointers" in parts:
            self._pointers()
        if "launches" in parts:
            self._launches()
        if "start-up" in parts:
            _note("timing first results")
            self._targets += start_up_targets(self._engine, self._folder, self._repeats)
        if "ranking" in parts:
            _note("timing rankings")
            self._targets += ranking_targets(self._quick)
        if "store" in parts:
            self._store()
        if "walk" in parts:
            _note("timing the walk of an SM")
            self._targets += walk_targets(self._repeats)
        if "growth" in parts:
            _note("timing estimates of large launches")
            self._targets += growth_targets(self._repeats)
        _say(target_table(self._targets))
        self.record["targets"] = [target.record() for target in self._targets]

    def _kernels(self) -> list[KernelTiming]:
        twins, device = CTwins(self._folder), kc.device(DEVICE)
        timer = KernelTimer(self._engine, twins, device, self._repeats, self._quick)
        timings = []
        for case in self._cases:
            _note(f"timing {case.name}")
            timings.append(timer.measure(case))
        self.record["kernels"] = [timing.record() for timing in timings]
        self._targets += kernel_targets(timings)
        if self._quick:
            _say("Sizes are small: what a launch costs at least weighs more than in a full run.")
        _say(f"Engine {self._engine}, memory simulated for {DEVICE}", kernel_table(timings))
        _say("The reference engine beside it", reference_table(timings))
        return timings

    def _oclgrind(self, timings: Sequence[KernelTiming]) -> None:
        if not is_installed():
            _note(f"Oclgrind is not installed ({COMMAND} not found): no comparison with it")
            self._targets += oclgrind_targets([])
            return
        found = []
        for case, timing in zip(self._cases, timings, strict=True):
            _note(f"timing {case.name} on Oclgrind")
            found.append(measure_oclgrind(case, timing, self._folder, self._repeats))
        self.record["oclgrind"] = [timing.record() for timing in found]
        self._targets += oclgrind_targets(found)
        _say("Oclgrind, core time on the OpenCL twins", oclgrind_table(found))

    def _checks(self) -> None:
        if self._engine != CHECKED_ENGINE:
            self._targets.append(check_target([]))
            return
        _note("timing with and without bounds checks")
        found = measure_checks(self._cases, self._quick, self._folder, self._repeats)
        self.record["checks"] = [timing.record() for timing in found]
        self._targets.append(check_target(found))
        _say("Bounds checks", check_table(found))

    def _pointers(self) -> None:
        _note("timing with arrays and with pointers")
        found = measure_pointers(self._cases, self._engine, self._quick, self._repeats)
        self.record["pointers"] = [timing.record() for timing in found]
        self._targets += pointer_targets(found)
        _say("Pointers into a device memory", pointer_table(found))

    def _store(self) -> None:
        _note("timing estimates that were made before")
        found = measure_kept_results(self._folder, self._repeats, quick=self._quick)
        self.record["store"] = [asdict(item) for item in found]
        self._targets += kept_result_targets(found)
        _say("Estimates with a store, process time", kept_result_table(found))

    def _launches(self) -> None:
        if self._engine != "jit":
            return
        _note("timing launches that repeat")
        found = measure_launches(self._quick, self._repeats)
        self.record["launches"] = found.record()
        self._targets += launch_targets(found)
        _say("Launches that repeat, wall time", launch_table(found))


def _machine() -> dict[str, Any]:
    return {
        "kernelcast": kc.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu": _cpu(),
    }


def _cpu() -> str:
    """The CPU's name as Linux gives it; empty elsewhere."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what the arguments ask for; exit status 1 for an error or a missed target."""
    options = _parser().parse_args(arguments)
    use_two_threads()
    try:
        if options.engine not in ENGINES:
            known = ", ".join(ENGINES)
            raise kc.KernelcastError(f"there is no {options.engine} engine; known: {known}")
        with tempfile.TemporaryDirectory() as folder:
            benchmark = Benchmark(options, Path(folder))
            benchmark.measure(options.part or PARTS)
    except kc.KernelcastError as error:
        _note(f"error: {error}")
        return 2
    if options.json is not None:
        options.json.write_text(json.dumps(benchmark.record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
