"""Which branches all warps of a thread block take alike, so long as they took the others alike."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Branch,
    Compute,
    HostCall,
    Instruction,
    Kernel,
    Load,
    Operand,
    Special,
    SpecialRegister,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["differing_branches"]

_OF_THREAD_BLOCK = (Special.CTAID_X, Special.CTAID_Y, Special.CTAID_Z)
_FIXED_MEMORY = (AddressSpace.PARAM, AddressSpace.CONST)


def differing_branches(
    kernel: Kernel, variances: Mapping[int, LaneVariance], specials: Mapping[Special, LaneVariance]
) -> frozenset[int]:
    """Indices of basic blocks whose branch may go other ways in other warps of a thread block.

    Warps that took the same ways so far hold the same in registers that are uniform and made of
    nothing that a warp has for itself; branches on those need not be watched.
    """
    own = _own_registers(kernel, specials)
    return frozenset(
        block.index
        for block in kernel.blocks
        if isinstance(end := block.terminator, Branch)
        and (end.guard.register.index in own or not variances[end.guard.register.index].is_uniform)
    )


def _own_registers(kernel: Kernel, specials: Mapping[Special, LaneVariance]) -> set[int]:
    """Registers made of what may differ from warp to warp: thread numbers, memory contents."""
    own: set[int] = set()
    size = -1
    while size != len(own):
        size = len(own)
        for instruction in kernel.instructions:
            if _is_own(instruction, specials) or any(r.index in own for r in reads(instruction)):
                own.update(r.index for r in writes(instruction))
    return own


def _is_own(instruction: Instruction, specials: Mapping[Special, LaneVariance]) -> bool:
    if isinstance(instruction, Load):
        return instruction.address.space not in _FIXED_MEMORY
    if isinstance(instruction, Compute):
        return any(_differs(source, specials) for source in instruction.sources)
    return isinstance(instruction, Atomic | WarpOperation | HostCall | TensorMemoryOperation)


def _differs(operand: Operand, specials: Mapping[Special, LaneVariance]) -> bool:
    if not isinstance(operand, SpecialRegister) or operand.which in _OF_THREAD_BLOCK:
        return False
    variance = specials[operand.which]
    return variance.is_varying or variance.constant is None
