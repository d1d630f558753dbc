"""What must come before what in a region: values, memory, barriers, names of registers."""

from __future__ import annotations

from kernelcast.simcore.isa.ir.kernel import (
    Branch,
    Compute,
    Exit,
    Jump,
    Load,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.schedule.region import Region, Step, address_of
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["dependences"]

_CONSTANT = (AddressSpace.PARAM, AddressSpace.CONST)
_UNCHANGED = "nc"
_MOST_TRACKED = 256
"""Accesses that are compared one by one; with more, the last one orders all."""


def dependences(region: Region) -> list[set[int]]:
    """The positions that must come before each position."""
    before: list[set[int]] = [set() for _ in region.steps]
    memory = _Memory(before)
    final = {id(value) for value in region.after.values()}
    for step in region.steps:
        mine = before[step.position]
        for value in (*step.reads, *step.kept):
            if value.writer >= 0:
                mine.add(value.writer)
        for value in step.writes:
            if id(value) in final:  # it takes the name of the value from before the region
                old = region.before.get(value.register)
                mine.update(() if old is None else old.readers)
        memory.add(step)
        mine.discard(step.position)
    _end_last(region, before)
    return before


def _end_last(region: Region, before: list[set[int]]) -> None:
    """A region ends with the instruction that ends its last basic block."""
    if not region.steps:
        return
    last = region.steps[-1]
    if not isinstance(last.instruction, Compute | Load | Store | WarpOperation):
        before[last.position].update(range(last.position))


class _Memory:
    """Loads and stores since the last instruction that orders all of them."""

    def __init__(self, before: list[set[int]]) -> None:
        self._before = before
        self._order = -1
        self._loads: dict[AddressSpace, list[Step]] = {}
        self._stores: dict[AddressSpace, list[Step]] = {}

    def add(self, step: Step) -> None:
        instruction = step.instruction
        if isinstance(instruction, Compute | WarpOperation | Branch | Jump | Exit):
            return
        if not isinstance(instruction, Load | Store) or instruction.volatile:
            self._orders(step)
            return
        space = instruction.address.space
        if space in _CONSTANT or instruction.cache == _UNCHANGED:
            return
        mine = self._before[step.position]
        if self._order >= 0:
            mine.add(self._order)
        spaces = self._meets(space)
        others = [other for key in spaces for other in self._stores.get(key, ())]
        if isinstance(instruction, Store):
            others += [other for key in spaces for other in self._loads.get(key, ())]
        mine.update(other.position for other in others if _may_alias(step, other))
        kept = self._loads if isinstance(instruction, Load) else self._stores
        kept.setdefault(space, []).append(step)
        if sum(map(len, kept.values())) > _MOST_TRACKED:
            self._orders(step)

    def _meets(self, space: AddressSpace) -> list[AddressSpace]:
        """The spaces whose accesses may be to the same memory."""
        known = list(dict.fromkeys((*self._loads, *self._stores)))
        if space is AddressSpace.GENERIC:
            return known
        return [key for key in known if key in (space, AddressSpace.GENERIC)]

    def _orders(self, step: Step) -> None:
        tracked = [*self._loads.values(), *self._stores.values()]
        mine = self._before[step.position]
        mine.update(other.position for items in tracked for other in items)
        if self._order >= 0:
            mine.add(self._order)
        self._loads.clear()
        self._stores.clear()
        self._order = step.position


def _may_alias(step: Step, other: Step) -> bool:
    """Not where both are relative to the same value and lie apart."""
    mine, its = address_of(step), address_of(other)
    if mine is None or its is None or (mine[0] is not its[0] and mine[0] != its[0]):
        return True
    first, second = (mine[1], _bytes(step)), (its[1], _bytes(other))
    if first > second:
        first, second = second, first
    return first[0] + first[1] > second[0]


def _bytes(step: Step) -> int:
    instruction = step.instruction
    assert isinstance(instruction, Load | Store)
    parts = instruction.destinations if isinstance(instruction, Load) else instruction.sources
    return instruction.type.bytes * len(parts)
