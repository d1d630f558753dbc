"""The C twins of the benchmark kernels, compiled on the spot by gcc and called on NumPy arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from kernel_cases import KERNELS

from kernelcast.errors import KernelcastError
from kernelcast.simcore.launch.launch import Argument

__all__ = ["COMPILER", "CTwins"]

COMPILER = ("gcc", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")


class CTwins:
    """The functions of twins.c, compiled into `folder`.

    KernelcastError without gcc, CalledProcessError when it fails.
    """

    def __init__(self, folder: Path) -> None:
        if shutil.which(COMPILER[0]) is None:
            raise KernelcastError(f"{COMPILER[0]} is not installed: it compiles the C twins")
        library = folder / "twins.so"
        command = [*COMPILER, str(KERNELS / "twins.c"), "-o", str(library)]
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(str(library))

    def prepare(self, name: str, arguments: Sequence[Argument]) -> Callable[[], None]:
        """A call of the twin without further work in Python; it keeps the arrays alive."""
        function = self._library[name]
        function.restype = None
        converted = [_converted(argument) for argument in arguments]
        kept = tuple(arguments)

        def call() -> None:
            assert len(kept) == len(converted)
            function(*converted)

        return call


def _converted(argument: Argument) -> object:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, np.int32):
        return ctypes.c_int32(int(argument))
    if isinstance(argument, np.float32):
        return ctypes.c_float(float(argument))
    raise TypeError(f"no twin takes an argument of type {type(argument).__name__}")
