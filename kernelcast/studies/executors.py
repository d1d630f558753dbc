"""Who computes the tasks of a sweep: this process, others on this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from typing import Any

from kernelcast.errors import InputError
from kernelcast.studies.freed_memory import keep_freed_memory
from kernelcast.studies.plan import Plan
from kernelcast.studies.rows import Row
from kernelcast.studies.tasks import Task, rows_of

__all__ = ["DaskCluster", "Executor", "Processes", "ThisProcess"]


_CONNECT_S = 10.0


class Executor(ABC):
    """Computes tasks; as a context it ends what it has started."""

    workers: int
    """Tasks that are computed at the same time."""
    has_queue: bool = True
    """Whether tasks may wait for a worker."""

    @abstractmethod
    def submit(self, task: Task) -> Future[list[Row]]:
        """The rows of a task, some time; or why there are none: a defect, or what `lost` knows."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    @abstractmethod
    def end(self) -> None:
        """Ends what was started."""

    @abstractmethod
    def lost(self, error: BaseException) -> bool:
        """Whether an error of a future means that a process has ended; it is replaced then."""


class ThisProcess(Executor):
    """One task after the other, here."""

    workers = 1
    has_queue = False

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def submit(self, task: Task) -> Future[list[Row]]:
        """The rows, which are there already."""
        made: Future[list[Row]] = Future()
        try:
            made.set_result(rows_of(self._plan, task))
        except Exception as error:
            made.set_exception(error)
        return made

    def end(self) -> None:
        """Nothing was started."""

    def lost(self, _error: BaseException) -> bool:
        """Never: this process goes on or everything ends."""
        return False


class Processes(Executor):
    """Processes of this machine, which end when this one does, however it ends."""

    def __init__(self, plan: Plan, count: int) -> None:
        self.workers = count
        self._plan = pickle.dumps(plan)
        self._others = set(multiprocessing.active_children())
        self._pool = self._started()

    def submit(self, task: Task) -> Future[list[Row]]:
        """The rows of a task, from the next process that is free."""
        try:
            return self._pool.submit(_rows_of_packed, self._plan, task)
        except BrokenProcessPool as error:
            failed: Future[list[Row]] = Future()
            failed.set_exception(error)
            return failed

    def lost(self, error: BaseException) -> bool:
        """Whether one of the processes has ended; new ones take the place of all."""
        if not isinstance(error, BrokenProcessPool):
            return False
        if getattr(self._pool, "_broken", True):
            self.end()
            self._pool = self._started()
        return True

    def end(self) -> None:
        """Ends the processes, whatever they are at."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in self._children():
            process.terminate()
        for process in self._children():
            process.join()

    def _children(self) -> set[BaseProcess]:
        return set(multiprocessing.active_children()) - self._others

    def _started(self) -> ProcessPoolExecutor:
        # "spawn": forked threads of numba and of the engines would hang
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _begin_worker)


class DaskCluster(Executor):
    """The workers of a Dask scheduler, started by Dask's own commands.

    They find the files of the plan under the same names, and have the same kernelcast. InputError
    when Dask is not installed or nobody answers at the address.
    """

    def __init__(self, plan: Plan, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise InputError("--scheduler needs Dask: pip install 'kernelcast[dask]'") from None
        self._address = address
        connect: Any = distributed.Client
        try:
            self._client = connect(address, timeout=_CONNECT_S, set_as_default=False)
            threads = self._client.nthreads()
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"no Dask scheduler answers at {address}: {reason}") from None
        if not threads:
            self._client.close()
            raise InputError(
                f"the Dask scheduler at {address} has no workers: dask worker {address}"
            )
        self.workers = len(threads)
        self._executor = self._client.get_executor(pure=False)
        self._plan = pickle.dumps(plan)
        # Sent once to all workers, not with each task.
        (self._shipped,) = self._client.scatter([self._plan], broadcast=True, hash=True)

    def submit(self, task: Task) -> Future[list[Row]]:
        """The rows of a task, from a worker of the cluster."""
        made: Future[list[Row]] = self._executor.submit(_rows_of_packed, self._shipped, task)
        return made

    def lost(self, error: BaseException) -> bool:
        """Whether workers died of a task again and again: Dask has tried it on others by then."""
        kind = type(error).__name__
        if kind in ("CancelledError", "FutureCancelledError", "CommClosedError"):
            raise InputError(
                f"the Dask cluster at {self._address} is gone: the same command goes on"
            ) from None
        return kind == "KilledWorker"

    def end(self) -> None:
        """Leaves the cluster, which goes on."""
        self._client.close()


@lru_cache(maxsize=2)
def _unpacked(plan: bytes) -> Plan:
    """One object for equal bytes: what is made of it is kept with it."""
    found: Plan = pickle.loads(plan)
    return found


_one_at_a_time = threading.Lock()
"""A worker of Dask may have several threads: kernels run on all cores anyway."""


def _rows_of_packed(plan: bytes, task: Task) -> list[Row]:
    with _one_at_a_time:
        return rows_of(_unpacked(plan), task)


def _begin_worker() -> None:
    """An interrupt is for the first process, and without that one there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    connection.wait([parent.sentinel])
    os._exit(1)
