"""Times runs of `kc.tune`, and tells whether they find what trying all configurations finds.

    python benchmarks/tuning.py [--device h100-sxm] [--kernel softmax] [--every-size]
                                [--exhaustive] [--json FILE]

Matrix products in 24 configurations and three sizes, softmax and attention, on an A100 and an H100:
cases of `validation/triton_kernels`. One process tunes them all, one after the other, on two CPUs
and with empty caches. Processor time is that of all processes together: it does not depend on what
else the machine does. With `--exhaustive` the model estimates all configurations, too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import THREADS, children_seconds, isolated_environment, table, use_two_threads

import kernelcast as kc

_DEVICES = ("a100-40gb", "h100-sxm")
_KERNELS = ("matmul", "softmax", "attention")
_NEAR = 1.05
_MORE = ("softmax 65536x1024", "softmax 16384x4096", "attention 32x2048x128")
"""Sizes that are tuned only when every one is asked for."""
_VALIDATION = Path(__file__).parents[1] / "validation"


def _measured(name: str) -> Any:
    """A module of the kernels that are measured; a benchmark is called as their folder is."""
    if sys.path[0] != str(_VALIDATION):
        sys.path.insert(0, str(_VALIDATION))
    return importlib.import_module(f"triton_kernels.{name}")


def _cases() -> dict[str, list[Any]]:
    """The configurations of each kernel and size, by a name for both."""
    found: dict[str, list[Any]] = {}
    for case in _measured("cases").all_cases():
        if case.kernel in _KERNELS:
            name = f"{case.kernel} {'x'.join(map(str, case.size.values()))}"
            found.setdefault(name, []).append(case)
    return found


def _grid(cases: Sequence[Any]) -> Callable[[dict[str, Any]], tuple[int, ...]]:
    """The programs of each configuration, as the case of it has them."""
    known = [(case.constants, case.grid) for case in cases]

    def grid(constants: dict[str, Any]) -> tuple[int, ...]:
        return next(
            programs
            for mine, programs in known
            if all(constants[name] == value for name, value in mine.items())
        )

    return grid


def _tuned(name: str, cases: Sequence[Any], device: str, *, exhaustive: bool) -> dict[str, Any]:
    """What a run in this process found, its wall time and the processor time of all processes."""
    first = cases[0]
    tensor = _measured("cases").Array
    args = [np.zeros(a.shape, a.dtype) if isinstance(a, tensor) else a for a in first.arguments]
    triton = importlib.import_module("triton")
    configs = [triton.Config(dict(case.constants), **case.options) for case in cases]
    began, spent = time.perf_counter(), _core_seconds()
    found = kc.tune(
        getattr(_measured("kernels"), first.kernel),
        _grid(cases),
        args,
        configs=configs,
        device=device,
        options=kc.TuneOptions(exhaustive=exhaustive, processes=THREADS),
    )
    wall_s, core_s = time.perf_counter() - began, _core_seconds() - spent
    sys.stderr.write(f"{name} {device}: {len(found.rows)} estimated, {core_s:.1f} s\n")
    return {"found": found.as_dict(), "wall_s": wall_s, "core_s": core_s}


def _core_seconds() -> float:
    """Processor time of this process and its children, those that still run among them."""
    children = Path("/proc/self/task").glob("*/children")
    found = [pid for file in children for pid in file.read_text().split()]
    fields = [
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in ("self", *found)
    ]
    return sum(int(ticks) for line in fields for ticks in line[11:15]) / os.sysconf("SC_CLK_TCK")


def _run(names: Sequence[str], devices: Sequence[str], *, exhaustive: bool) -> None:
    """Tunes in this process and writes a line of JSON for each run."""
    cases = _cases()
    for device in devices:
        for name in names:
            quick = _tuned(name, cases[name], device, exhaustive=False)
            whole = _tuned(name, cases[name], device, exhaustive=True) if exhaustive else None
            kept = {"run": name, "device": device, "tuned": quick, "all": whole}
            sys.stdout.write(json.dumps(kept) + "\n")
            sys.stdout.flush()


def _in_a_new_process(arguments: Sequence[str]) -> tuple[list[dict[str, Any]], float, float]:
    """The runs of a process with empty caches, its wall time and all processes' time."""
    command = [sys.executable, "-W", "ignore", __file__, "--here", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **isolated_environment(Path(folder)),
            "TRITON_CACHE_DIR": f"{folder}/triton",
        }
        began, spent = time.perf_counter(), children_seconds()
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
        wall_s, core_s = time.perf_counter() - began, children_seconds() - spent
    return [json.loads(line) for line in output.splitlines()], wall_s, core_s


def _row(kept: dict[str, Any]) -> list[str]:
    quick, whole = kept["tuned"], kept["all"]
    rows = quick["found"]["rows"]
    line = [
        kept["run"],
        kept["device"],
        str(len(rows) + len(quick["found"]["passed_over"])),
        str(len(rows)),
        f"{quick['core_s']:.0f} s",
        f"{quick['wall_s']:.0f} s",
    ]
    if whole is None:
        return line
    ratio = rows[0]["time_s"] / whole["found"]["rows"][0]["time_s"]
    return [*line, f"{whole['core_s']:.0f} s", f"{ratio:.3f}", "yes" if ratio <= _NEAR else "no"]


def main() -> None:
    """Prints a row for each kernel, size and GPU, and the time of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", action="append", help="by default an A100 and an H100")
    parser.add_argument("--kernel", default="", help="runs whose names begin so")
    parser.add_argument("--every-size", action="store_true", help="more of softmax and attention")
    parser.add_argument("--exhaustive", action="store_true", help="try all configurations, too")
    parser.add_argument("--json", type=Path, help="a file for all that was found")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [
        name
        for name in _cases()
        if name.startswith(options.kernel) and (options.every_size or name not in _MORE)
    ]
    if options.here:
        _run(names, options.device or _DEVICES, exhaustive=options.exhaustive)
        return
    use_two_threads()
    kept, wall_s, core_s = _in_a_new_process(sys.argv[1:])
    if options.json is not None:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    head = ["run", "device", "configurations", "estimated", "processor", "wall"]
    head += ["processor, all", "of the best", "within 5 %"] if options.exhaustive else []
    sys.stdout.write(table(head, list(map(_row, kept))) + "\n")
    sys.stdout.write(f"all: {core_s:.0f} s of processor time, {wall_s:.0f} s\n")


if __name__ == "__main__":
    main()
