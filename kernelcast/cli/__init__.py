"""The command line. One file a subcommand: it parses, calls the API, hands the result on.

Exit status: 0 done; 1 done and the answer is negative; 2 bad input; 130 interrupted. Imports
everything; nothing imports it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

import kernelcast
from kernelcast.cli import devices, models, trace
from kernelcast.cli.bench import bench
from kernelcast.cli.checks.check import check
from kernelcast.cli.compare import compare
from kernelcast.cli.estimate import estimate
from kernelcast.cli.installation import cache
from kernelcast.cli.installation.doctor import doctor
from kernelcast.cli.installation.examples import examples
from kernelcast.cli.installation.tools import tools
from kernelcast.cli.kernels.init import init
from kernelcast.cli.kernels.mix import mix
from kernelcast.cli.kernels.run import run
from kernelcast.cli.kernels.support import support
from kernelcast.cli.layers import layers
from kernelcast.cli.profile import profile
from kernelcast.cli.programs.build import build
from kernelcast.cli.programs.capture import capture
from kernelcast.cli.rank import rank
from kernelcast.cli.standard_streams import fill_closed_streams, output_status
from kernelcast.cli.studies import sweep
from kernelcast.cli.studies.serve import serve
from kernelcast.cli.terminal import show_error, show_line
from kernelcast.cli.topdown import topdown
from kernelcast.cli.tune import tune
from kernelcast.cli.validate.command import validate
from kernelcast.cli.whatif import whatif
from kernelcast.errors import ElementWarning, KernelcastError

__all__ = ["app", "main"]

BAD_INPUT = 2
INTERRUPTED = 130


class _Commands(TyperGroup):
    """Turns what a user caused into a message and an exit status; a defect keeps its traceback."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except OSError as error:  # help is printed here
            _end_if_output_failed(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            with _warnings_in_a_line():
                return super().invoke(ctx)
        except OSError as error:
            _end_if_output_failed(error)
            raise
        except KernelcastError as error:
            show_error(f"error: {error}")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            show_error("error: no memory left")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            show_error("interrupted")
            raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """What concerns the user is a line; warnings of libraries stay as they are."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, ElementWarning):
            show_error(f"warning: {message}")
        else:
            usual(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.simplefilter("default", ElementWarning)
        warnings.showwarning = show
        yield


def _end_if_output_failed(error: OSError) -> None:
    """Other failures of the system are defects, and keep their tracebacks."""
    status = output_status(error)
    if status is not None:
        raise typer.Exit(status) from None


def _unwrapped(text: str) -> str:
    """The text with each paragraph in one line.

    typer breaks lines by the width of the terminal, but keeps those of a docstring.
    """
    return "\n\n".join(" ".join(part.split()) for part in cleandoc(text).split("\n\n"))


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(estimate, capture, build, profile, mix, run, check, topdown, whatif, rank, tune, layers),
    *(init, compare, support, validate, bench, tools, doctor, examples, serve),
):
    app.command(help=_unwrapped(command.__doc__ or ""))(command)
app.add_typer(sweep.app, name="sweep")
app.add_typer(trace.app, name="trace")
app.add_typer(devices.app, name="devices")
app.add_typer(models.app, name="models")
app.add_typer(cache.app, name="cache")


def _print_version(wanted: bool) -> None:
    if wanted:
        show_line(f"kernelcast {kernelcast.__version__}")
        raise typer.Exit


@app.callback()
def kernelcast_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """How fast will a GPU kernel run on a GPU that you do not have, and why?

    Executes the kernel on the CPU, simulates the GPU's memory hierarchy and predicts the time.
    """


@functools.lru_cache(maxsize=1)
def _command(*_offered: object) -> Any:
    """All commands as `main` calls them, made anew where another one is offered."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, by default the process's own; returns the exit status."""
    fill_closed_streams()
    found = 0
    try:
        command = _command(*app.registered_commands, *app.registered_groups)
        command(args=None if arguments is None else list(arguments), prog_name="kernelcast")
    except SystemExit as status:
        found = status.code if isinstance(status.code, int) else BAD_INPUT
        if isinstance(status.__context__, BrokenPipeError):  # rich ends so where nobody reads help
            return 0
    failed = output_status()
    return found if failed is None or found else failed
