"""Gives each value of a register a register of its own, as source forms have it.

An assembler uses the few registers of a GPU again and again; what holds of one value says nothing
of the next. Values that may reach the same reader stay together (a web, Chaitin et al. 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernelcast.ptx_frontend.sass.passes.renaming import with_registers
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Guard,
    Instruction,
    Register,
)

__all__ = ["separated"]

_ALWAYS = (-1, False)
"""The need of a value in every lane."""


class _Webs:
    """Values and which of them are one; a value is a number."""

    def __init__(self) -> None:
        self._parent: list[int] = []

    def new(self) -> int:
        """A value by itself."""
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def find(self, value: int) -> int:
        """The value that stands for all that are one with it."""
        while self._parent[value] != value:
            self._parent[value] = self._parent[self._parent[value]]
            value = self._parent[value]
        return value

    def join(self, one: int, other: int) -> None:
        """Makes two values one."""
        self._parent[self.find(one)] = self.find(other)


def separated(
    blocks: tuple[BasicBlock, ...], live: tuple[frozenset[int], ...]
) -> tuple[tuple[BasicBlock, ...], tuple[Register, ...]]:
    """The basic blocks over registers of their own, and those. `live`: registers at the starts."""
    webs = _Webs()
    entry = [{index: webs.new() for index in live[block.index]} for block in blocks]
    values = [_values(block, live, entry[block.index], webs) for block in blocks]
    for block in blocks:
        for target in block.successors:
            for index in live[target]:
                webs.join(entry[target][index], values[block.index].at_end[index])
    names = _Names(webs)
    renamed = tuple(_renamed(block, values[block.index], names) for block in blocks)
    return renamed, tuple(names.registers)


class _BlockValues:
    """What a basic block's instructions read and write: the values by register, in order."""

    def __init__(self) -> None:
        self.reads: list[dict[int, int]] = []
        self.writes: list[dict[int, int]] = []
        self.at_end: dict[int, int] = {}


def _values(
    block: BasicBlock, live: tuple[frozenset[int], ...], entry: Mapping[int, int], webs: _Webs
) -> _BlockValues:
    found, now = _BlockValues(), dict(entry)
    fresh = _fresh_writes(block, live)
    instructions: tuple[Instruction, ...] = (*block.body, block.terminator)
    for place, instruction in enumerate(instructions):
        read = {}
        for register in reads(instruction):
            if register.index not in now:
                now[register.index] = webs.new()
            read[register.index] = now[register.index]
        written = {}
        for register in writes(instruction):
            value = webs.new()
            if instruction.guard is not None and (place, register.index) not in fresh:
                if register.index not in now:
                    now[register.index] = webs.new()
                webs.join(value, now[register.index])
            written[register.index] = value
        now.update(written)
        found.reads.append(read)
        found.writes.append(written)
    found.at_end = now
    for target in block.successors:
        for index in live[target]:
            if index not in now:
                now[index] = webs.new()
    return found


def _fresh_writes(block: BasicBlock, live: tuple[frozenset[int], ...]) -> set[tuple[int, int]]:
    """Writes under a guard, by place and register, after which nobody needs the value before.

    Backwards: what lanes need of a register is nothing, all, or only where a predicate is true or
    false. A write under that guard then gives all that is needed.
    """
    needs: dict[int, tuple[int, bool]] = {}
    for target in block.successors:
        for index in live[target]:
            needs[index] = _ALWAYS
    fresh: set[tuple[int, int]] = set()
    instructions: tuple[Instruction, ...] = (*block.body, block.terminator)
    for place in range(len(instructions) - 1, -1, -1):
        instruction = instructions[place]
        guard = instruction.guard
        written = [register.index for register in writes(instruction)]
        _part_from_conditions(needs, [r.index for r in writes(instruction) if r.bits == 1])
        for index in written:
            if _define(needs, index, guard, written):
                fresh.add((place, index))
        for register in reads(instruction):
            is_guard = guard is not None and register == guard.register
            condition = (
                _ALWAYS
                if guard is None or is_guard or place == len(instructions) - 1
                else (guard.register.index, guard.negated)
            )
            known = needs.get(register.index)
            needs[register.index] = condition if known in (None, condition) else _ALWAYS
    return fresh


def _part_from_conditions(needs: dict[int, tuple[int, bool]], written: Sequence[int]) -> None:
    """A predicate that is written is another one before: needs under it become needs of all."""
    if written:
        needs.update((i, _ALWAYS) for i, need in list(needs.items()) if need[0] in written)


def _define(
    needs: dict[int, tuple[int, bool]], index: int, guard: Guard | None, written: Sequence[int]
) -> bool:
    """Takes the need of a register back over a write of it; whether the write gives it all."""
    need = needs.pop(index, None)
    if guard is None:
        return False
    mine = (guard.register.index, guard.negated)
    if need is None or (need == mine and mine[0] not in written):
        return True
    opposite = (mine[0], not mine[1])
    if mine[0] in written:
        needs[index] = _ALWAYS
    else:
        needs[index] = opposite
    return False


class _Names:
    """Registers for values, numbered as they come."""

    def __init__(self, webs: _Webs) -> None:
        self._webs = webs
        self._known: dict[int, Register] = {}
        self.registers: list[Register] = []

    def of(self, register: Register, value: int) -> Register:
        """The register of a value that `register` held."""
        root = self._webs.find(value)
        found = self._known.get(root)
        if found is None:
            found = Register(len(self.registers), register.bits, register.name)
            self._known[root] = found
            self.registers.append(found)
        return found


def _renamed(block: BasicBlock, values: _BlockValues, names: _Names) -> BasicBlock:
    places = zip(values.reads, values.writes, strict=True)
    instructions = [
        _named(instruction, read, written, names)
        for instruction, (read, written) in zip(
            (*block.body, block.terminator), places, strict=True
        )
    ]
    return replace(block, body=tuple(instructions[:-1]), terminator=instructions[-1])


def _named(
    instruction: Any, read: Mapping[int, int], written: Mapping[int, int], names: _Names
) -> Any:
    """The instruction over the registers of its values."""
    return with_registers(
        instruction,
        lambda register: names.of(register, read[register.index]),
        lambda register: names.of(register, written[register.index]),
    )
