"""Kernels in which data decide no more than what some lanes compute.

Where a part of the thread blocks stands for all, only what decides paths and addresses is executed.
A guard of arithmetic that depends on data, as `exp2` has one for small arguments, decides neither.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.slices import control_slice, path_and_address_slice
from kernelcast.simcore.isa.ir.kernel import Compute, Kernel, Straight

__all__ = ["without_data_guards"]


@once_per_kernel
def without_data_guards(kernel: Kernel) -> Kernel:
    """The kernel whose arithmetic counts for all lanes, where its guards alone depend on data.

    It takes the same paths to the same addresses; what it computes is nothing. The kernel itself
    where no guard depends on data, or more does.
    """
    if control_slice(kernel).is_static:
        return kernel
    found = path_and_address_slice(kernel)
    if not found.is_static:
        return kernel

    def unguarded(item: Straight) -> Straight:
        is_free = isinstance(item, Compute) and item.pc not in found.pcs
        return replace(item, guard=None) if is_free and item.guard is not None else item

    blocks = tuple(
        replace(block, body=tuple(map(unguarded, block.body))) for block in kernel.blocks
    )
    return replace(kernel, blocks=blocks)
