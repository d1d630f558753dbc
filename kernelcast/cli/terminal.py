"""What the subcommands write to: standard output for results, standard error for the rest."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from kernelcast.progress import Progress, StageProgress, stages_told_to
from kernelcast.report import records
from kernelcast.simcore.isa.ir.source_names import source_name

__all__ = [
    "launch_progress",
    "show",
    "show_error",
    "show_line",
    "show_log",
    "show_progress",
    "show_result",
    "show_stages",
]

_WIDTH_WITHOUT_TERMINAL = 120
_STEP_S = 0.1
"""How often a line of progress is written anew."""


class _Console(Console):
    """Leaves a reader that has gone to the command line, instead of ending the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def show(result: RenderableType) -> None:
    """Prints a report; into a file or pipe without colours and blanks at the ends of lines.

    It is as wide as the terminal, or as COLUMNS says, else 120 characters.
    """
    if sys.stdout.isatty():
        _Console(highlight=False, emoji=False, markup=False).print(result)
        return
    width = None if "COLUMNS" in os.environ else _WIDTH_WITHOUT_TERMINAL
    console = _Console(width=width, highlight=False, emoji=False, markup=False)
    with console.capture() as captured:
        console.print(result)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def show_line(text: str) -> None:
    """Prints text as it is: JSON, CSV."""
    sys.stdout.write(text + "\n")


def show_result(
    *,
    json: bool,
    csv: bool,
    record: Callable[[], Mapping[str, Any]],
    rows: Callable[[], Iterable[Sequence[object]]],
    report: Callable[[], RenderableType],
) -> None:
    """Prints the one form that the options ask for; only that one is made."""
    if json:
        show_line(records.to_json(record()))
    elif csv:
        show_line(records.to_csv(rows()))
    else:
        show(report())


def show_error(message: str) -> None:
    """Writes a message to standard error."""
    with contextlib.suppress(OSError):  # there is no other place to tell it
        sys.stderr.write(f"{message}\n")


def show_log(name: str) -> None:
    """Writes what is logged under that name, from now on, to standard error."""
    log = logging.getLogger(name)
    log.setLevel(logging.INFO)
    log.addHandler(logging.StreamHandler())
    log.propagate = False


@contextmanager
def show_progress(title: str) -> Iterator[Progress | None]:
    """A progress bar on standard error while the context lasts; None when it is no terminal.

    It names the stages that are told of meanwhile.
    """
    if not sys.stderr.isatty():
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    console = Console(stderr=True)
    with ProgressBar(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(title, total=1.0)

        def told(stage: str, share: float) -> None:
            progress.update(task, description=f"{title}: {stage}", completed=share)

        with stages_told_to(told):
            yield lambda share: progress.update(task, completed=share)


@contextmanager
def show_stages() -> Iterator[StageProgress | None]:
    """A progress bar that names what is being executed; None when there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    with ProgressBar(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0)
        yield lambda name, share: progress.update(task, description=name, completed=share)


@contextmanager
def launch_progress() -> Iterator[Callable[[int, str], None]]:
    """Shows which launch of a program is made, and for how long; nothing where no terminal is."""
    if not sys.stderr.isatty():
        yield lambda _number, _kernel: None
        return
    began, shown = time.monotonic(), 0.0

    def step(number: int, kernel: str) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= _STEP_S:
            shown = now
            line = f"launch {number:,}: {source_name(kernel)}, {now - began:.0f} s"
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    try:
        yield step
    finally:
        sys.stderr.write("\r\x1b[K")
