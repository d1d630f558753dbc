"""Runs what a sweep's folder does not have yet: nothing that is there is computed again."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path

from kernelcast.progress import StageProgress
from kernelcast.studies.data_set import DataSet, SweepResult
from kernelcast.studies.executors import DaskCluster, Executor, Processes, ThisProcess
from kernelcast.studies.identity import plan_identity
from kernelcast.studies.plan import Plan
from kernelcast.studies.rows import Row, failed_row, point_row
from kernelcast.studies.tasks import Execution, Task, execution_of
from kernelcast.units import format_seconds

__all__ = ["run_plan"]

_STRIKES = 3
_TICK_S = 1.0
_LOST = "the process that computed it ended: killed, or out of memory"


def run_plan(
    plan: Plan,
    folder: Path,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: StageProgress | None = None,
) -> SweepResult:
    """Computes what is missing of a plan's rows and returns all; what `Sweep.run` does."""
    began = time.monotonic()
    data = DataSet(folder, plan, plan_identity(plan))
    missing = data.begin()
    if missing:
        tell = _Tally(plan.points, plan.points - sum(task.points for task in missing), progress)
        with _executor(plan, jobs or os.cpu_count() or 1, scheduler, len(missing)) as executor:
            _Run(plan, data, executor, tell).all(missing)
    return data.result(time.monotonic() - began)


def _executor(plan: Plan, jobs: int, scheduler: str | None, tasks: int) -> Executor:
    if scheduler is not None:
        return DaskCluster(plan, scheduler)
    return ThisProcess(plan) if min(jobs, tasks) == 1 else Processes(plan, min(jobs, tasks))


@dataclass
class _Tally:
    """How far a run is, told in words."""

    points: int
    done: int
    progress: StageProgress | None
    _began: float = field(default_factory=time.monotonic)
    _made: int = 0

    def add(self, points: int) -> None:
        """Counts points that were computed."""
        self.done += points
        self._made += points
        self.tell()

    def tell(self) -> None:
        """Says how many points there are, at which rate, and how long the rest will take."""
        if self.progress is None:
            return
        text = f"{self.done:,} of {self.points:,} points"
        rate = self._made / max(time.monotonic() - self._began, 1e-9)
        if self._made:
            left_s = (self.points - self.done) / rate
            text += f", {rate:.3g}/s, {format_seconds(max(1.0, round(left_s)))} left"
        self.progress(text, self.done / self.points)


class _Run:
    """Tasks on their way through an executor.

    The first task of a launch executes it; those behind it are handed out when it is done. Nor are
    two launches under way together that one execution may be enough for: the second would do again
    what the store has a little later.
    """

    def __init__(self, plan: Plan, data: DataSet, executor: Executor, tally: _Tally) -> None:
        self._plan, self._data = plan, data
        self._executor, self._tally = executor, tally
        self._ready: deque[Task] = deque()
        self._behind: dict[int, list[Task]] = {}
        self._alike: dict[Execution, list[Task]] = {}
        self._flying: dict[Future[list[Row]], Task] = {}
        self._strikes: Counter[int] = Counter()

    def all(self, tasks: Sequence[Task]) -> None:
        """Computes and writes all of them."""
        for task in tasks:
            if task.launch in self._behind:
                self._behind[task.launch].append(task)
            else:
                self._behind[task.launch] = []
                self._begin_launch(task)
        self._tally.tell()
        while self._ready or self._flying:
            self._hand_out()
            done, _ = wait(self._flying, _TICK_S, FIRST_COMPLETED)
            for future in done:
                self._take(future)
            if not done:
                self._tally.tell()

    def _begin_launch(self, task: Task) -> None:
        """Makes the first task of a launch ready, or lets it wait for a launch that is alike."""
        execution = execution_of(self._plan, task.launch)
        if execution in self._alike:
            self._alike[execution].append(task)
        else:
            self._alike[execution] = []
            self._ready.append(task)

    def _hand_out(self) -> None:
        # Who was there when a process ended is computed alone, to find out who it was.
        most = self._executor.workers * (2 if self._executor.has_queue else 1)
        most = 1 if self._strikes else most
        while self._ready and len(self._flying) < most:
            task = self._ready.popleft()
            self._flying[self._executor.submit(task)] = task

    def _take(self, future: Future[list[Row]]) -> None:
        task = self._flying.pop(future)
        error = future.exception() if not future.cancelled() else None
        if future.cancelled() or (error is not None and self._executor.lost(error)):
            self._strikes[task.number] += 1
            if self._strikes[task.number] < _STRIKES:
                self._ready.appendleft(task)
                return
            rows = self._lost_rows(task)
        elif error is not None:
            raise error
        else:
            rows = future.result()
        del self._strikes[task.number]
        self._data.write(task, rows)
        self._tally.add(task.points)
        waiting = self._behind.pop(task.launch, [])
        waiting += self._alike.pop(execution_of(self._plan, task.launch), [])
        self._ready.extendleft(reversed(waiting))

    def _lost_rows(self, task: Task) -> list[Row]:
        kernel, values = self._plan.launches[task.launch]
        points = [
            (swept, model)
            for swept in self._plan.swept_devices[task.first : task.end]
            for model in self._plan.models_of(kernel)
        ]
        return [
            point_row(task.first_point + n, kernel.name, values, swept, model)
            | failed_row(_LOST, None)
            for n, (swept, model) in enumerate(points)
        ]
