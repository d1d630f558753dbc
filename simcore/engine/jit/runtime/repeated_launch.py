"""A launch that repeats, with the same parameters or with others."""

from __future__ import annotations

from threading import Lock

from kernelcast.simcore.engine.jit.runtime.ready_launch import ReadyLaunch
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.parameter_block import with_parameters

__all__ = ["RepeatedLaunch"]


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
        self._block: bytes | None = None
        self._ready = self._made(launch)

    def run(self, parameters: bytes | None = None) -> None:
        """Executes every thread block, with a block of other `parameters` from now on.

        LaunchError when these do not fit, ExecutionError when the kernel fails.
        """
        with self._lock:
            if parameters is not None and parameters != self._block:
                launch = with_parameters(self._kernel, self._ready.launch, parameters)
                self._ready, self._block = self._made(launch), parameters
            elif not self._ready.is_current:
                self._ready = self._made(self._ready.launch)
            try:
                self._ready.run()
            finally:
                self._printed.flush()

    def _made(self, launch: Launch) -> ReadyLaunch:
        return ReadyLaunch(self._kernel, launch, self._width, self._limits, self._printed)
