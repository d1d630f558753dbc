"""What a kernel's registers take of the register file, and which of them are names of others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.counting_rules import native_counting
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.upper_halves import registers_read_in_full
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Instruction, Kernel, Register

__all__ = ["RegisterFacts", "register_facts"]

_WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class RegisterFacts:
    """`words` by register: 32-bit registers that a value takes, none for a predicate.

    `written_once`: registers with one definition. `constants`: those of them that are an operand
    of native code and take none, such as parameters and constants. `users`: instructions that read
    a register.
    """

    words: dict[int, int]
    written_once: frozenset[int]
    constants: frozenset[int]
    users: dict[int, tuple[Instruction, ...]]


@once_per_kernel
def register_facts(kernel: Kernel) -> RegisterFacts:
    """The facts of a kernel's registers."""
    full = registers_read_in_full(kernel)
    words = {item.index: _words(item, full) for item in kernel.registers}
    times: dict[int, int] = defaultdict(int)
    users: dict[int, list[Instruction]] = defaultdict(list)
    for instruction in kernel.instructions:
        for register in writes(instruction):
            times[register.index] += 1
        for index in dict.fromkeys(register.index for register in reads(instruction)):
            users[index].append(instruction)
    once = frozenset(index for index, count in times.items() if count == 1)
    return RegisterFacts(
        words, once, _constants(kernel, once), {index: tuple(x) for index, x in users.items()}
    )


def _words(register: Register, full: frozenset[int]) -> int:
    if register.bits == 1:
        return 0
    whole = max(1, register.bits // _WORD_BITS)
    return 1 if register.bits == 2 * _WORD_BITS and register.index not in full else whole


def _constants(kernel: Kernel, once: frozenset[int]) -> frozenset[int]:
    """Registers that hold what folded instructions make of nothing but constants."""
    folded, found = native_counting(kernel).folded, set[int]()
    for instruction in kernel.instructions:
        if instruction.pc not in folded or instruction.guard is not None:
            continue
        if all(item.index in found for item in reads(instruction)) and _is_operand(instruction):
            found.update(item.index for item in writes(instruction) if item.index in once)
    return frozenset(found)


def _is_operand(instruction: Instruction) -> bool:
    """Whether a folded instruction renames one thing: no special register, no pair."""
    if not isinstance(instruction, Compute):
        return True
    return len(instruction.sources) == 1 and isinstance(
        instruction.sources[0], (Immediate, Register)
    )
