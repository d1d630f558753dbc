"""Which product a `tcgen05.mma` computes, where its descriptor is a constant of the kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Compute,
    Immediate,
    Instruction,
    Kernel,
    Operand,
    Register,
    Straight,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.matrix.accumulation import WIDE, Summation
from kernelcast.simcore.isa.matrix.instruction_descriptors import described_product, stated_product
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode, matrix_opcode
from kernelcast.simcore.isa.matrix.products import MatrixProduct
from kernelcast.simcore.isa.matrix.tensor_memory import TensorMemoryFault, TensorProduct
from kernelcast.simcore.isa.opcodes.columns import Algebra

__all__ = [
    "static_operation",
    "static_product",
    "with_exact_sums",
]

_DESCRIPTOR = 3


def static_product(kernel: Kernel, instruction: Instruction) -> MatrixProduct | None:
    """None for what is no product, and where the descriptor is computed or fits no product."""
    found = static_operation(kernel, instruction)
    if found is None:
        return None
    try:
        return described_product(*found).product
    except TensorMemoryFault:
        return None


def static_operation(kernel: Kernel, instruction: Instruction) -> tuple[TensorProduct, int] | None:
    """A product with what its constant descriptor says of it, and the descriptor."""
    if not isinstance(instruction, TensorMemoryOperation):
        return None
    if not isinstance(instruction.operation, TensorProduct):
        return None
    source = instruction.sources[_DESCRIPTOR]
    word = source.bits if isinstance(source, Immediate) else None
    if isinstance(source, Register):
        word = _constants(kernel).get(source.index)
    if word is None:
        return None
    try:
        return stated_product(instruction.operation, word), word
    except TensorMemoryFault:
        return None


@once_per_kernel
def _constants(kernel: Kernel) -> Mapping[int, int]:
    """Registers that get the same constant wherever they are written, be it by way of others."""
    written: dict[int, list[tuple[Operand, ...]]] = defaultdict(list)
    for instruction in kernel.instructions:
        for register in writes(instruction):
            written[register.index].append(_taken(instruction))
    known: dict[int, int] = {}
    while True:
        found = {
            index: word
            for index, ways in written.items()
            if index not in known and (word := _agreed(index, ways, known)) is not None
        }
        if not found:
            return known
        known |= found


def _agreed(
    index: int, ways: Sequence[tuple[Operand, ...]], known: Mapping[int, int]
) -> int | None:
    """The constant that all ways to write a register give it; it may keep what it has."""
    words: set[int | None] = set()
    for operands in ways:
        if not operands:
            return None
        for operand in operands:
            if isinstance(operand, Immediate):
                words.add(operand.bits)
            elif not isinstance(operand, Register) or operand.index != index:
                words.add(known.get(operand.index) if isinstance(operand, Register) else None)
    return words.pop() if len(words) == 1 else None


def _taken(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands of which the result is one; none for what computes."""
    if isinstance(instruction, Compute) and len(instruction.destinations) == 1:
        if instruction.opcode.algebra is Algebra.COPY and len(instruction.sources) == 1:
            return instruction.sources
        return instruction.sources[:2] if instruction.opcode.name == "selp" else ()
    if isinstance(instruction, WarpOperation) and instruction.opcode.name == "shfl.idx":
        return instruction.sources[:1]
    return ()


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
