"""What is known of a launch while addresses are extracted: parameters, sizes, ranges of indices."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from kernelcast.errors import SourceSpan
from kernelcast.simcore.address.expression import AXES, AddressExpression, constant, variable
from kernelcast.simcore.address.extraction.answers import (
    Answers,
    Facts,
    number_of,
    numeric_of,
    raw_parameter,
    truth_of,
)
from kernelcast.simcore.address.extraction.values import (
    Condition,
    Opaque,
    Range,
    Value,
    truth,
    variables,
)
from kernelcast.simcore.isa.ir.kernel import Compute, Instruction, Kernel, Load, Special
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer

__all__ = ["Definitions", "Derived", "LaunchValues", "base_name", "place", "signed"]

_INDICES = {
    Special[f"{name.upper()}_{axis.upper()}"]: f"{name}.{axis}"
    for name in ("tid", "ctaid", "ntid", "nctaid")
    for axis in AXES
}
_RESERVED = frozenset(AXES)
_BASE = "&"
_LOOP = "loop."
_DERIVED = "["

Answer = TypeVar("Answer")


def base_name(pointer: str) -> str | None:
    """The buffer or variable that an address variable points to; None for any other variable."""
    return pointer[len(_BASE) :] if pointer.startswith(_BASE) else None


def place(instruction: Instruction) -> str:
    """Where an instruction stands, in the source it was compiled from too."""
    return _place(instruction.span, instruction.origin)


def _place(span: SourceSpan, origin: SourceSpan | None) -> str:
    compiled = f" (compiled from {origin.file}:{origin.line})" if origin else ""
    return f"{span.place}{compiled}"


def signed(value: int, bits: int) -> int:
    """The lowest bits of an integer, read in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass(frozen=True, slots=True)
class Derived:
    """A variable that is no polynomial of the indices, by the instruction that computes it."""

    instruction: Compute
    sources: tuple[AddressExpression, ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """Variables that symbolic execution made: `ranges` of them, and what `derived` ones are.

    `fixed` collects sizes and parameters that a decision or an operation other than a sum or a
    product relied on: expressions hold for their values only.
    """

    ranges: dict[str, Range]
    derived: dict[str, Derived]
    fixed: set[str]


class LaunchValues:
    """Variables of address expressions with their values and ranges.

    `fixed` and `derived` as in `Definitions`. All that is asked of them goes into `answers`.
    """

    def __init__(self, kernel: Kernel, launch: Launch) -> None:
        self._kernel, self._launch = kernel, launch
        self._numbers = itertools.count(1)
        self.answers = Answers()
        self.known: dict[str, int] = {}
        self.ranges: dict[str, Range] = {}
        self.fixed: set[str] = set()
        self.spaces: dict[str, AddressSpace] = {}
        self.buffer_bytes: dict[str, int] = {}
        self.derived: dict[str, Derived] = {}
        for name, symbol in kernel.symbols.items():
            self.spaces[f"{_BASE}{name}"] = symbol.space
            self.buffer_bytes[name] = symbol.size
        self.parameters = self._named_parameters(launch)
        sizes = zip(AXES, launch.thread_block, launch.grid, strict=True)
        for axis, threads, thread_blocks in sizes:
            self._know(f"ntid.{axis}", threads)
            self._know(f"nctaid.{axis}", thread_blocks)
            self.ranges[f"tid.{axis}"] = (0, threads - 1)
            self.ranges[f"ctaid.{axis}"] = (0, thread_blocks - 1)
        self._facts = Facts(self.known, self.ranges, lambda: self._parameter_bytes)

    @cached_property
    def _parameter_bytes(self) -> bytes:
        return LaunchMemory(self._kernel, self._launch).parameters.bytes.tobytes()

    @property
    def definitions(self) -> Definitions:
        """The variables made during this execution, and what was relied upon."""
        made = {name: found for name, found in self.ranges.items() if _is_made(name)}
        return Definitions(made, self.derived, self.fixed)

    def adopt(self, other: Definitions) -> None:
        """Takes over the variables of an execution that gets the same answers of this launch."""
        self.ranges.update(other.ranges)
        self.derived.update(other.derived)
        self.fixed |= other.fixed

    def gives(self, answers: Answers) -> bool:
        """Whether the launch has the answers of another execution."""
        return answers.are_those_of(self._facts)

    def ask(self, question: Callable[..., Answer], *about: Value | str | int) -> Answer:
        """What a function of facts and `about` returns for this launch."""
        return self.answers.ask(self._facts, question, about, _is_made)

    def _know(self, name: str, value: int) -> None:
        self.known[name], self.ranges[name] = value, (value, value)

    def _named_parameters(self, launch: Launch) -> dict[tuple[int, int], AddressExpression]:
        """Buffers and integers by place and size in the memory of parameters."""
        found: dict[tuple[int, int], AddressExpression] = {}
        for position, parameter in enumerate(self._kernel.parameters):
            name = launch.argument_name(position, parameter)
            argument = launch.arguments[position]
            at = (parameter.offset, parameter.size)
            if isinstance(argument, np.ndarray | LazyBuffer | Allocation):
                self.spaces[f"{_BASE}{name}"] = AddressSpace.GLOBAL
                self.buffer_bytes[name] = (
                    argument.size if isinstance(argument, Allocation) else argument.nbytes
                )
                found[at] = variable(f"{_BASE}{name}")
            elif parameter.type.is_integer and isinstance(argument, int | np.integer):
                name = f"{name}_" if name in _RESERVED else name
                self._know(name, int(argument))
                found[at] = variable(name)
        return found

    def loaded(self, load: Load, offset: AddressExpression | None, element: int) -> Value:
        """The value of one element of a load; `offset` is the address in bytes, where known."""
        space = load.address.space
        number = None if offset is None else self.number(offset)
        if space is AddressSpace.PARAM and number is not None:
            at = number + element * load.type.bytes
            if (at, load.type.bytes) in self.parameters:
                return self.parameters[at, load.type.bytes]
            return self._bits(load, at)
        return Opaque(f"data that {load.mnemonic} reads at {place(load)}", is_data=True)

    def _bits(self, load: Load, at: int) -> Value:
        """A number of a struct, or a narrower part of a parameter."""
        if not load.type.is_integer:
            return Opaque(f"a floating-point number that {load.mnemonic} reads at {place(load)}")
        raw = self.ask(raw_parameter, at, load.type.bytes)
        return constant(signed(int.from_bytes(raw, "little"), load.type.bits))

    def new_loop(self) -> str:
        """Makes the variable of a loop: the number of its trip, from 0 on."""
        name = f"{_LOOP}{next(self._numbers)}"
        self.ranges[name] = (0, None)
        return name

    def special(self, which: Special) -> Value:
        """The value of a special register: a variable even for an index of a single value."""
        if which in _INDICES:
            return variable(_INDICES[which])
        return Opaque(f"{which.value}, which is not affine")

    def derive(
        self, instruction: Compute, sources: Sequence[AddressExpression], bounds: Range
    ) -> AddressExpression | None:
        """Makes a variable for what an instruction computes from thread and thread-block index.

        Conditions may hold it, addresses may not. None where something else is among its sources.
        """
        names = frozenset().union(*(source.variables for source in sources))
        if not names <= {*self.known, *_INDICES.values(), *self.derived}:
            return None
        found = Derived(instruction, tuple(sources))
        name = next((known for known, item in self.derived.items() if item == found), "")
        if not name:
            where = place(instruction)
            name = f"{_DERIVED}{instruction.mnemonic} at {where}, {len(self.derived) + 1}]"
            self.derived[name], self.ranges[name] = found, bounds
        return variable(name)

    def symbol_address(self, name: str, offset: int) -> AddressExpression:
        """The address of a module variable, with its base as a variable."""
        return variable(f"{_BASE}{name}") + offset

    def number(self, value: Value) -> int | None:
        """The value of an expression in variables that are the same in all threads."""
        if not isinstance(value, AddressExpression):
            return None
        if value.as_constant is not None:
            return value.as_constant
        if not value.variables <= self.known.keys():
            return None
        self.fixed |= value.variables
        return self.ask(number_of, value)

    def numeric(self, expression: AddressExpression) -> AddressExpression:
        """The expression with all values that are the same in all threads; relies on these."""
        self.rely_on_numbers(expression)
        return self.ask(numeric_of, expression)

    def truth(self, condition: Condition) -> bool | None:
        """Whether the condition holds in all threads, or in none; None where that differs."""
        if isinstance(condition, bool | Opaque):
            return truth(condition, {})
        return self.ask(truth_of, condition)

    def rely_on_numbers(self, expression: AddressExpression) -> None:
        """Notes that a result holds for these values of parameters and sizes only."""
        self.fixed |= expression.variables & self.known.keys()

    def rely_on_ranges(self, expression: AddressExpression) -> None:
        """Notes that a result holds for the sizes of this launch only."""
        self._rely_on(expression.variables)

    def rely_on_condition(self, condition: Condition) -> None:
        """Notes that a result holds only while no thread takes the other way of a branch."""
        self._rely_on(variables(condition))

    def _rely_on(self, names: frozenset[str]) -> None:
        for name in names:
            kind, _, axis = name.partition(".")
            if kind in ("tid", "ctaid"):
                self.fixed.add(f"{'ntid' if kind == 'tid' else 'nctaid'}.{axis}")


def _is_made(name: str) -> bool:
    """Whether symbolic execution made the variable."""
    return name.startswith((_LOOP, _DERIVED))
