"""Tensor memory that compiled code asks for, kept as the reference engine keeps it."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.runtime.cluster_memory import ClusterMemory
from kernelcast.simcore.engine.jit.runtime.tile_products import multiply_compiled
from kernelcast.simcore.engine.reference.batch import Batch, GridShape
from kernelcast.simcore.engine.reference.tensor_memory import TensorMemory
from kernelcast.simcore.isa.ir.kernel import Kernel, TensorMemoryOperation
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["TensorMemoryCalls", "uses_tensor_memory"]

Ints = npt.NDArray[np.int64]


def uses_tensor_memory(kernel: Kernel) -> bool:
    """Whether the kernel has any operation on tensor memory."""
    return any(isinstance(i, TensorMemoryOperation) for i in kernel.instructions)


class TensorMemoryCalls:
    """Serves the thread blocks of one cluster at a time."""

    def __init__(
        self, kernel: Kernel, memory: LaunchMemory, shape: GridShape, shared: ClusterMemory
    ) -> None:
        self._kernel = kernel
        self._memory = memory
        self._shape = shape
        self._shared = shared
        self._is_used = uses_tensor_memory(kernel)

    def begin(self, thread_blocks: Ints) -> None:
        """The thread blocks of another cluster, by rank."""
        if not self._is_used:
            return
        batch = Batch(self._kernel, self._shape, self._memory, frozenset(), thread_blocks)
        batch.shared = self._shared
        batch.multiply = multiply_compiled
        self._held = TensorMemory(batch)

    def serves(self, pc: int) -> bool:
        """Whether the instruction at that pc is an operation on tensor memory."""
        return isinstance(self._kernel.instructions[pc], TensorMemoryOperation)

    def perform(self, pc: int, rank: int, warp: int, mask: int, operands: int | None) -> None:
        """Performs an operation for the lanes of a warp; results go where the operands are.

        Raises MemoryAccessError where what is asked for is not there.
        """
        instruction = self._kernel.instructions[pc]
        assert isinstance(instruction, TensorMemoryOperation)
        width = self._shape.width
        count = max(len(instruction.sources), len(instruction.destinations))
        kind = ctypes.c_uint64 * (count * width)
        rows = np.ctypeslib.as_array(kind.from_address(operands or 0)).reshape(count, width)
        chosen = [lane for lane in range(width) if mask >> lane & 1]
        lanes = rank * self._shape.lanes + warp * width + np.array(chosen)
        values = list(rows[: len(instruction.sources), chosen])
        results = self._held.perform(instruction, lanes, values)
        rows[: len(results), chosen] = results
