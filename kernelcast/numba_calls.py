"""Launches of Numba's kernels, `kernel[grid, block](...)`, in a block of `kc.capture`."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from kernelcast.api import estimate
from kernelcast.errors import LaunchError
from kernelcast.execution.code import machine_architecture
from kernelcast.inputs.numba_kernel import NumbaKernel, from_numba
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.launch.launch import dimensions
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.triton_calls.session import CallSession, CapturedCall

__all__ = ["numba_launches"]

_DISPATCHER = "numba.cuda.dispatcher"
_OPTIONS = ("fastmath", "opt")


@contextmanager
def numba_launches(session: CallSession) -> Iterator[None]:
    """Launches of functions under `numba.cuda.jit` are the session's within the block.

    Nothing changes where Numba's part for CUDA was not imported.
    """
    if _DISPATCHER not in sys.modules:
        yield
        return
    compiled: dict[Any, NumbaKernel] = {}

    def configured(kernel: Any, grid: Any, block: Any, *rest: Any, **named: Any) -> Any:
        shared_bytes = rest[1] if len(rest) > 1 else named.get("sharedmem", 0)
        launch = _Launch(session, compiled, kernel, grid, block, shared_bytes)
        return launch.run

    dispatcher = sys.modules[_DISPATCHER].CUDADispatcher
    with mock.patch.object(dispatcher, "configure", configured):
        yield


class _Launch:
    """A kernel with its grid, thread block and bytes of dynamic shared memory."""

    def __init__(
        self,
        session: CallSession,
        compiled: dict[Any, NumbaKernel],
        kernel: Any,
        grid: Any,
        block: Any,
        shared_bytes: int,
    ) -> None:
        self._session = session
        self._compiled = compiled
        self._kernel = kernel
        self._grid = dimensions(grid, "grid")
        self._block = dimensions(block, "block")
        self._shared_bytes = shared_bytes

    def run(self, *args: Any) -> None:
        """Executes the launch for each architecture; what the first one computes stays."""
        kernels: dict[str, NumbaKernel] = {}
        profiles: dict[str, KernelProfile] = {}
        for number, group in enumerate(self._session.groups):
            given = [_copy(value) for value in args] if number else list(args)
            kernel = self._for(group[0], args)
            trace = kernel.run(
                given,
                grid=self._grid,
                block=self._block,
                devices=group,
                shared_bytes=self._shared_bytes,
            )
            profiles |= {device.name: trace.profile(device) for device in group}
            kernels |= dict.fromkeys((device.name for device in group), kernel)
        model = self._session.model
        self._session.calls.append(
            CapturedCall(
                name=next(iter(kernels.values())).name,
                grid=self._grid,
                constants={},
                options={"threads": math.prod(self._block)},
                estimates={name: estimate(item, model) for name, item in profiles.items()},
                profiles=profiles,
                kernels=kernels,
            )
        )

    def _for(self, device: Device, args: Sequence[Any]) -> NumbaKernel:
        """The kernel as Numba compiles it for the types of the arguments; compiled once."""
        typeof: Callable[[Any], Any] = importlib.import_module("numba").typeof
        for value in args:
            if not isinstance(value, (np.ndarray, np.generic, bool, int, float)):
                raise LaunchError(
                    f"{self._kernel.py_func.__name__}: {type(value).__name__} is no argument here: "
                    "give NumPy arrays and numbers"
                )
        types = tuple(typeof(value) for value in args)
        architecture = machine_architecture(device)
        key = (self._kernel.py_func, types, architecture)
        if key not in self._compiled:
            given = getattr(self._kernel, "targetoptions", {})
            options = {name: given[name] for name in _OPTIONS if name in given}
            self._compiled[key] = from_numba(
                self._kernel.py_func, types, arch=f"sm_{architecture}", **options
            )
        return self._compiled[key]


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
