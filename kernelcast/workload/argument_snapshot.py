"""Buffers and device memory as before a launch, for kernels that are executed more than once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.simcore.launch.textures import levels_of

__all__ = ["ArgumentSnapshot"]

_ARRAYS = (np.ndarray, LazyBuffer)


class ArgumentSnapshot:
    """Contents are put back in place: arguments that share memory go on sharing it.

    With `memory`, those of all its allocations as well.
    """

    def __init__(self, arguments: Sequence[Argument], memory: DeviceMemory | None = None) -> None:
        self._before: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
        self._unmade: list[LazyBuffer] = []
        for argument in arguments:
            if isinstance(argument, LazyBuffer) and not argument.is_materialised:
                self._unmade.append(argument)
                continue
            array = argument.materialise() if isinstance(argument, LazyBuffer) else argument
            if isinstance(argument, TensorMap):
                array = argument.array
            texels = [image.texels for image in levels_of(argument)]
            for kept in (array, *texels):
                if isinstance(kept, np.ndarray) and kept.flags.writeable:
                    self._before.append((kept, kept.copy()))

        self._memory = memory
        if memory is not None:
            self._heap = memory.heap_state()
            for allocation in memory.allocations:
                contents = memory.view(allocation, allocation.size)
                if contents.flags.writeable:
                    self._before.append((contents, contents.copy()))

    @classmethod
    def of(cls, launch: Launch, kernels: Iterable[Kernel]) -> ArgumentSnapshot:
        """All that a launch may change, which each of the kernels is to find as it is now."""
        if launch.memory is None:
            return cls(launch.arguments)
        for kernel in kernels:
            launch.memory.prepare(kernel)
        return cls(launch.arguments, launch.memory.memory)

    @staticmethod
    def bytes_of(launch: Launch) -> int:
        """How much memory a snapshot of all that a launch may change takes, in bytes."""
        found = sum(value.nbytes for value in launch.arguments if isinstance(value, _ARRAYS))
        if launch.memory is None:
            return found
        return found + sum(item.size for item in launch.memory.memory.allocations)

    @contextmanager
    def exchanged(self) -> Iterator[None]:
        """Contents are as before the launch while it is open; then again what they were."""
        after = ArgumentSnapshot([array for array, _ in self._before], self._memory)
        self.restore()
        try:
            yield
        finally:
            after.restore()

    def restore(self) -> None:
        """Puts the contents back as they were before the launch."""
        if self._memory is not None:
            self._memory.restore_heap(self._heap)
        for array, contents in self._before:
            np.copyto(array, contents)
        for buffer in self._unmade:
            if buffer.is_materialised:
                buffer.materialise().reshape(-1)[:] = buffer.elements(0, buffer.size)
