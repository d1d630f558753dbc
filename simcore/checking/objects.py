"""Which object the address of an access was computed from, where only one comes into question.

A register has the origins of all registers and symbols that any of its definitions reads; what is
loaded from memory has none. Addresses in shared or local memory that have one array as their only
origin must stay in it. Buffers that no instruction can write are never raced for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BulkCopy,
    Compute,
    HostCall,
    Instruction,
    Kernel,
    Load,
    Operand,
    Register,
    Store,
    SymbolAddress,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["Origins", "array_bounds", "quiet_loads"]

_UNKNOWN = "unknown"
_WITH_ARRAYS = (AddressSpace.SHARED, AddressSpace.LOCAL)
_MOST_ROUNDS = 64


class Origins:
    """Origins by register: names of symbols, offsets of parameters, or that nothing is known."""

    def __init__(self, kernel: Kernel) -> None:
        self._found: dict[int, frozenset[Hashable]] = {}
        for _ in range(_MOST_ROUNDS):
            grown = [self._grows(instruction) for instruction in kernel.instructions]
            if not any(grown):
                return
        self._found = {r.index: frozenset([_UNKNOWN, None]) for r in kernel.registers}

    def of(self, operand: Operand | None) -> frozenset[Hashable]:
        """The origins of an operand."""
        if isinstance(operand, Register):
            return self._found.get(operand.index, frozenset())
        return frozenset([operand.symbol]) if isinstance(operand, SymbolAddress) else frozenset()

    def _grows(self, instruction: Instruction) -> bool:
        found = self._from(instruction)
        grew = False
        for register in writes(instruction):
            known = self._found.get(register.index, frozenset())
            if not found <= known:
                self._found[register.index] = known | found
                grew = True
        return grew

    def _from(self, instruction: Instruction) -> frozenset[Hashable]:
        if isinstance(instruction, Load):
            address = instruction.address
            if address.space is AddressSpace.PARAM and address.base is None:
                return frozenset([address.offset])
            return frozenset([_UNKNOWN])
        if isinstance(instruction, Compute) and instruction.type.bits >= 32:
            return frozenset().union(*(self.of(source) for source in instruction.sources))
        if isinstance(instruction, WarpOperation | Atomic | HostCall | TensorMemoryOperation):
            return frozenset([_UNKNOWN])
        return frozenset()


def array_bounds(
    kernel: Kernel, origins: Origins, symbols: Mapping[str, int], shared_bytes: int
) -> dict[int, tuple[int, int]]:
    """First and last address of the shared or local array that an access must stay in, by pc."""
    arrays = {
        name: (symbols[name], symbols[name] + symbol.size if symbol.size else shared_bytes)
        for name, symbol in kernel.symbols.items()
        if symbol.space in _WITH_ARRAYS and name in symbols
    }
    found = {}
    for instruction in kernel.instructions:
        if isinstance(instruction, Load | Store | Atomic):
            of = {origin for origin in origins.of(instruction.address.base) if origin in arrays}
            if len(of) == 1:
                found[instruction.pc] = arrays[str(of.pop())]
    return found


def quiet_loads(
    kernel: Kernel,
    origins: Origins,
    allocations: Mapping[int, int],
    unwritten: Iterable[int] = (),
) -> tuple[frozenset[int], frozenset[int] | None]:
    """Loads of buffers that nothing writes, by pc, and the allocations that may be written.

    `allocations`: of pointers among the parameters, by their offset; `unwritten`: those whose
    contents nobody may read before they are written. None where a write may go anywhere.
    """
    written: set[int] = set(unwritten)
    for instruction in kernel.instructions:
        if isinstance(instruction, BulkCopy | HostCall):
            return frozenset(), None
        if not isinstance(instruction, Store | Atomic) or not _is_global(instruction):
            continue
        of = _buffers(origins.of(instruction.address.base), allocations)
        if of is None:
            return frozenset(), None
        written |= of
    quiet = set()
    for instruction in kernel.instructions:
        if isinstance(instruction, Load) and _is_global(instruction):
            of = _buffers(origins.of(instruction.address.base), allocations)
            if of and not of & written:
                quiet.add(instruction.pc)
    return frozenset(quiet), frozenset(written)


def _is_global(access: Load | Store | Atomic) -> bool:
    return access.address.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC)


def _buffers(origins: frozenset[Hashable], allocations: Mapping[int, int]) -> set[int] | None:
    """The allocations that an address may be in; None for any.

    An address that has a pointer among its origins is that pointer's: loaded numbers are indices.
    """
    pointers = {allocations[o] for o in origins if isinstance(o, int) and o in allocations}
    named = {o for o in origins if isinstance(o, str) and o != _UNKNOWN}
    if not pointers or named or len(pointers) > 1:
        return None
    return pointers
