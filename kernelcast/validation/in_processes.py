"""Rows that are predicted in several processes, with the results in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from kernelcast.progress import StageProgress

__all__ = ["in_processes"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_processes(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    names: Sequence[str],
    processes: int,
    progress: StageProgress | None = None,
    work: Sequence[float] = (),
) -> list[Result]:
    """The function of each task, in their order; in this process where one is enough.

    Function, tasks and results must be such that pickle takes them. `progress` is told of `names`,
    one for each task, which began (here) or ended (elsewhere) last, and the share that is done.
    Tasks of most `work`, in any unit, begin first, so that none of them runs alone in the end.
    """
    if min(processes, len(tasks)) <= 1:
        return list(_here(function, tasks, names, progress))
    results: list[Result | None] = [None] * len(tasks)
    with ProcessPoolExecutor(min(processes, len(tasks)), get_context("spawn")) as pool:
        order = list(range(len(tasks)))
        if work:
            order.sort(key=lambda place: -work[place])
        places: dict[Future[Result], int] = {
            pool.submit(function, tasks[place]): place for place in order
        }
        try:
            for done, future in enumerate(as_completed(places), 1):
                place = places[future]
                results[place] = future.result()
                if progress is not None:
                    progress(names[place], done / len(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [result for result in results if result is not None]


def _here(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    names: Sequence[str],
    progress: StageProgress | None,
) -> Iterator[Result]:
    for done, (task, name) in enumerate(zip(tasks, names, strict=True)):
        if progress is not None:
            progress(name, done / len(tasks))
        yield function(task)
