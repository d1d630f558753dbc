"""The state of all threads on their way through a kernel, also where ways meet again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernelcast.simcore.address.expression import AddressExpression
from kernelcast.simcore.address.extraction.launch import place
from kernelcast.simcore.address.extraction.values import (
    Condition,
    Opaque,
    Value,
    all_of,
    any_of,
    substituted,
)
from kernelcast.simcore.isa.ir.kernel import Atomic, BasicBlock, Load, Store

__all__ = ["RawAccess", "State", "Taken", "Work", "merged", "place_of_end"]

Replacements = Mapping[str, AddressExpression | int]


@dataclass(frozen=True, slots=True)
class Taken:
    """A condition that threads met at the end of a basic block; `place`: where that is."""

    condition: Condition
    basic_block: int
    place: str

    def substituted(self, values: Replacements) -> Taken:
        """The condition with expressions in the place of variables."""
        condition = substituted(self.condition, values)
        assert not isinstance(condition, AddressExpression)
        return replace(self, condition=condition)


@dataclass(frozen=True, slots=True)
class State:
    """Values of registers by index, and which threads have them: those that `taken` holds for."""

    registers: Mapping[int, Value]
    taken: tuple[Taken, ...] = ()

    def under(self, taken: Taken) -> State:
        """The state of those threads that also meet a condition."""
        return State(self.registers, (*self.taken, taken))

    def substituted(self, values: Replacements) -> State:
        """The state with expressions in the place of variables."""
        return State(
            {index: substituted(value, values) for index, value in self.registers.items()},
            tuple(item.substituted(values) for item in self.taken),
        )


@dataclass(frozen=True, slots=True)
class RawAccess:
    """An access as it was met: `address` of the first byte, which threads, in which loops."""

    instruction: Load | Store | Atomic
    address: Value
    taken: tuple[Taken, ...]
    loops: tuple[str, ...]

    def substituted(self, values: Replacements) -> RawAccess:
        """The access with expressions in the place of variables."""
        taken = tuple(item.substituted(values) for item in self.taken)
        return replace(self, address=substituted(self.address, values), taken=taken)


@dataclass(frozen=True, slots=True)
class Work:
    """Floating-point operations, of 32 and of 64 bits, in a basic block that ran once a trip."""

    flops_32: int
    flops_64: int
    taken: tuple[Taken, ...]
    loops: tuple[str, ...]

    def substituted(self, values: Replacements) -> Work:
        """The work with expressions in the place of variables in its conditions."""
        return replace(self, taken=tuple(item.substituted(values) for item in self.taken))


def place_of_end(block: BasicBlock) -> str:
    """Where a basic block ends in the source, or what it begins with where the end is implicit."""
    end = block.terminator
    return place(block.body[0] if block.body and not end.mnemonic else end)


def merged(one: State, other: State, live: frozenset[int]) -> State:
    """What all threads have that come from either way; only `live` registers matter."""
    common = 0
    for a, b in zip(one.taken, other.taken, strict=False):
        if a != b:
            break
        common += 1
    rests = (one.taken[common:], other.taken[common:])
    found: dict[int, Value] = {}
    for index in live:
        first, second = one.registers.get(index), other.registers.get(index)
        if first is None or second is None or first == second:
            value = second if first is None else first
        else:
            value = _either(first, second, rests)
        if value is not None:
            found[index] = value
    return State(found, (*one.taken[:common], *_joined(rests)))


def _either(a: Value, b: Value, rests: tuple[tuple[Taken, ...], tuple[Taken, ...]]) -> Value:
    for value in (a, b):
        if isinstance(value, Opaque):
            return value.plain()
    decisive = next((item for rest in rests for item in rest), None)
    if decisive is None:
        return Opaque("one of two values")
    if isinstance(decisive.condition, Opaque):
        return decisive.condition.plain()
    return Opaque(f"which way threads go at {decisive.place}")


def _joined(rests: tuple[tuple[Taken, ...], tuple[Taken, ...]]) -> tuple[Taken, ...]:
    """Where the ways have not all met again: either the conditions of one or those of the other."""
    if not rests[0] or not rests[1]:
        return ()
    condition = any_of(all_of(item.condition for item in rest) for rest in rests)
    if condition is True:
        return ()
    first = rests[0][0]
    return (Taken(condition, first.basic_block, first.place),)
