"""What a kernel's path, and the addresses of its accesses, are computed from: backward slices.

A slice that reads nothing but parameters, constants and special registers is *static*: counts, or
addresses, follow from the launch alone, whatever the buffers hold. Slices follow registers only,
through every definition of a register (Weiser, "Program slicing", 1984, without the statements
that a value cannot reach anyway).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.control_flow import reads
from kernelcast.simcore.isa.analysis.uniformity import definitions
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierResult,
    Branch,
    Compute,
    HostCall,
    Instruction,
    Kernel,
    Load,
    Register,
    Special,
    SpecialRegister,
    Store,
    TensorMemoryOperation,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["Slice", "address_slice", "control_slice"]

_WHAT = "slicing the kernel"
_CLOCKS = (Special.CLOCK, Special.CLOCK64, Special.GLOBALTIMER)
_FIXED_SPACES = (AddressSpace.PARAM, AddressSpace.CONST)
"""What the host sets before the launch and no thread can write."""


@dataclass(frozen=True, slots=True)
class Slice:
    """`pcs` of the straight-line instructions that compute what the slice is for.

    `loads`: those of them that read what a buffer, shared or local memory holds. `clocks`: those
    that read a clock. Stores that may feed the loads are not part of the slice.
    """

    pcs: frozenset[int]
    loads: tuple[int, ...]
    clocks: tuple[int, ...] = ()

    @property
    def is_static(self) -> bool:
        """Whether all of it follows from the launch alone."""
        return not self.loads and not self.clocks


def control_slice(kernel: Kernel) -> Slice:
    """What decides which basic blocks run and, under guards, in which lanes."""
    return _backward(kernel, _control_roots(kernel))


def address_slice(kernel: Kernel) -> Slice:
    """The control slice, and what the addresses of all accesses to memory are computed from."""
    return _backward(kernel, [*_control_roots(kernel), *_address_roots(kernel)])


def _control_roots(kernel: Kernel) -> Iterator[Register]:
    for block in kernel.blocks:
        for instruction in block.body:
            if instruction.guard is not None:
                yield instruction.guard.register
        # the way round a guarded barrier has no pc: it is found here only
        if isinstance(block.terminator, Branch):
            yield block.terminator.guard.register


def _address_roots(kernel: Kernel) -> Iterator[Register]:
    for block in kernel.blocks:
        for instruction in block.body:
            if isinstance(instruction, (Load, Store, Atomic)) and isinstance(
                instruction.address.base, Register
            ):
                yield instruction.address.base


def _backward(kernel: Kernel, roots: Iterable[Register]) -> Slice:
    """All definitions of `roots`, of what these read, and so on."""
    writers: dict[int, list[Instruction]] = defaultdict(list)
    for block in watched(kernel.blocks, _WHAT):
        for instruction in block.body:
            for register in definitions(instruction):
                writers[register.index].append(instruction)
    seen = {register.index for register in roots}
    pending = sorted(seen)  # each once: thousands of branches may share a predicate
    needed: dict[int, Instruction] = {}
    while pending:
        for writer in writers[pending.pop()]:
            needed[writer.pc] = writer
            new = {register.index for register in reads(writer)} - seen
            seen |= new
            pending.extend(new)
    return Slice(
        frozenset(needed),
        tuple(sorted(pc for pc, instruction in needed.items() if _reads_data(instruction))),
        tuple(sorted(pc for pc, instruction in needed.items() if _reads_clock(instruction))),
    )


def _reads_data(instruction: Instruction) -> bool:
    if isinstance(instruction, Load):
        return instruction.address.space not in _FIXED_SPACES
    return isinstance(instruction, Atomic | BarrierResult | HostCall | TensorMemoryOperation)


def _reads_clock(instruction: Instruction) -> bool:
    return isinstance(instruction, Compute) and any(
        isinstance(source, SpecialRegister) and source.which in _CLOCKS
        for source in instruction.sources
    )
