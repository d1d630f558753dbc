"""What a worker knows of the cluster that its thread block is in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.runtime.bulk_copy_calls import BulkCopyCalls
from kernelcast.simcore.engine.jit.runtime.cluster_memory import ClusterBarrier, ClusterMemory
from kernelcast.simcore.engine.jit.runtime.tensor_memory_calls import TensorMemoryCalls

__all__ = ["ClusterPlace"]


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """A worker's rank in its cluster and what it shares with the others."""

    rank: int
    shared: ClusterMemory
    barrier: ClusterBarrier
    copies: BulkCopyCalls
    tensor_memory: TensorMemoryCalls

    @property
    def host_of_arrivals(self) -> int:
        """Where compiled code counts those of the thread block at the cluster's barrier."""
        return int(self.barrier.arrivals[self.rank].ctypes.data)

    def perform(self, pc: int, stage: int, warp: int, mask: int, operands: int | None) -> None:
        """What the lanes of a warp ask of hardware. ExecutionError when it would refuse it."""
        if self.tensor_memory.serves(pc):
            self.tensor_memory.perform(pc, self.rank, warp, mask, operands)
        else:
            self.copies.copy(pc, self.rank, stage, warp, mask, operands)

    def opens(self, contexts: npt.NDArray[np.uint8]) -> bool:
        """Lets warps go on whose barrier of the cluster has opened; whether there are any."""
        return self.barrier.open(self.rank, contexts)
