"""How long sweeps take: many points from an empty and a filled store, many changed GPUs, Dask.

    python benchmarks/sweeps.py --part architectures
    python benchmarks/sweeps.py --part points --kernel sor --launches 2   # a share of the 10,000

Times are wall-clock on an idle machine of two cores; `cpu` is processor time, which other load
changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from targets import Target, target_table
from timing import isolated_environment

__all__ = ["Measured", "main"]

PLANS = Path(__file__).parent / "plans"
_CORES = 2
_EMPTY_S, _FILLED_S, _ARCHITECTURES_S, _DASK_RATIO = 1200.0, 300.0, 60.0, 1.7
_POINTS = 10_000
PARTS = ("architectures", "points", "dask")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a sweep took: seconds of a clock and of processors, for `points`."""

    points: int
    failed: int
    wall_s: float
    cpu_s: float


def swept(plan: Path, folder: Path, environment: Mapping[str, str], *options: str) -> Measured:
    """Runs a plan in processes of its own."""
    before, began = _cpu(), time.monotonic()
    command = [sys.executable, "-m", "kernelcast", "sweep", str(plan), "-o", str(folder), "--json"]
    done = subprocess.run(
        [*command, *options], env=environment, check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    return Measured(found["points"], found["failed"], time.monotonic() - began, _cpu() - before)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _part_of_points(folder: Path, kernels: list[str], launches: int) -> Path:
    """The plan of ten thousand points with some of its kernels, and a few launches of each."""
    text = (PLANS / "points.toml").read_text()
    head, *tables = text.split("[[kernels]]")
    chosen = [table for table in tables if not kernels or _name(table) in kernels]
    shortened = [_with_few(table, launches) for table in chosen]
    file = folder / "points.toml"
    file.write_text(
        "[[kernels]]".join([head, *shortened])
        .replace('"../../', f'"{PLANS.parents[1]}/')
        .replace('"kernels.py', f'"{PLANS}/kernels.py')
    )
    return file


def _name(table: str) -> str:
    return str(tomllib.loads(table)["name"])


def _with_few(table: str, launches: int) -> str:
    """A table with the first values of what it varies, `launches` of them in all."""
    if launches <= 0:
        return table
    vary: dict[str, Any] = tomllib.loads(table)["vary"]
    left = launches
    parts = []
    for name, value in vary.items():
        values = value
        if isinstance(value, dict):
            values = list(range(value["from"], value["to"] + 1, value["step"]))
        few = values[: max(1, left)]
        left //= len(few)
        parts.append(f"{name} = {json.dumps(few)}")
    return re.sub(r"vary = .*", f"vary = {{ {', '.join(parts)} }}", table)


def measure_points(folder: Path, kernels: list[str], launches: int) -> list[Target]:
    """Many points from an empty store, and once more from the filled one."""
    plan = _part_of_points(folder, kernels, launches)
    environment = isolated_environment(folder / "cache") | {"KERNELCAST_STORE": "20 GB"}
    first = swept(plan, folder / "empty", environment, "--jobs", str(_CORES))
    again = swept(plan, folder / "filled", environment, "--jobs", str(_CORES))
    share = first.points / _POINTS
    return [
        *_both(f"{first.points} points, empty store", first, _EMPTY_S * share),
        *_both(f"{again.points} points, filled store", again, _FILLED_S * share),
    ]


def measure_architectures(folder: Path) -> list[Target]:
    """A thousand changed GPUs for one kernel, from an empty store."""
    environment = isolated_environment(folder / "cache") | {"KERNELCAST_STORE": "2 GB"}
    plan = PLANS / "architectures.toml"
    made = swept(plan, folder / "architectures", environment, "--jobs", str(_CORES))
    return _both(f"{made.points} changed GPUs", made, _ARCHITECTURES_S)


def _both(name: str, made: Measured, limit_s: float) -> list[Target]:
    return [
        Target(name, made.wall_s, limit_s, "s"),
        Target(f"{name}, cpu / {_CORES} cores", made.cpu_s / _CORES, limit_s, "s"),
        Target(f"{name}, failed", float(made.failed), None, "points"),
    ]


@contextmanager
def _cluster(folder: Path, workers: int, environment: Mapping[str, str]) -> Iterator[str]:
    file = folder / f"scheduler-{workers}.json"
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    own = ["--scheduler-file", str(file), "--no-dashboard"]
    commands = [[*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *own]]
    worker = [*dask, "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    commands += [["taskset", "-c", str(core), *worker, *own] for core in range(workers)]
    started = [
        subprocess.Popen(
            item, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for item in commands
    ]
    try:
        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        from distributed import Client

        connect: Any = Client
        with connect(address) as client:
            client.wait_for_workers(workers)
        yield address
    finally:
        for process in started:
            process.kill()
            process.wait()


def measure_dask(folder: Path) -> list[Target]:
    """Points of one worker and of two, each on a core of its own, from empty stores."""
    plan = _part_of_points(folder, ["sor"], 40)
    rates = []
    for workers in (1, 2):
        environment = isolated_environment(folder / f"cache-{workers}") | {
            "KERNELCAST_STORE": "2 GB",
            "OMP_NUM_THREADS": "1",
        }
        with _cluster(folder, workers, {**os.environ, **environment}) as address:
            made = swept(plan, folder / f"dask-{workers}", environment, "--scheduler", address)
        rates.append(made.points / made.wall_s)
    return [
        Target("two Dask workers over one", rates[1] / rates[0], _DASK_RATIO, "x", at_least=True)
    ]


def main() -> None:
    """Measures the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--kernel", action="append", default=[], help="of the part `points`")
    parser.add_argument("--launches", type=int, default=0, help="of each kernel; 0: all fifty")
    options = parser.parse_args()
    found: list[Target] = []
    for part in options.part or PARTS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if part == "points":
                found += measure_points(folder, options.kernel, options.launches)
            elif part == "architectures":
                found += measure_architectures(folder)
            else:
                found += measure_dask(folder)
    print(target_table(found))  # noqa: T201  # the result of the script


if __name__ == "__main__":
    main()
