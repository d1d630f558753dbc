"""A launch that is executed again and again: what can be done once is done once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kernelcast.simcore.engine import Listener, check_fits, engine_named, execute
from kernelcast.simcore.engine.reference.warpgroups import warpgroup_operations
from kernelcast.simcore.engine.reference.whole_barriers import with_whole_barriers
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.parameter_block import with_parameters

__all__ = ["Repetition", "repeated"]


class Repetition(Protocol):
    """A launch that runs again."""

    def run(self, parameters: bytes | None = None) -> None:
        """Executes it once, with a block of other `parameters` from now on."""


@dataclass(slots=True)
class _WholeRuns:
    """A launch that is executed as any other each time."""

    kernel: Kernel
    launch: Launch
    warp_width: int
    limits: Limits
    engine: str
    listener: Listener

    def run(self, parameters: bytes | None = None) -> None:
        if parameters is not None:
            self.launch = with_parameters(self.kernel, self.launch, parameters)
        execute(
            self.kernel,
            self.launch,
            warp_width=self.warp_width,
            limits=self.limits,
            engine=self.engine,
            record_memory=False,
            listener=self.listener,
        )


def repeated(
    kernel: Kernel,
    launch: Launch,
    *,
    warp_width: int = 32,
    limits: Limits | None = None,
    engine: str = "auto",
    write: Callable[[str], object] | None = None,
) -> Repetition:
    """A launch that is ready to run; `write` gets what the kernel prints.

    What the reference engine runs, and kernels with operations of several warps, are executed as
    any other launch each time. Raises LaunchError when the launch does not fit the kernel.
    """
    check_fits(kernel, launch, warp_width)
    limits = limits or Limits()
    told = Listener(write=write)
    whole = _WholeRuns(kernel, launch, warp_width, limits, engine, told)
    if engine_named(engine) != "jit" or warpgroup_operations(kernel):
        return whole
    # llvmlite takes a while to import: only who needs it pays
    from kernelcast.simcore.engine.jit.runtime.repeated_launch import RepeatedLaunch
    from kernelcast.simcore.engine.jit.runtime.run import can_run

    kernel = with_whole_barriers(kernel, launch.threads_per_thread_block)
    if not can_run(kernel):
        return whole
    printed = PrintedText(write or (lambda text: sys.stdout.write(text)))
    return RepeatedLaunch(kernel, launch.materialised(), warp_width, limits, printed)
