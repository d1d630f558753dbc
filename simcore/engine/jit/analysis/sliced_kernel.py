"""A kernel cut down to what decides where threads go and which addresses they touch."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierResult,
    BasicBlock,
    Compute,
    HostCall,
    Kernel,
    Load,
    Store,
    Straight,
    TensorMemoryOperation,
    WarpOperation,
)

__all__ = ["sliced"]


def sliced(kernel: Kernel, only: Set[int]) -> Kernel:
    """The kernel without the effects of instructions whose pc is not in `only`.

    What is left of them is what they count for: their guards, and the addresses of accesses.
    """
    return replace(kernel, blocks=tuple(_sliced_block(block, only) for block in kernel.blocks))


def _sliced_block(block: BasicBlock, only: Set[int]) -> BasicBlock:
    body = tuple(i if i.pc in only else _without_effect(i) for i in block.body)
    return replace(block, body=body)


def _without_effect(instruction: Straight) -> Straight:
    match instruction:
        case Compute():
            return replace(instruction, destinations=(), sources=())
        case WarpOperation():
            return replace(instruction, destinations=(), sources=(), members=None)
        case BarrierResult():
            return replace(instruction, destination=None)
        case HostCall():
            return replace(instruction, destination=None, sources=(), types=())
        case TensorMemoryOperation():
            return replace(instruction, destinations=(), sources=(), types=())
        case Load():
            return replace(instruction, destinations=())
        case Store():
            return replace(instruction, sources=())
        case Atomic():
            return replace(instruction, destination=None, sources=())
    return instruction
