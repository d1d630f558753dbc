"""A launch that is prepared once and executed often, without a trace."""

from __future__ import annotations

from kernelcast.errors import LaunchError
from kernelcast.execution.run_options import RunOptions
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.engine.repetition import Repetition, repeated
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

__all__ = ["PreparedLaunch", "check_options"]

_USUAL_WIDTH = 32


def check_options(options: RunOptions) -> None:
    """Raises LaunchError for options of what a prepared launch does not do."""
    if options.devices:
        raise LaunchError(
            "a prepared launch simulates no memory: name the GPU whose code is executed as target="
        )
    if options.sampling is not Sampling.NEVER:
        raise LaunchError("a prepared launch executes all thread blocks: sampling is for estimates")


class PreparedLaunch:
    """What `RunnableKernel.prepare` gives: `run` executes the launch again.

    Checks, compiled code, parameters and threads are there before the first run. Nothing is
    recorded.
    """

    def __init__(self, kernel: Kernel, launch: Launch, options: RunOptions) -> None:
        self._name = kernel.name
        self._repetition: Repetition = repeated(
            kernel,
            launch,
            warp_width=options.warp_width or _USUAL_WIDTH,
            limits=options.ends,
            engine=options.engine,
        )

    def __repr__(self) -> str:
        return f"<prepared launch of {self._name}>"

    def run(self, parameters: bytes | None = None) -> None:
        """Executes every thread block.

        `parameters`: a block of all parameters as a driver gets it, each at its offset, which also
        holds for later runs; its bytes do not matter where the argument is an array, a texture or
        another object. Raises LaunchError when an argument was freed or the block is of another
        size, and ExecutionError, with thread and source line, when the kernel fails.
        """
        self._repetition.run(parameters)
