"""Processes that predict launches with one configuration each.

They are started when first needed and kept, because a process takes seconds to begin. They are no
processes of `multiprocessing`, which would run the user's script again.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

from kernelcast.errors import KernelcastError, LaunchError
from kernelcast.triton_calls.trial import Prediction, Trial, packed_trial, unpacked_trial

__all__ = ["Outcome", "Task", "predictions", "serve"]

Task = tuple[Any, Any, bool]
"""Grid, `triton.Config`, and whether a quick prediction will do."""
Outcome = Prediction | KernelcastError

_BEGIN = "from kernelcast.triton_calls.workers import serve; serve()"


class _Worker:
    """A process that answers one task at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *(f"-W{option}" for option in sys.warnoptions), "-c", _BEGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._trial = b""

    def predict(self, trial: bytes, task: Task) -> Outcome:
        """What is predicted; LaunchError when the process has ended."""
        content = None if trial is self._trial else trial
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump((content, task), self._process.stdin)
            self._process.stdin.flush()
            found: Outcome = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError):
            raise LaunchError("a process that predicts launches has ended") from None
        self._trial = trial
        return found

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()


class _Pool:
    """Workers, with a thread for each.

    A configuration stays with the worker that has compiled it.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers = [_Worker() for _ in range(count)]
        self._threads = [ThreadPoolExecutor(1) for _ in range(count)]
        self._waiting = [0] * count
        self._counting = Lock()
        self._places: dict[tuple[str, str], int] = {}

    def submit(self, name: str, trial: bytes, task: Task) -> Future[Outcome]:
        """The outcome of a task of a kernel of that name, when its worker is free."""
        with self._counting:
            least = min(range(self.count), key=self._waiting.__getitem__)
            place = self._places.setdefault((name, str(task[1])), least)
            self._waiting[place] += 1
        return self._threads[place].submit(self._predict, place, trial, task)

    def end(self) -> None:
        """Ends all processes."""
        for worker in self._workers:
            worker.end()
        for thread in self._threads:
            thread.shutdown()

    def _predict(self, place: int, trial: bytes, task: Task) -> Outcome:
        try:
            return self._workers[place].predict(trial, task)
        finally:
            with self._counting:
                self._waiting[place] -= 1


_POOLS: list[_Pool] = []


def predictions(trial: Trial, tasks: Sequence[Task], processes: int) -> Iterator[Outcome]:
    """Outcomes in the order of the tasks; whoever has enough of them takes no more.

    A worker gets the next task when it has ended one, however long the others take with theirs.
    Tasks are done in this process where there is to be one only, or another one could not find the
    function: that of a notebook or of the script that runs.
    """
    content = packed_trial(trial) if processes > 1 and len(tasks) > 1 else None
    if content is None or not _can_be_sent(tasks):
        for task in tasks:
            yield _outcome(trial, task)
        return
    pool, left = _pool(processes), deque(enumerate(tasks))
    flying: dict[Future[Outcome], int] = {}
    done: dict[int, Outcome] = {}
    for number in range(len(tasks)):
        while number not in done:
            while left and len(flying) < processes:
                at, task = left.popleft()
                flying[pool.submit(trial.name, content, task)] = at
            finished, _ = wait(flying, return_when=FIRST_COMPLETED)
            done |= {flying.pop(future): future.result() for future in finished}
        yield done.pop(number)


def serve() -> None:
    """Answers tasks from standard input until it ends; what kernels print goes elsewhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    trial: Trial | None = None
    while True:
        try:
            content, task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if content is not None:
            trial = unpacked_trial(content)
        assert trial is not None, "the first task brings one"
        pickle.dump(_outcome(trial, task), answers)
        answers.flush()


def _outcome(trial: Trial, task: Task) -> Outcome:
    grid, config, quickly = task
    try:
        return trial.predicted(grid, config, quickly=quickly)
    except KernelcastError as error:
        return error


def _pool(processes: int) -> _Pool:
    """The workers that are kept, as many as are wanted."""
    if _POOLS and _POOLS[0].count == processes:
        return _POOLS[0]
    _end()
    _POOLS.append(_Pool(processes))
    return _POOLS[0]


@atexit.register
def _end() -> None:
    while _POOLS:
        _POOLS.pop().end()


def _can_be_sent(tasks: Sequence[Task]) -> bool:
    try:
        pickle.dumps(tasks)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True
