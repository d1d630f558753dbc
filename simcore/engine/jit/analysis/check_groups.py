"""Which accesses of a basic block share one bounds check.

Accesses with the same base register differ by constants only: when the lowest and the highest of
them are in a region, so are all between. A stretch is a piece of a basic block whose accesses are
checked together where it begins; addresses are computed before it as far as that is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Instruction,
    Load,
    Register,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["CheckGroup", "Step", "Stretch", "access_bytes", "stretches"]

Step = tuple[int, Instruction]
"""An instruction after its position in the basic block."""

_FEWEST_ACCESSES = 2
_MOST_REACH = 1 << 40
"""Bytes: more than a region has, and far from where sums of 64 bits wrap around."""


@dataclass(frozen=True, slots=True)
class CheckGroup:
    """Accesses of one space with one base, each a whole number of its size from the lowest."""

    accesses: tuple[Load | Store, ...]

    @property
    def lowest(self) -> Load | Store:
        """One with the least offset."""
        return min(self.accesses, key=lambda access: access.address.offset)

    @property
    def reach(self) -> int:
        """Bytes from the lowest access to the highest."""
        offsets = [access.address.offset for access in self.accesses]
        return max(offsets) - min(offsets)

    @property
    def writes(self) -> bool:
        """Whether any access of the group is a store."""
        return any(isinstance(access, Store) for access in self.accesses)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Steps to do in this order; without `groups` each access is checked for itself."""

    steps: tuple[Step, ...]
    groups: tuple[CheckGroup, ...]


def access_bytes(access: Load | Store) -> int:
    """Bytes that one lane loads or stores."""
    parts = access.destinations if isinstance(access, Load) else access.sources
    return access.type.bytes * len(parts)


def stretches(
    block: BasicBlock, is_predicted: Callable[[Load | Store], bool]
) -> tuple[Stretch, ...]:
    """The body of a basic block in pieces.

    `is_predicted`: whether the access's region is known and the access does anything.
    """

    def shares(instruction: Instruction) -> bool:
        return (
            isinstance(instruction, Load | Store)
            and instruction.guard is None
            and is_predicted(instruction)
        )

    steps = _addresses_first(tuple(enumerate(block.body)), shares)
    found: list[Stretch] = []
    plain: list[Step] = []
    at = 0
    while at < len(steps):
        groups, end = _groups(steps[at:], shares) if shares(steps[at][1]) else ((), 0)
        if not groups:
            plain.append(steps[at])
            at += 1
            continue
        if plain:
            found.append(Stretch(tuple(plain), ()))
            plain = []
        found.append(Stretch(tuple(steps[at : at + end]), groups))
        at += end
    if plain:
        found.append(Stretch(tuple(plain), ()))
    return tuple(found)


def _groups(
    steps: Sequence[Step], shares: Callable[[Instruction], bool]
) -> tuple[tuple[CheckGroup, ...], int]:
    """Groups of the accesses whose bases are known before `steps`, and where the last one ends."""
    written: set[int] = set()
    found: dict[tuple[AddressSpace, Register | str, int, int], list[Load | Store]] = {}
    end = 0
    for number, (_, instruction) in enumerate(steps, 1):
        if isinstance(instruction, Load | Store) and shares(instruction):
            base = instruction.address.base
            if not isinstance(base, Register) or base.index not in written:
                found.setdefault(_key(instruction), []).append(instruction)
                end = number
        written.update(register.index for register in writes(instruction))
    if sum(map(len, found.values())) < _FEWEST_ACCESSES:
        return (), 0
    groups = (CheckGroup(near) for accesses in found.values() for near in _neighbours(accesses))
    return tuple(groups), end


def _neighbours(accesses: Sequence[Load | Store]) -> list[tuple[Load | Store, ...]]:
    """The accesses in sets that one region may hold, each in the order of the program."""
    offsets = sorted({access.address.offset for access in accesses})
    starts = [offsets[0]]
    for offset in offsets:
        if offset - starts[-1] > _MOST_REACH:
            starts.append(offset)
    found: dict[int, list[Load | Store]] = {start: [] for start in starts}
    for access in accesses:
        found[max(s for s in starts if s <= access.address.offset)].append(access)
    return [tuple(near) for near in found.values()]


def _key(access: Load | Store) -> tuple[AddressSpace, Register | str, int, int]:
    """The key that accesses of one check group have in common."""
    address, size = access.address, access_bytes(access)
    base: Register | str = address.base if isinstance(address.base, Register) else str(address.base)
    return address.space, base, size, address.offset % size


def _addresses_first(
    steps: tuple[Step, ...], shares: Callable[[Instruction], bool]
) -> tuple[Step, ...]:
    """What later addresses are made of moves to before the first access, in unchanged order."""
    first = next((n for n, (_, i) in enumerate(steps) if shares(i)), len(steps))
    wanted = _address_makers(steps[first:], shares)
    early: list[Step] = []
    late: list[Step] = []
    late_reads: set[int] = set()
    late_writes: set[int] = set()
    for position, instruction in steps[first:]:
        read = {register.index for register in reads(instruction)}
        written = {register.index for register in writes(instruction)}
        waits = read & late_writes or written & (late_reads | late_writes)
        if position in wanted and not waits:
            early.append((position, instruction))
        else:
            late.append((position, instruction))
            late_reads |= read
            late_writes |= written
    return (*steps[:first], *early, *late)


def _address_makers(steps: Sequence[Step], shares: Callable[[Instruction], bool]) -> frozenset[int]:
    """Positions of unguarded computations that an address is made of."""
    needed: set[int] = set()
    found: set[int] = set()
    for position, instruction in reversed(steps):
        if isinstance(instruction, Load | Store) and shares(instruction):
            if isinstance(instruction.address.base, Register):
                needed.add(instruction.address.base.index)
        elif isinstance(instruction, Compute) and instruction.guard is None:
            written = {register.index for register in writes(instruction)}
            if written & needed:
                found.add(position)
                needed -= written
                needed |= {register.index for register in reads(instruction)}
    return frozenset(found)
