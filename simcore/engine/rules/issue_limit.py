"""How many instructions of the intermediate representation a warp may issue.

A limit counts those of the source or of the machine. A product of matrices of AMD's is a thousand
instructions here, which are parts of one.
"""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Limits

__all__ = ["issue_limit"]


def issue_limit(kernel: Kernel, limits: Limits) -> int | None:
    """The limit of instructions times the most parts that one has; None for no limit."""
    most = limits.instructions_per_warp
    return None if most is None else most * _most_parts(kernel)


@once_per_kernel
def _most_parts(kernel: Kernel) -> int:
    """Parts of an instruction in the mean of that basic block which has most."""
    parts = 1
    for block in kernel.blocks:
        whole = sum(not instruction.is_part for instruction in block.body)
        parts = max(parts, len(block.body) // max(1, whole))
    return parts
