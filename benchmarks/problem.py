"""One launch of a benchmark kernel, and what it must compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import kernelcast as kc
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.launch.launch import Argument

__all__ = ["Array", "Problem"]

Array = npt.NDArray[Any]
_MARGIN_BYTES = 1 << 16


@dataclass(frozen=True)
class Problem:
    """One launch. `expected()` is the array that the argument `output` must hold afterwards.

    |found - expected| <= rtol |expected| + atol must hold.
    """

    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    output: int
    expected: Callable[[], Array]
    rtol: float = 0.0
    atol: float = 0.0

    def with_fresh_output(self) -> Problem:
        """The problem with an output array of its own; the inputs are shared."""
        arguments = list(self.arguments)
        arguments[self.output] = np.array(arguments[self.output])
        return replace(self, arguments=tuple(arguments))

    def padded(self) -> Problem:
        """The problem in arrays of its own with room before and behind them."""

        def inside(argument: Argument) -> Argument:
            if not isinstance(argument, np.ndarray):
                return argument
            margin = _MARGIN_BYTES // argument.itemsize
            room = np.zeros(argument.size + 2 * margin, argument.dtype)
            place = room[margin : margin + argument.size].reshape(argument.shape)
            place[...] = argument
            return place

        return replace(self, arguments=tuple(inside(argument) for argument in self.arguments))

    def run(
        self,
        kernel: RunnableKernel,
        engine: str,
        device: kc.Device | None = None,
        memory: kc.DeviceMemory | None = None,
        *,
        record_paths: bool | None = None,
    ) -> KernelTrace:
        """Counts instructions; records what the profile of `device` needs when there is one.

        Models of time need the paths of warps besides, which `record_paths` may leave out.
        """
        return kernel.run(
            grid=self.grid,
            block=self.thread_block,
            args=self.arguments,
            devices=() if device is None else (device,),
            engine=engine,
            record_memory=device is not None,
            record_paths=record_paths,
            memory=memory,
        )

    def is_solved(self) -> bool:
        """Whether the output holds what is expected."""
        found = np.asarray(self.arguments[self.output])
        return bool(np.allclose(found, self.expected(), rtol=self.rtol, atol=self.atol))
