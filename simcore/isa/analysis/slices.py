"""What a kernel's path, and the addresses of its accesses, are computed from: backward slices.

A slice that reads nothing but parameters, constants and special registers is *static*: counts, or
addresses, follow from the launch alone, whatever the buffers hold. Slices follow registers only,
through the definitions that reach a use (Weiser, "Program slicing", 1984): machine code uses a
register for one thing after another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierResult,
    Branch,
    Compute,
    Guard,
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

__all__ = [
    "Slice",
    "address_slice",
    "control_slice",
    "data_slice",
    "path_and_address_slice",
    "path_slice",
]

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


class _Use(NamedTuple):
    """A register that is read in a basic block, before its instruction `end`, under a guard."""

    block: int
    end: int
    register: int
    guard: Guard | None = None


@once_per_kernel
def control_slice(kernel: Kernel) -> Slice:
    """What decides which basic blocks run and, under guards, in which lanes."""
    return _backward(kernel, _control_roots(kernel))


@once_per_kernel
def address_slice(kernel: Kernel) -> Slice:
    """The control slice, and what the addresses of all accesses to memory are computed from."""
    return _backward(kernel, [*_control_roots(kernel), *_address_roots(kernel)])


@once_per_kernel
def data_slice(kernel: Kernel) -> Slice | None:
    """The address slice of a kernel whose thread blocks find in memory what tells them their way.

    It has what they keep in shared and local memory for it, too; its `loads` are those of global
    memory. None where a thread block may ask more than memory: atomics, votes, clocks, the host.
    """
    return _through_own_memory(kernel, [*_control_roots(kernel), *_address_roots(kernel)])


@once_per_kernel
def path_slice(kernel: Kernel) -> Slice | None:
    """What decides which basic blocks run, whatever lanes do there under guards.

    What threads keep of it in shared and local memory is part of it; None as for `data_slice`.
    """
    return _through_own_memory(kernel, list(_branch_roots(kernel)))


@once_per_kernel
def path_and_address_slice(kernel: Kernel) -> Slice:
    """What decides which basic blocks run, and which lanes do more there than arithmetic, where."""
    guards = [
        _Use(block.index, position, item.guard.register.index)
        for block in kernel.blocks
        for position, item in enumerate(block.body)
        if item.guard is not None and not isinstance(item, Compute)
    ]
    return _backward(kernel, [*_branch_roots(kernel), *guards, *_address_roots(kernel)])


def _through_own_memory(kernel: Kernel, roots: Sequence[_Use]) -> Slice | None:
    found = _backward(kernel, roots)
    own: frozenset[int] = frozenset()
    by_pc = {item.pc: item for block in kernel.blocks for item in block.body}
    spaces: set[AddressSpace] = set()
    while not spaces.issuperset(read := _own_spaces(by_pc[pc] for pc in found.loads)):
        spaces |= read
        stores = list(_own_stores(kernel, spaces))
        own = frozenset(pc for pc, _ in stores)
        found = _backward(kernel, [*roots, *(use for _, uses in stores for use in uses)])
    loads = [by_pc[pc] for pc in found.loads]
    asks_more = any(not isinstance(load, Load) for load in loads) or found.clocks
    if asks_more or any(_is_generic(load) for load in loads):
        return None
    of_others = tuple(load.pc for load in loads if not _is_own(load))
    return Slice(found.pcs | own, of_others)


def _own_stores(
    kernel: Kernel, spaces: Collection[AddressSpace]
) -> Iterator[tuple[int, list[_Use]]]:
    """(pc, what it reads) of all that writes memory of the thread block's own in those spaces."""
    for block in kernel.blocks:
        for position, item in enumerate(block.body):
            if isinstance(item, Store | Atomic) and item.address.space in spaces:
                uses = [_Use(block.index, position, r.index, item.guard) for r in reads(item)]
                yield item.pc, uses


def _own_spaces(instructions: Iterable[Instruction]) -> set[AddressSpace]:
    """Which memory of the thread block's own some accesses are to."""
    return {item.address.space for item in instructions if _is_own(item)}


def _is_own(instruction: Instruction) -> TypeGuard[Load | Store | Atomic]:
    """Whether an access is to memory of the thread block's own."""
    return isinstance(instruction, Load | Store | Atomic) and instruction.address.space in (
        AddressSpace.SHARED,
        AddressSpace.LOCAL,
    )


def _is_generic(instruction: Instruction) -> bool:
    return isinstance(instruction, Load) and instruction.address.space is AddressSpace.GENERIC


def _control_roots(kernel: Kernel) -> Iterator[_Use]:
    for block in kernel.blocks:
        for position, instruction in enumerate(block.body):
            if instruction.guard is not None:
                yield _Use(block.index, position, instruction.guard.register.index)
    yield from _branch_roots(kernel)


def _branch_roots(kernel: Kernel) -> Iterator[_Use]:
    # the way round a guarded barrier has no pc: it is found here only
    for block in kernel.blocks:
        if isinstance(block.terminator, Branch):
            yield _Use(block.index, len(block.body), block.terminator.guard.register.index)


def _address_roots(kernel: Kernel) -> Iterator[_Use]:
    for block in kernel.blocks:
        for position, instruction in enumerate(block.body):
            if isinstance(instruction, (Load, Store, Atomic)) and isinstance(
                instruction.address.base, Register
            ):
                base = instruction.address.base.index
                yield _Use(block.index, position, base, instruction.guard)


class _Definitions:
    """Which definitions reach a use of a register."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._before: list[list[int]] = [[] for _ in kernel.blocks]
        self._within: list[dict[int, list[int]]] = []
        for block in watched(kernel.blocks, _WHAT):
            places: dict[int, list[int]] = defaultdict(list)
            for position, instruction in enumerate(block.body):
                for register in writes(instruction):
                    places[register.index].append(position)
            self._within.append(places)
            for target in set(block.successors):
                self._before[target].append(block.index)
        self._seen: set[_Use] = set()

    def reaching(self, first: _Use) -> Iterator[tuple[int, int]]:
        """(basic block, position) of each definition; nothing for what was asked before."""
        pending = [first]
        while pending:
            use = pending.pop()
            if use in self._seen:
                continue
            self._seen.add(use)
            places = self._within[use.block].get(use.register, [])
            for position in reversed(places[: bisect_left(places, use.end)]):
                yield use.block, position
                if self._is_last_word(position, use):
                    break
            else:
                pending += [
                    _Use(before, len(self._kernel.blocks[before].body), use.register, guard)
                    for guard in [self._guard_from(0, use)]
                    for before in self._before[use.block]
                ]

    def _is_last_word(self, position: int, use: _Use) -> bool:
        """Whether no earlier definition reaches the use: this one happens wherever it does."""
        guard = self._kernel.blocks[use.block].body[position].guard
        return guard is None or guard == self._guard_from(position, use)

    def _guard_from(self, position: int, use: _Use) -> Guard | None:
        """The guard of the use, if what it reads has not changed from that position on."""
        if use.guard is None:
            return None
        writes = self._within[use.block].get(use.guard.register.index, [])
        return use.guard if bisect_left(writes, position) == bisect_left(writes, use.end) else None


def _backward(kernel: Kernel, roots: Iterable[_Use]) -> Slice:
    """All definitions that reach `roots`, those that reach what these read, and so on."""
    known = _Definitions(kernel)
    pending = list(roots)
    needed: dict[int, Instruction] = {}
    while pending:
        for block, position in known.reaching(pending.pop()):
            writer = kernel.blocks[block].body[position]
            if writer.pc not in needed:
                needed[writer.pc] = writer
                pending += [
                    _Use(block, position, item.index, writer.guard) for item in reads(writer)
                ]
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
