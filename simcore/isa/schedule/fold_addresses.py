"""Address arithmetic that native code has no instruction for.

A constant that is added to an address is an offset of the access. A product of 64 bits that is only
added to addresses is part of each sum: `IMAD.WIDE` multiplies and adds (ptxas 13.0 for sm_75 to
sm_120: `mul.wide.s32; add.s64` is one IMAD.WIDE, and each array has its own).
"""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
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
from kernelcast.simcore.isa.schedule.register_facts import RegisterFacts, register_facts

__all__ = ["added_constant", "folded_addresses"]

_LARGEST_OFFSET = 1 << 23
"""Offsets of accesses have 24 bits with their sign (SASS of all architectures)."""
_ADDRESS_BITS = (32, 64)


@once_per_kernel
def folded_addresses(kernel: Kernel) -> frozenset[int]:
    """Pcs of instructions that become part of what reads their results."""
    facts = register_facts(kernel)
    block_of = {
        instruction.pc: block.index for block in kernel.blocks for instruction in block.body
    }
    found: set[int] = set()
    for instruction in reversed(kernel.instructions):
        if not isinstance(instruction, Compute) or instruction.guard is not None:
            continue
        if _is_offset(instruction, facts, found, block_of) or _is_factor(instruction, facts):
            found.add(instruction.pc)
    return frozenset(found)


def added_constant(instruction: Instruction) -> tuple[Register, int] | None:
    """The register that a constant is added to, and the constant; None for all else."""
    if not isinstance(instruction, Compute) or not instruction.type.is_integer:
        return None
    algebra, sources, bits = instruction.opcode.algebra, instruction.sources, instruction.type.bits
    if algebra not in (Algebra.SUM, Algebra.DIFFERENCE) or len(sources) != 2 or not sources:
        return None
    if isinstance(sources[0], Immediate) and algebra is Algebra.SUM:
        sources = (sources[1], sources[0])
    base, constant = sources
    if not isinstance(base, Register) or not isinstance(constant, Immediate):
        return None
    value = _signed(constant.bits, bits)
    return base, -value if algebra is Algebra.DIFFERENCE else value


def _signed(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def _result(instruction: Compute) -> int | None:
    targets = [item for item in instruction.destinations if item is not None]
    return targets[0].index if len(targets) == 1 else None


def _is_offset(
    instruction: Compute, facts: RegisterFacts, found: set[int], block_of: dict[int, int]
) -> bool:
    """Whether only accesses and further offsets read the sum of an address and a constant.

    Where the address changes later, all of them must stand in the same basic block.
    """
    added, target = added_constant(instruction), _result(instruction)
    if added is None or target is None or target not in facts.written_once:
        return False
    base, value = added
    users = facts.users.get(target, ())
    if abs(value) >= _LARGEST_OFFSET or instruction.type.bits not in _ADDRESS_BITS or not users:
        return False
    here = block_of[instruction.pc]
    is_fixed = base.index in facts.written_once
    return all(
        (_is_base(user, target) or user.pc in found) and (is_fixed or block_of.get(user.pc) == here)
        for user in users
    )


def _is_base(user: Instruction, register: int) -> bool:
    """Whether an access reads the register as its address and as nothing else."""
    if not isinstance(user, Load | Store | Atomic):
        return False
    base = user.address.base
    sources = () if isinstance(user, Load) else user.sources
    is_source = any(isinstance(item, Register) and item.index == register for item in sources)
    return isinstance(base, Register) and base.index == register and not is_source


def _is_factor(instruction: Compute, facts: RegisterFacts) -> bool:
    """Whether a product of 64 bits is only added to others."""
    target = _result(instruction)
    if instruction.opcode.algebra is not Algebra.WIDE_PRODUCT or target is None:
        return False
    users = facts.users.get(target, ())
    return bool(users) and target in facts.written_once and all(map(_is_wide_sum, users))


def _is_wide_sum(user: Instruction) -> bool:
    return (
        isinstance(user, Compute)
        and user.opcode.algebra is Algebra.SUM
        and user.type.is_integer
        and user.type.bits == 64
        and all(isinstance(item, Register) for item in user.sources)
    )
