"""Which types of memory are asked for through which pointers of a kernel's parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Compute,
    Instruction,
    Kernel,
    Load,
    Register,
    Store,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["ParameterAccesses", "parameter_accesses"]


@dataclass(frozen=True, slots=True)
class ParameterAccesses:
    """`types`: by the parameters that an address is made of, the types of its accesses.

    `escaped`: parameters whose value goes where it is not followed: memory, other lanes, calls.
    """

    types: dict[frozenset[int], frozenset[ScalarType]]
    escaped: frozenset[int]


@once_per_kernel
def parameter_accesses(kernel: Kernel) -> ParameterAccesses:
    """Follows parameters of 64 bits through arithmetic.

    The order of instructions plays no part, so that sets are upper bounds.
    """
    instructions = kernel.instructions
    made_of = _made_of(kernel, instructions)
    types: dict[frozenset[int], set[ScalarType]] = {}
    escaped: set[int] = set()
    for instruction in instructions:
        base: Register | SymbolAddress | None = None
        if isinstance(instruction, Load | Store | Atomic):
            base = instruction.address.base
            if isinstance(base, Register) and made_of.get(base.index):
                types.setdefault(made_of[base.index], set()).add(instruction.type)
        if not isinstance(instruction, Compute | Load):
            escaped.update(*_taken(instruction, base, made_of))
    known = {parameters: frozenset(found) for parameters, found in types.items()}
    return ParameterAccesses(known, frozenset(escaped))


def _taken(
    instruction: Instruction,
    base: Register | SymbolAddress | None,
    made_of: dict[int, frozenset[int]],
) -> Iterator[frozenset[int]]:
    """What an instruction that computes nothing does with parameters beside addresses."""
    for register in reads(instruction):
        if register != base:
            yield made_of.get(register.index, frozenset())


def _made_of(kernel: Kernel, instructions: tuple[Instruction, ...]) -> dict[int, frozenset[int]]:
    """The parameters that each register may be made of, by its index."""
    by_offset = {
        parameter.offset: position
        for position, parameter in enumerate(kernel.parameters)
        if parameter.size == 8 and not parameter.is_struct
    }
    found: dict[int, frozenset[int]] = {}
    changed = True
    while changed:
        changed = False
        for instruction in instructions:
            taken = _sources(instruction, by_offset, found)
            if not taken:
                continue
            for register in writes(instruction):
                before = found.get(register.index, frozenset())
                if not taken <= before:
                    found[register.index] = before | taken
                    changed = True
    return found


def _sources(
    instruction: Instruction, by_offset: dict[int, int], found: dict[int, frozenset[int]]
) -> frozenset[int]:
    if isinstance(instruction, Load):
        address = instruction.address
        if address.space is AddressSpace.PARAM and address.base is None:
            position = by_offset.get(address.offset)
            return frozenset() if position is None else frozenset({position})
        return frozenset()
    if not isinstance(instruction, Compute):
        return frozenset()
    parts = (found.get(register.index, frozenset()) for register in reads(instruction))
    return frozenset().union(*parts)
