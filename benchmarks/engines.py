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
from pathlib import Path
from typing import Any

from kernel_cases import CASES, KernelCase
from kernel_timing import (
    CAN_SKIP_MEMORY,
    KernelTimer,
    KernelTiming,
    kernel_table,
    kernel_targets,
)
from native_twins import NativeTwins
from oclgrind_timing import (
    COMMAND,
    OclgrindTiming,
    is_installed,
    measure_oclgrind,
    oclgrind_table,
    oclgrind_targets,
)
from start_up import DEVICE, start_up_targets
from targets import Target, target_table
from timing import use_two_threads

import kernelcast as kc
from kernelcast.simcore.engine import ENGINES

PARTS = ("kernels", "oclgrind", "start-up")
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


def _time_kernels(cases: Sequence[KernelCase], timer: KernelTimer) -> list[KernelTiming]:
    found = []
    for case in cases:
        _note(f"timing {case.name}")
        found.append(timer.measure(case))
    return found


def _time_oclgrind(
    cases: Sequence[KernelCase], timings: Sequence[KernelTiming], folder: Path, repeats: int
) -> list[OclgrindTiming]:
    found = []
    for case, timing in zip(cases, timings, strict=True):
        _note(f"timing {case.name} on Oclgrind")
        found.append(measure_oclgrind(case, timing, folder, repeats))
    return found


def _measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Prints every table as soon as it is there; what was measured, as JSON has it."""
    parts = options.part or PARTS
    repeats = _QUICK_REPEATS if options.quick else _REPEATS
    cases = [case for case in CASES if not options.kernel or case.name in options.kernel]
    record: dict[str, Any] = {"engine": options.engine, "quick": options.quick, **_machine()}
    targets: list[Target] = []
    if "kernels" in parts or "oclgrind" in parts:
        timer = KernelTimer(
            options.engine, NativeTwins(folder), kc.device(DEVICE), repeats, options.quick
        )
        timings = _time_kernels(cases, timer)
        record["kernels"] = [timing.record() for timing in timings]
        targets += kernel_targets(timings)
        _say(f"Engine {options.engine}, memory simulated for {DEVICE}", kernel_table(timings))
        if not CAN_SKIP_MEMORY:
            _say("Engines cannot do without recording memory: counters include it.")
        if "oclgrind" in parts and not is_installed():
            _say(f"Oclgrind is not installed ({COMMAND} not found): no comparison with it.")
        elif "oclgrind" in parts:
            compared = _time_oclgrind(cases, timings, folder, repeats)
            record["oclgrind"] = [timing.record() for timing in compared]
            targets += oclgrind_targets(compared)
            _say("Oclgrind, core time on the OpenCL twins", oclgrind_table(compared))
    if "start-up" in parts:
        _note("timing first results")
        targets += start_up_targets(options.engine, folder, repeats)
    _say(target_table(targets))
    record["targets"] = [target.record() for target in targets]
    return record


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
    options = _parser().parse_args(arguments)
    use_two_threads()
    try:
        if options.engine not in ENGINES:
            known = ", ".join(ENGINES)
            raise kc.KernelcastError(f"there is no {options.engine} engine; known: {known}")
        with tempfile.TemporaryDirectory() as folder:
            record = _measure(options, Path(folder))
    except kc.KernelcastError as error:
        _note(f"error: {error}")
        return 2
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
