"""`kernelcast examples`: the examples that an installation brings, in a folder of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.cli.terminal import show_line

__all__ = ["examples"]

_FIRST = "saxpy/saxpy.toml"


def examples(
    folder: Annotated[Path, typer.Argument(help="A folder that is not there yet.")] = Path(
        "examples"
    ),
) -> None:
    """Copies the examples: kernels with their workload files, programs, Triton, notebooks."""
    from kernelcast.shipped_files import copy_examples

    workloads = copy_examples(folder)
    show_line(f"{folder}: {len(workloads)} workloads, programs, kernels of Triton, notebooks")
    show_line(f"try: kernelcast estimate {folder / _FIRST} --device h100-sxm")
