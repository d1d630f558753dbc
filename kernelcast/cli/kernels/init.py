"""`kernelcast init`: a workload file to begin with, from the kernel's own parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show_line
from kernelcast.errors import InputError, KernelcastError

__all__ = ["init"]

_LIMIT_S = 20.0

Source = Annotated[
    Path, typer.Argument(metavar="FILE", help="Kernels: .cu, .hip, .cl, .ptx, .ll, .spv, ...")
]
Entry = Annotated[
    str,
    typer.Option(metavar="KERNEL", help="Which kernel, where there are several: name, add<256>."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE.toml", help="Default: the source's name with .toml."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


def init(
    source: Source,
    entry: Entry = "",
    output: Output = None,
    force: Force = False,
    json: options.Json = False,
) -> None:
    """Write a workload file for a kernel, with its parameters and a guess of its launch.

    The file is run once; exit status 1 where it does not run yet, and what to change.
    """
    from kernelcast.partial_files import ReplacedFile
    from kernelcast.report.records import to_json
    from kernelcast.workload.skeleton import workload_skeleton

    file = output or source.with_suffix(".toml")
    if file.exists() and not force:
        raise InputError(f"{file} is there already: --force replaces it, -o names another one")
    text = workload_skeleton(source, entry, file.parent)
    try:
        with ReplacedFile(file) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror or error}") from None
    failure = _failure(file)
    if json:
        show_line(to_json({"workload": str(file), "runs": not failure, "failure": failure}))
    else:
        show_line(f"wrote {file}; see that sizes, shapes and values are those of your launch")
        show_line(
            f"it does not run yet: {failure}"
            if failure
            else f"next: kernelcast estimate {file} --device h100-sxm"
        )
    if failure:
        raise typer.Exit(1)


def _failure(file: Path) -> str:
    """Why the workload does not run, empty where it does."""
    from kernelcast.execution.sampling import Sampling
    from kernelcast.simcore.launch.launch import Limits
    from kernelcast.workload.file import load_workload

    try:
        load_workload(file).run(
            sampling=Sampling.AUTO, limits=Limits(seconds=_LIMIT_S), record_memory=False
        )
    except KernelcastError as error:
        return str(error).splitlines()[0]
    return ""
