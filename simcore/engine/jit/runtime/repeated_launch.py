"""A launch that repeats, with the same parameters or with others."""

from __future__ import annotations

from collections import deque
from threading import Lock

from kernelcast.errors import LaunchError
from kernelcast.simcore.engine.jit.runtime.ready_launch import ReadyLaunch
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.parameter_block import check_block, with_parameters

__all__ = ["RepeatedLaunch"]


_MOST_VERSIONS = 8
"""Codes of one launch that are ready: for integers that they have as constants."""


class RepeatedLaunch:
    """A launch on the JIT engine; `run` executes it with the parameters that it had last."""

    def __init__(
        self, kernel: Kernel, launch: Launch, warp_width: int, limits: Limits, printed: PrintedText
    ) -> None:
        self._kernel = kernel
        self._width = warp_width
        self._limits = limits
        self._printed = printed
        self._lock = Lock()
        self._launch = launch
        self._block: bytes | None = None
        self._ready = self._made(launch)
        self._others: deque[ReadyLaunch] = deque(maxlen=_MOST_VERSIONS - 1)

    def run(self, parameters: bytes | None = None) -> None:
        """Executes every thread block, with a block of other `parameters` from now on.

        LaunchError when these do not fit, ExecutionError when the kernel fails.
        """
        with self._lock:
            if parameters is not None and parameters != self._block:
                self._take(parameters)
            if not self._ready.is_current and not self._ready.look_again():
                self._ready = self._made(self._with(self._block))
            try:
                self._ready.run()
            except MemoryError:
                name = self._kernel.name
                raise LaunchError(f"no memory left to execute kernel {name}") from None
            finally:
                self._printed.flush()

    def _take(self, block: bytes) -> None:
        """Chooses the code that serves a block of parameters."""
        check_block(self._kernel, block)
        if not self._ready.takes(block):
            found = next((other for other in self._others if other.takes(block)), None)
            if found is None:
                found = self._made(self._with(block))
            else:
                self._others.remove(found)
            self._others.append(self._ready)
            self._ready = found
        self._block = block

    def _with(self, block: bytes | None) -> Launch:
        if block is None:
            return self._launch
        return with_parameters(self._kernel, self._launch, block)

    def _made(self, launch: Launch) -> ReadyLaunch:
        with time_limit(self._limits.seconds):  # code may have to be compiled
            return ReadyLaunch(self._kernel, launch, self._width, self._limits, self._printed)
