"""The support of many files, checked by several processes."""

from __future__ import annotations

import glob
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.support import (
    FileSupport,
    KernelSupport,
    Missing,
    check_file,
    count_units,
    merged_support,
)

__all__ = ["Survey", "find_files", "survey"]

_SUFFIXES = (".ptx", ".fatbin", ".cubin")
"""What is looked for in folders."""
_FEW_FILES = 8
"""The files that are checked before other processes have started."""
_UNITS_TOGETHER = 8
"""Translation units of a library that are checked by one process, one after the other."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The support of many files and their kernels."""

    files: tuple[FileSupport, ...]

    @property
    def kernels(self) -> tuple[KernelSupport, ...]:
        """The kernels of all files."""
        return tuple(kernel for file in self.files for kernel in file.kernels)

    @property
    def supported(self) -> int:
        """The number of kernels that run."""
        return sum(kernel.is_supported for kernel in self.kernels)

    @property
    def unreadable(self) -> int:
        """The number of files that gave no kernels at all."""
        return sum(file.unreadable is not None for file in self.files)

    @property
    def is_all_supported(self) -> bool:
        """Whether all kernels of all files run."""
        return all(file.is_supported for file in self.files)

    def reasons(self) -> list[tuple[str, int]]:
        """(what is missing, in how many kernels), the most frequent first."""
        counts: Counter[str] = Counter()
        for kernel in self.kernels:
            counts.update({reason.message for reason in kernel.missing})
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def find_files(patterns: Iterable[str]) -> list[Path]:
    """Files, the PTX files and fat binaries below folders, and what glob patterns match, once each.

    InputError for a pattern that finds nothing.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        files = [file for item in _matches(pattern) for file in _files_of(item)]
        if not files:
            kinds = f"{', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"
            reason = f"no {kinds} files below it" if Path(pattern).is_dir() else "no such file"
            raise InputError(f"{pattern}: {reason}")
        found.update(dict.fromkeys(files))
    return list(found)


def survey(
    files: Sequence[Path],
    options: CompilerOptions | None = None,
    processes: int | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    is_native: bool = False,
) -> Survey:
    """Checks all files; `progress` is told the finished share. By default a process a core.

    `is_native`: machine code goes before PTX where a file has both.
    """
    processes = processes or os.cpu_count() or 1
    tasks = [task for file in files for task in _tasks(file, options, is_native)]
    if processes == 1 or len(tasks) <= _FEW_FILES:
        checked = {}
        for done, task in enumerate(tasks, 1):
            checked[task] = task.check()
            _tell(progress, done, len(tasks))
    else:
        checked = _in_processes(tasks, processes, progress)
    return Survey(
        tuple(
            merged_support([checked[task] for task in tasks if task.file == file])
            for file in dict.fromkeys(files)
        )
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """A file, or a share of a large one."""

    file: Path
    options: CompilerOptions | None
    is_native: bool
    share: tuple[int, int]

    def check(self) -> FileSupport:
        return check_file(self.file, self.options, is_native=self.is_native, share=self.share)

    @property
    def bytes(self) -> float:
        """How much there is to read, as far as its size tells."""
        return self.file.stat().st_size / self.share[1]


def _tasks(file: Path, options: CompilerOptions | None, is_native: bool) -> list[_Task]:
    units = count_units(file, options or CompilerOptions())
    shares = -(-units // _UNITS_TOGETHER)
    return [_Task(file, options, is_native, (number, shares)) for number in range(shares)]


def _in_processes(
    tasks: Sequence[_Task], processes: int, progress: Callable[[float], None] | None
) -> dict[_Task, FileSupport]:
    found: dict[_Task, FileSupport] = {}
    # the longest first, so that no process is left alone with one in the end
    waiting = sorted(tasks, key=lambda task: -task.bytes)
    while waiting:
        with _pool(processes) as pool:
            futures = {pool.submit(task.check): task for task in waiting}
            for future in as_completed(futures):
                _collect(future, futures[future], found)
                _tell(progress, len(found), len(tasks))
        waiting = [task for task in waiting if task not in found]
        if waiting:  # a process died; one at a time shows which killed it
            found[waiting[0]] = _alone(waiting[0])
            waiting = waiting[1:]
    return found


def _pool(processes: int) -> ProcessPoolExecutor:
    """A pool of fresh processes: a copy of one that has threads may wait for ever."""
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))


def _collect(future: Future[FileSupport], task: _Task, found: dict[_Task, FileSupport]) -> None:
    try:
        found[task] = future.result()
    except BrokenProcessPool:
        return


def _alone(task: _Task) -> FileSupport:
    try:
        with _pool(1) as pool:
            return pool.submit(task.check).result()
    except BrokenProcessPool:
        crash = Missing("the process that checked it crashed")
        return FileSupport(str(task.file), unreadable=crash)


def _matches(pattern: str) -> list[Path]:
    if Path(pattern).exists():
        return [Path(pattern)]
    return sorted(Path(item) for item in glob.glob(pattern, recursive=True))


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    walk = os.walk(path)  # which leaves out folders that are gone meanwhile or cannot be read
    files = (Path(folder, name) for folder, _, names in walk for name in names)
    return sorted(file for file in files if file.suffix in _SUFFIXES and file.is_file())


def _tell(progress: Callable[[float], None] | None, done: int, files: int) -> None:
    if progress is not None:
        progress(done / files)
