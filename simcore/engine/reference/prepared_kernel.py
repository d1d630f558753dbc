"""A kernel prepared for execution: what all batches share."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.engine.reference.barrier_bypass import barrier_bypasses
from kernelcast.simcore.isa.analysis.control_flow import ending_blocks, live_out
from kernelcast.simcore.isa.analysis.issued_by_group import issued_by_group
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.spin_loops import spin_loops
from kernelcast.simcore.isa.analysis.uniformity import launch_constants
from kernelcast.simcore.isa.ir.kernel import Atomic, BasicBlock, Kernel, Load, WarpOperation
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look

__all__ = ["PreparedKernel", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """A basic block, prepared for execution.

    Knows how many instructions it issues, whether it looks at memory, is within a loop that lanes
    may spin in, looks at mbarriers, and whether operations across lanes in it name their members.
    """

    block: BasicBlock
    issues: int
    live_out: frozenset[int]
    looks_at_memory: bool
    is_in_spin_loop: bool
    needs_members: bool
    suspends: bool


class PreparedKernel:
    """What all batches share."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.constants = launch_constants(kernel)
        self.ending = ending_blocks(kernel)
        self.by_group = issued_by_group(kernel)
        self.barrier_bypasses = barrier_bypasses(kernel)
        self.steps = _steps(kernel)


@once_per_kernel
def _steps(kernel: Kernel) -> tuple[Step, ...]:
    spinning = frozenset[int]().union(*(loop.body for loop in spin_loops(kernel)))
    return tuple(
        Step(
            block,
            len(block.body) + bool(block.terminator.mnemonic),
            frozenset(r.index for r in live),
            any(isinstance(i, Atomic) or (isinstance(i, Load) and i.volatile) for i in block.body),
            block.index in spinning,
            any(isinstance(i, WarpOperation) and i.members is not None for i in block.body),
            any(is_mbarrier_look(i) for i in block.body),
        )
        for block, live in zip(kernel.blocks, live_out(kernel), strict=True)
    )
