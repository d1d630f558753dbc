"""What is known of addresses without running: powers of two that divide a register's value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import (
    Compute,
    Immediate,
    Instruction,
    Kernel,
    Operand,
    Register,
    SymbolAddress,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["ALIGNMENT_RULES", "known_alignment"]

# An exponent that stands for "divisible by everything": the value zero.
_ANYTHING = 64


def known_alignment(kernel: Kernel) -> dict[int, int]:
    """Register index -> n such that 2**n provably divides its value in every lane, always."""
    found = {register.index: _ANYTHING for register in kernel.registers}
    readers: dict[int, list[Instruction]] = defaultdict(list)
    for instruction in kernel.instructions:
        if isinstance(instruction, Compute):  # the others' powers depend on no register
            for register in reads(instruction):
                readers[register.index].append(instruction)
    for first in watched(kernel.instructions, "looking for alignments"):
        pending = [first]
        while pending:
            instruction = pending.pop()
            power = _power_of(kernel, instruction, found)
            for register in writes(instruction):
                if power < found[register.index]:
                    found[register.index] = power
                    pending += readers[register.index]
    return found


def _power_of(kernel: Kernel, instruction: Instruction, known: Mapping[int, int]) -> int:
    if not isinstance(instruction, Compute):
        return 0
    rule = ALIGNMENT_RULES[instruction.opcode.algebra]
    is_integer = instruction.type.is_integer and instruction.source_type.is_integer
    if rule is None or not is_integer:
        return 0
    return min(
        _ANYTHING, rule([_power(kernel, s, known) for s in instruction.sources], instruction)
    )


def _power(kernel: Kernel, operand: Operand, known: Mapping[int, int]) -> int:
    if isinstance(operand, Register):
        return known[operand.index]
    if isinstance(operand, Immediate):
        return _trailing_zeros(operand.bits)
    if isinstance(operand, SymbolAddress):
        symbol = kernel.symbols[operand.symbol]
        first = symbol.offset if symbol.space is AddressSpace.SHARED else symbol.align
        return min(_trailing_zeros(first), _trailing_zeros(operand.offset))
    return 0


def _trailing_zeros(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else _ANYTHING


def _shift_left(powers: list[int], instruction: Compute) -> int:
    amount = instruction.sources[1]
    return powers[0] + (amount.bits if isinstance(amount, Immediate) else 0)


Rule = Callable[[list[int], Compute], int]


def _least(powers: list[int], _: Compute) -> int:
    return min(powers)


def _of_product(powers: list[int], _: Compute) -> int:
    return powers[0] + powers[1]


def _of_product_sum(powers: list[int], _: Compute) -> int:
    return min(powers[0] + powers[1], powers[2])


ALIGNMENT_RULES: Mapping[Algebra, Rule | None] = {
    Algebra.SUM: _least,
    Algebra.DIFFERENCE: _least,
    Algebra.NEGATION: _least,
    Algebra.MAGNITUDE: _least,
    Algebra.PRODUCT: _of_product,
    Algebra.PRODUCT_SUM: _of_product_sum,
    Algebra.SHORT_PRODUCT: None,
    Algebra.SHORT_PRODUCT_SUM: None,
    Algebra.WIDE_PRODUCT: _of_product,
    Algebra.WIDE_PRODUCT_SUM: _of_product_sum,
    Algebra.QUOTIENT: None,
    Algebra.REMAINDER: None,
    Algebra.MINIMUM: _least,
    Algebra.MAXIMUM: _least,
    Algebra.AND: lambda powers, _: max(powers),
    Algebra.OR: _least,
    Algebra.XOR: _least,
    Algebra.NOT: None,
    Algebra.SHIFT_LEFT: _shift_left,
    Algebra.SHIFT_RIGHT: None,
    Algebra.COPY: _least,
    Algebra.CONVERSION: _least,
    Algebra.WINDOW: _least,
    Algebra.COMPARISON: None,
    Algebra.CHOICE: lambda powers, _: min(powers[:2]),
    Algebra.OTHER: None,
}
"""What is known of the result; None: nothing."""
