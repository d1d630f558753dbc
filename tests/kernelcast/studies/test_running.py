"""Killed at any moment, in processes or on a Dask cluster: the data set is the same in the end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import kernelcast as kc
from kernelcast.errors import InputError
from kernelcast.studies import executors, running
from kernelcast.studies.plan import Plan
from kernelcast.studies.rows import Row
from kernelcast.studies.tasks import Task
from tests.drawn_cases import ALL_CASES

PlanFile = Callable[..., Path]
LAUNCHES = "vary = { block = [32, 64, 96, 128, 160, 192, 224, 256], n = [10000, 20000] }"
KILLS = 10 if ALL_CASES else 2
TOP = 'devices = ["a100-40gb", "gtx-480"]'
if ALL_CASES:  # 2,000 points: 50 launches on 20 GPUs by two models
    LAUNCHES = (
        "vary = { block = [32, 64, 96, 128, 160, 192, 224, 256, 320, 384], "
        "n = { from = 10000, to = 50000, step = 10000 } }"
    )
    TOP = """models = ["interval", "quantitative-roofline"]
devices = ["gtx-480", "gtx-1060-6gb", "tesla-*", "v100-*", "a100-*", "a40",
  "rtx-*", "h100-*", "h200", "gh200", "b200", "mi210", "mi300x"]
"""
POINTS = 2000 if ALL_CASES else 32
LONG_S = 600.0


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("[!.]*"))}


def parts(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("part-*")}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "kernelcast", *map(str, arguments)]


def until(condition: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    """Waits for what a process does; it may end before."""
    end = time.monotonic() + LONG_S
    while not condition() and process.poll() is None:
        assert time.monotonic() < end, "the limit of a wait"
        time.sleep(0.005)


def until_more(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    until(lambda: len(parts(folder)) > count, process)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children_of(process: int) -> list[int]:
    return [
        int(item)
        for task in Path(f"/proc/{process}/task").glob("*/children")
        for item in task.read_text().split()
    ]


@pytest.mark.usefixtures("cache")
def test_killed_again_and_again_it_ends_in_the_same_data_set(
    plan: PlanFile, tmp_path: Path
) -> None:
    """SIGKILL, of the first process and of one that computes for it; nothing is computed twice."""
    file = plan(LAUNCHES, TOP)
    undisturbed = kc.Sweep.read(file).run(tmp_path / "undisturbed", jobs=2)
    assert len(undisturbed.rows) == POINTS
    out, drawn = tmp_path / "out", random.Random(1)
    for number in range(KILLS):
        process = subprocess.Popen(command("sweep", file, "-o", out, "-j", 2), env=os.environ)
        before = parts(out)
        wanted = len(before) + drawn.randint(0, 3)
        until_more(out, wanted, process)
        workers = children_of(process.pid) if process.poll() is None else []
        if number % 3 == 1 and workers:
            os.kill(drawn.choice(workers), signal.SIGKILL)
            until_more(out, wanted + 1, process)
            workers += children_of(process.pid) if process.poll() is None else []
        process.kill()
        process.wait()
        end = time.monotonic() + LONG_S
        while any(map(is_running, workers)):
            assert time.monotonic() < end, "processes of a sweep outlive it"
            time.sleep(0.01)
        assert {name: parts(out)[name] for name in before} == before
    kept = parts(out)
    subprocess.run(command("sweep", file, "-o", out, "-j", 2), check=True, capture_output=True)
    assert {name: parts(out)[name] for name in kept} == kept
    assert content(out) == content(tmp_path / "undisturbed")


class Watched(executors.ThisProcess):
    """Computes when the sweep waits, and knows the launches of what it was given until then."""

    workers, has_queue = 4, True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.given: list[tuple[Task, Future[list[Row]]]] = []
        self.together: list[list[int]] = []

    def submit(self, task: Task) -> Future[list[Row]]:
        self.given.append((task, Future()))
        return self.given[-1][1]

    def wait(self, *_asked: object) -> tuple[set[Future[list[Row]]], set[Future[list[Row]]]]:
        """Instead of `concurrent.futures.wait`: all that was given is done."""
        self.together.append([task.launch for task, _ in self.given])
        done = set()
        for task, future in self.given:
            future.set_result(super().submit(task).result())
            done.add(future)
        self.given.clear()
        return done, set()


def test_launches_that_one_execution_is_enough_for_are_not_under_way_together(
    plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = kc.Sweep.read(plan("vary = { block = [64, 128], registers = [16, 24, 32] }"))
    watched = Watched(sweep)
    monkeypatch.setattr(running, "_executor", lambda *_: watched)
    monkeypatch.setattr(running, "wait", watched.wait)
    assert len(sweep.run(tmp_path / "out").good) == 12
    assert [sorted(launches) for launches in watched.together] == [[0, 3], [1, 2, 4, 5]]


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[str]:
    """A scheduler and workers, started by Dask's own commands; ends them."""
    started = []
    file = folder / "scheduler.json"

    def start(*given: object) -> subprocess.Popen[bytes]:
        arguments = [sys.executable, "-W", "ignore", "-m", "dask", *map(str, given)]
        with (folder / "dask.log").open("ab") as log:
            process = subprocess.Popen(arguments, stdout=log, stderr=log, env=os.environ)
        started.append(process)
        return process

    try:
        scheduler = start(
            *("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard"),
            *("--scheduler-file", file),
        )
        until(file.exists, scheduler)
        for _ in range(workers):
            start(
                *("worker", "--scheduler-file", file, "--nthreads", 1, "--no-dashboard"),
                *("--no-nanny", "--local-directory", folder),
            )
        address: str = json.loads(file.read_text())["address"]
        connect: Any = Client
        with connect(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=LONG_S)
        yield address
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.usefixtures("cache")
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_makes_the_same_data_set(plan: PlanFile, tmp_path: Path) -> None:
    file = plan("vary = { block = [64, 128, 192, 256] }")
    kc.Sweep.read(file).run(tmp_path / "here", jobs=1)
    with dask_cluster(tmp_path, workers=1) as address:
        result = kc.Sweep.read(file).run(tmp_path / "there", scheduler=address)
    assert len(result.good) == 8
    assert content(tmp_path / "there") == content(tmp_path / "here")


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_not_there_is_said_so(
    plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "_CONNECT_S", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler answers at tcp"):
        kc.Sweep.read(plan()).run(tmp_path / "out", scheduler="tcp://127.0.0.1:9")
