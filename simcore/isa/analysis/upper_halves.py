"""Which values are read, and which of 64 bits only for their lower 32.

Native code keeps 64 bits in two registers of 32 and leaves out the upper one when nothing needs it:
an address in shared memory, for instance, which source code may compute in 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Compute,
    Immediate,
    Instruction,
    Kernel,
    Load,
    Register,
    Store,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "LOWER_OPERANDS",
    "is_extension",
    "is_truncation",
    "registers_read",
    "registers_read_in_full",
]

_NARROW_SPACES = (AddressSpace.SHARED, AddressSpace.LOCAL)
"""Memory whose addresses have 32 bits."""
LOWER_OPERANDS: Mapping[Algebra, int] = {
    Algebra.SUM: 2,
    Algebra.DIFFERENCE: 2,
    Algebra.NEGATION: 1,
    Algebra.MAGNITUDE: 0,
    Algebra.PRODUCT: 2,
    Algebra.PRODUCT_SUM: 3,
    Algebra.SHORT_PRODUCT: 0,
    Algebra.SHORT_PRODUCT_SUM: 0,
    Algebra.WIDE_PRODUCT: 0,
    Algebra.WIDE_PRODUCT_SUM: 0,
    Algebra.QUOTIENT: 0,
    Algebra.REMAINDER: 0,
    Algebra.MINIMUM: 0,
    Algebra.MAXIMUM: 0,
    Algebra.AND: 2,
    Algebra.OR: 2,
    Algebra.XOR: 2,
    Algebra.NOT: 1,
    Algebra.SHIFT_LEFT: 1,
    Algebra.SHIFT_RIGHT: 0,
    Algebra.COPY: 1,
    Algebra.CONVERSION: 0,
    Algebra.WINDOW: 0,
    Algebra.COMPARISON: 0,
    Algebra.CHOICE: 2,
    Algebra.OTHER: 0,
}
"""The number of first operands of which the lower half of the result depends on the lower halves
alone; the other operands of these have 32 bits or one."""


def registers_read_in_full(kernel: Kernel) -> frozenset[int]:
    """Indices of the 64-bit registers whose upper half something reads."""
    full: set[int] = set()
    grew = True
    while grew:
        before = len(full)
        for instruction in reversed(kernel.instructions):
            full.update(_needed_in_full(instruction, full))
        grew = len(full) > before
    return frozenset(full)


def registers_read(kernel: Kernel) -> frozenset[int]:
    """Indices of the registers that anything but the computation of unread ones reads."""
    found: set[int] = set()
    grew = True
    while grew:
        before = len(found)
        for instruction in reversed(kernel.instructions):
            results = {register.index for register in writes(instruction)}
            if not isinstance(instruction, Compute) or not results or results & found:
                found.update(register.index for register in reads(instruction))
        grew = len(found) > before
    return frozenset(found)


def _needed_in_full(instruction: Instruction, full: set[int]) -> set[int]:
    wide = {register.index for register in reads(instruction) if register.bits == 64}
    if not wide:
        return wide
    if isinstance(instruction, (Load, Store, Atomic)):
        return wide - _narrow_base(instruction)
    if not isinstance(instruction, Compute):
        return wide
    if is_truncation(instruction):
        return set()
    if any(register.index in full for register in writes(instruction)):
        return wide
    return wide - _passed_on(instruction)


def _narrow_base(access: Load | Store | Atomic) -> set[int]:
    """The base of an address of 32 bits, if the access reads its register for nothing else."""
    base = access.address.base
    if access.address.space not in _NARROW_SPACES or not isinstance(base, Register):
        return set()
    sources = () if isinstance(access, Load) else access.sources
    return set() if base in sources else {base.index}


def _passed_on(instruction: Compute) -> set[int]:
    """Operands of which a result that is itself not read in full needs the lower half only."""
    if instruction.type.bits != 64 or instruction.type.is_float or instruction.modifiers:
        return set()
    count = LOWER_OPERANDS[instruction.opcode.algebra]
    return {x.index for x in instruction.sources[:count] if isinstance(x, Register)}


def is_truncation(instruction: Compute) -> bool:
    """A conversion that takes the lower half of an integer of 64 bits."""
    return _is_plain_conversion(instruction) and (
        instruction.source_type.bits == 64 and instruction.type.bits == 32
    )


def is_extension(instruction: Compute) -> bool:
    """Whether an instruction extends 32 to 64 bits, as a conversion or as a product with 1."""
    if instruction.opcode.algebra is Algebra.WIDE_PRODUCT:
        return instruction.type.bits == 32 and instruction.sources[1] == Immediate(1)
    return _is_plain_conversion(instruction) and (
        instruction.source_type.bits == 32 and instruction.type.bits == 64
    )


def _is_plain_conversion(instruction: Compute) -> bool:
    return (
        instruction.opcode.algebra is Algebra.CONVERSION
        and not instruction.modifiers
        and instruction.type.is_integer
        and instruction.source_type.is_integer
    )
