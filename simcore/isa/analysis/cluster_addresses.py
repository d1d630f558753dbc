"""Addresses of shared memory of other thread blocks of a cluster, and what kernels need for them.

PTX leaves open what `mapa` gives. Here it is the address within the thread block, and above its 24
bits the rank plus one; zero there stands for the thread's own thread block.
"""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    BarrierSync,
    BulkCopy,
    ClusterArrive,
    Compute,
    Kernel,
    Special,
    SpecialRegister,
    TensorMemoryOperation,
)

__all__ = [
    "CLUSTER_SPECIALS",
    "OFFSET_BITS",
    "OFFSET_MASK",
    "RANK_MASK",
    "has_cluster_barriers",
    "needs_clusters",
]

OFFSET_BITS = 24
OFFSET_MASK = (1 << OFFSET_BITS) - 1
RANK_MASK = 0xFF
_ROOTS = ("mapa", "getctarank")


@once_per_kernel
def needs_clusters(kernel: Kernel) -> bool:
    """Whether the kernel can run only in a cluster of thread blocks or a CTA pair.

    It does if it addresses other thread blocks of its cluster, asks about the cluster, or has what
    pairs of thread blocks do together.
    """
    if kernel.required_cluster is not None and kernel.required_cluster != (1, 1, 1):
        return True
    for instruction in kernel.instructions:
        if isinstance(instruction, (ClusterArrive, BulkCopy, TensorMemoryOperation)):
            return True
        if isinstance(instruction, BarrierSync) and instruction.is_cluster:
            return True
        if isinstance(instruction, Compute):
            if instruction.mnemonic.startswith(_ROOTS):
                return True
            if any(_is_of_cluster(source) for source in instruction.sources):
                return True
    return False


def has_cluster_barriers(kernel: Kernel) -> bool:
    """Whether threads wait for those of other thread blocks of their cluster."""
    ends = (block.terminator for block in kernel.blocks)
    return any(isinstance(end, BarrierSync) and end.is_cluster for end in ends)


def _is_of_cluster(operand: object) -> bool:
    return isinstance(operand, SpecialRegister) and operand.which in CLUSTER_SPECIALS


CLUSTER_SPECIALS = frozenset(special for special in Special if "cluster" in special.value)
