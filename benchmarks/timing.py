"""Wall and core time of calls and of processes; tables of text."""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "THREADS",
    "Timing",
    "children_seconds",
    "geometric_mean",
    "interleaved",
    "isolated_environment",
    "process_core_seconds",
    "process_wall_seconds",
    "table",
    "use_two_threads",
]

THREADS = 2

# What is timed is work, not looking up what an earlier run has done.
os.environ["KERNELCAST_STORE"] = "off"


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians in seconds; core time is that of all threads together."""

    wall_s: float
    core_s: float


def use_two_threads() -> None:
    """Binds this process and its children to two CPUs; must precede the first OpenMP region.

    Threads of a region that has ended sleep: they would take time from what is timed next.
    """
    available = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, available[:THREADS])
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ["OMP_NUM_THREADS"] = str(min(THREADS, len(available)))


def interleaved(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Medians of `repeats` of each call after one warm-up.

    The calls take turns, so that a slow phase of the machine meets all of them.
    """
    wall: dict[str, list[float]] = {name: [] for name in calls}
    core: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            before, core_before = time.perf_counter(), time.process_time()
            call()
            if turn:
                wall[name].append(time.perf_counter() - before)
                core[name].append(time.process_time() - core_before)
    return {
        name: Timing(statistics.median(wall[name]), statistics.median(core[name])) for name in calls
    }


def isolated_environment(cache: Path) -> dict[str, str]:
    """The environment of this process with all caches of compiled code below `cache`."""
    folders = {"KERNELCAST_CACHE": "kernelcast", "XDG_CACHE_HOME": ""}
    return {**os.environ, **{name: str(cache / folder) for name, folder in folders.items()}}


def process_wall_seconds(command: Sequence[str], repeats: int, folder: Path | None = None) -> float:
    """Median wall time of a process from its start to its end, after one warm-up."""
    found = []
    for _ in range(repeats + 1):
        before = time.perf_counter()
        _run(command, folder)
        found.append(time.perf_counter() - before)
    return statistics.median(found[1:])


def process_core_seconds(
    command: Sequence[str],
    repeats: int = 1,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> float:
    """Median user and system time of a process and its children."""
    found = []
    for _ in range(repeats):
        before = children_seconds()
        _run(command, folder, environment)
        found.append(children_seconds() - before)
    return statistics.median(found)


def _run(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str] | None = None
) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, env=environment)


def children_seconds() -> float:
    """User and system time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive values."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of aligned columns: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    )
