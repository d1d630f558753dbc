"""Whole programs as machine code: their results are those of the PTX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, EXACT, needs_tools, outputs

__all__ = ["DATA", "Program", "assert_as_ptx", "check", "text_of"]

DATA = Path(__file__).parent / "data"
Arrays = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True)
class Program:
    """A kernel of a file of `data` and what it runs on.

    `is_right`: whether arrays are what they must be, where only that counts: the order of threads
    changes them. Without it they are those of the PTX.
    """

    name: str
    arguments: tuple[Any, ...]
    thread_block: int
    grid: int = 1
    is_right: Callable[[Arrays], bool] | None = None


@cache
def text_of(file: str) -> str:
    """The PTX of a file of `data`."""
    return (DATA / f"{file}.ptx").read_text()


@cache
def _kernels(text: str, architecture: str) -> dict[str, Kernel]:
    needs_tools(architecture)
    module = assembled_module(text, architecture, "k.ptx", read_ptx(text, "k.ptx"), EXACT)
    for reasons in module.rejected.values():
        raise reasons[0]
    return dict(module.kernels)


def check(file: str, program: Program, architecture: str) -> None:
    """Both engines compute what the PTX does, or what is right."""
    text = text_of(file)
    launch = Launch((program.grid, 1, 1), (program.thread_block, 1, 1), program.arguments)
    if program.is_right is None:
        assert_as_ptx(text, launch, (architecture,), name=program.name)
        return
    kernel = _kernels(text, architecture)[program.name]
    for engine in ENGINES:
        assert program.is_right(outputs(kernel, launch, engine)), engine


def assert_as_ptx(
    text: str,
    launch: Launch,
    architectures: Sequence[str],
    *,
    name: str = "k",
    engines: Sequence[str] = ENGINES,
) -> None:
    """The arrays are bit for bit those of the PTX on the reference engine."""
    expected = outputs(read_ptx(text, "k.ptx").kernels[name], launch, "reference")
    for architecture in architectures:
        kernel = _kernels(text, architecture)[name]
        for engine in engines:
            found = outputs(kernel, launch, engine)
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(
                    other.view(np.uint8), one.view(np.uint8), f"{architecture}, {engine}"
                )
