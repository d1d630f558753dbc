"""Operations of several warps together: all of them have to come, and whole."""

from __future__ import annotations

import numpy as np

from kernelcast.errors import ExecutionError
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Kernel, WarpOperation
from kernelcast.simcore.isa.opcodes.warp import GROUP
from kernelcast.traces.trace import Trace

__all__ = ["check_warpgroups", "warpgroup_operations"]


@once_per_kernel
def warpgroup_operations(kernel: Kernel) -> tuple[WarpOperation, ...]:
    """The operations of the kernel that take more than one warp."""
    return tuple(
        instruction
        for instruction in kernel.instructions
        if isinstance(instruction, WarpOperation) and instruction.opcode.warps > 1
    )


def check_warpgroups(kernel: Kernel, trace: Trace) -> None:
    """Raises ExecutionError, with how many came, where warps or lanes of them were missing."""
    for operation in warpgroup_operations(kernel):
        warps = operation.opcode.warps
        issues = trace.classes.warp_issues[:, operation.pc]
        lanes = trace.classes.lane_executions[:, operation.pc]
        if np.any(issues % warps) or np.any(lanes % (warps * GROUP)):
            raise ExecutionError(
                f"{operation.mnemonic} takes {warps} whole warps together; some did not come",
                operation.span,
                origin=operation.origin,
            )
