"""Kernels whose matrix products are added up exactly rather than as tensor units do."""

from __future__ import annotations

from dataclasses import replace

from kernelcast.simcore.isa.ir.kernel import Kernel, Straight, TensorMemoryOperation, WarpOperation
from kernelcast.simcore.isa.matrix.accumulation import WIDE, Summation
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode, matrix_opcode
from kernelcast.simcore.isa.matrix.tensor_memory import TensorProduct

__all__ = ["with_exact_sums"]


def with_exact_sums(kernel: Kernel) -> Kernel:
    """The kernel with sums of twice the places of a double, each rounded once to its result."""
    blocks = tuple(
        replace(block, body=tuple(_exact(instruction) for instruction in block.body))
        for block in kernel.blocks
    )
    return replace(kernel, blocks=blocks)


def _exact(instruction: Straight) -> Straight:
    if isinstance(instruction, TensorMemoryOperation):
        if isinstance(instruction.operation, TensorProduct):
            return replace(
                instruction, operation=replace(instruction.operation, has_exact_sums=True)
            )
        return instruction
    if not isinstance(instruction, WarpOperation):
        return instruction
    opcode = instruction.opcode
    if not isinstance(opcode, MatrixOpcode) or opcode.operation is None:
        return instruction
    operation = opcode.operation
    if operation.product.accumulation.summation is not Summation.ALIGNED:
        return instruction
    product = replace(operation.product, accumulation=WIDE)
    return replace(instruction, opcode=matrix_opcode(replace(operation, product=product)))
