"""Times whole runs of `kc.tune`, and whether it finds what trying all configurations finds.

    python benchmarks/tuning.py [--device h100-sxm] [--kernel softmax] [--exhaustive] [--json FILE]

Matrix products in 24 configurations and three sizes, softmax in three widths, attention in two
sizes: the cases of `validation/triton_kernels`. Each run is a process of its own on two CPUs,
without anything kept. Processor time is that of all its processes: it does not depend on what else
the machine does. With `--exhaustive` the model estimates all configurations, too.
"""

from __future__ import annotations

import argparse
import importlib
import json
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


def _tune(name: str, device: str, *, exhaustive: bool) -> None:
    """Tunes one kernel in this process and writes what was found as JSON."""
    cases = _cases()[name]
    first = cases[0]
    tensor = _measured("cases").Array
    args = [np.zeros(a.shape, a.dtype) if isinstance(a, tensor) else a for a in first.arguments]
    triton = importlib.import_module("triton")
    configs = [triton.Config(dict(case.constants), **case.options) for case in cases]
    found = kc.tune(
        getattr(_measured("kernels"), first.kernel),
        _grid(cases),
        args,
        configs=configs,
        device=device,
        options=kc.TuneOptions(exhaustive=exhaustive, processes=THREADS),
    )
    sys.stdout.write(json.dumps(found.as_dict()))


def _run(name: str, device: str, *, exhaustive: bool) -> dict[str, Any]:
    """What one run found, its wall time and the processor time of all its processes."""
    command = [sys.executable, __file__, "--one", name, "--device", device]
    command += ["--exhaustive"] if exhaustive else []
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **isolated_environment(Path(folder)),
            "TRITON_CACHE_DIR": f"{folder}/triton",
        }
        began, spent = time.perf_counter(), children_seconds()
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
        wall_s, core_s = time.perf_counter() - began, children_seconds() - spent
    return {"found": json.loads(output), "wall_s": wall_s, "core_s": core_s}


def _row(name: str, device: str, quick: dict[str, Any], whole: dict[str, Any] | None) -> list[str]:
    rows = quick["found"]["rows"]
    line = [
        name,
        device,
        str(len(rows) + len(quick["found"]["passed_over"])),
        str(len(rows)),
        f"{quick['core_s']:.0f} s",
        f"{quick['wall_s']:.0f} s",
    ]
    if whole is None:
        return line
    ratio = rows[0]["time_s"] / whole["found"]["rows"][0]["time_s"]
    verdict = "yes" if ratio <= _NEAR else "no"
    return [*line, f"{whole['core_s']:.0f} s", f"{ratio:.3f}", verdict]


def main() -> None:
    """Prints a row for each kernel, size and GPU."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", action="append", help="by default an A100 and an H100")
    parser.add_argument("--kernel", default="", help="runs whose names begin so")
    parser.add_argument("--exhaustive", action="store_true", help="try all configurations, too")
    parser.add_argument("--json", type=Path, help="a file for all that was found")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    devices = options.device or list(_DEVICES)
    if options.one:
        _tune(options.one, devices[0], exhaustive=options.exhaustive)
        return
    use_two_threads()
    lines: list[list[str]] = []
    kept: list[dict[str, Any]] = []
    for device in devices:
        for name in _cases():
            if not name.startswith(options.kernel):
                continue
            quick = _run(name, device, exhaustive=False)
            whole = _run(name, device, exhaustive=True) if options.exhaustive else None
            kept.append({"run": name, "device": device, "tuned": quick, "all": whole})
            lines.append(_row(name, device, quick, whole))
            sys.stderr.write("  ".join(lines[-1]) + "\n")
            if options.json is not None:
                options.json.write_text(json.dumps(kept, indent=1) + "\n")
    head = ["run", "device", "configurations", "estimated", "processor", "wall"]
    head += ["processor, all", "of the best", "within 5 %"] if options.exhaustive else []
    sys.stdout.write(table(head, lines) + "\n")


if __name__ == "__main__":
    main()
