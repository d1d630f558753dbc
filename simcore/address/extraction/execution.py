"""Symbolic execution of a kernel for all threads at once, as far as addresses need it.

Of the basic blocks that threads wait for, the lowest in the topological order of the loop-nest
forest goes first, so that ways that part meet again (as in the engines). Ways that only some
threads take are followed with the condition for it. A loop runs once with a variable for the number
of the trip; where that leaves an address open it runs trip by trip, if it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression import AddressExpression, variable
from kernelcast.simcore.address.extraction.answers import is_never, variables_of
from kernelcast.simcore.address.extraction.launch import LaunchValues
from kernelcast.simcore.address.extraction.loops import Trips, growth, trips_of
from kernelcast.simcore.address.extraction.record import Record
from kernelcast.simcore.address.extraction.steps import BodySteps
from kernelcast.simcore.address.extraction.structure import structure
from kernelcast.simcore.address.extraction.thread_state import State, Taken, merged, place_of_end
from kernelcast.simcore.address.extraction.values import (
    Condition,
    Opaque,
    Value,
    negated,
    variables,
)
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Branch, Exit, Kernel

__all__ = ["execute"]

_MOST_TRIPS = 4096
"""The most trips of a loop that is executed trip by trip."""
_MOST_STEPS = 100_000
"""Basic blocks in all: some seconds."""


def execute(kernel: Kernel, launch: LaunchValues) -> Record:
    """What all threads access; ModelNotApplicable where that does not come to an end."""
    run = _Execution(kernel, launch)
    run.region(frozenset(range(len(kernel.blocks))), 0, State({}), None)
    return run.record


@dataclass
class _Left:
    """Where threads are when a region is done: outside of it, or at its first basic block again."""

    outside: dict[int, State] = field(default_factory=dict)
    back: State | None = None


class _Execution:
    def __init__(self, kernel: Kernel, launch: LaunchValues) -> None:
        self.record = Record(launch)
        self._kernel, self._launch = kernel, launch
        self._structure = structure(kernel)
        self._body_steps = BodySteps(self._structure.needed, launch, self.record)
        self._steps = 0

    def region(self, inside: frozenset[int], first: int, state: State, header: int | None) -> _Left:
        """Runs basic blocks of `inside` from `first` on; `header` is that of the loop they are."""
        left, pending = _Left(), {first: state}

        def arrive(target: int, coming: State) -> None:
            if target == header:
                left.back = self._met(left.back, coming, target)
            else:
                places = pending if target in inside else left.outside
                places[target] = self._met(places.get(target), coming, target)

        while pending:
            index = min(pending)
            here = self._rejoined(pending.pop(index), index)
            is_loop = index in self._structure.loops and index != header
            ways = self._loop(index, here) if is_loop else self._run(index, here)
            for target, coming in ways:
                arrive(target, coming)
        return left

    def _met(self, waiting: State | None, coming: State, target: int) -> State:
        return coming if waiting is None else merged(waiting, coming, self._structure.live[target])

    def _rejoined(self, state: State, index: int) -> State:
        """The state without the conditions of branches whose ways have all come here."""
        taken = tuple(t for t in state.taken if index not in self._structure.after[t.basic_block])
        return State(state.registers, taken)

    def _run(self, index: int, state: State) -> list[tuple[int, State]]:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise ModelNotApplicable(
                f"kernel {self._kernel.name}: its addresses are not found within {_MOST_STEPS} "
                "basic blocks of symbolic execution"
            )
        block = self._kernel.blocks[index]
        after = self._body_steps.run(block, state)
        return list(self._ways(block, after))

    def _ways(self, block: BasicBlock, state: State) -> Iterator[tuple[int, State]]:
        end = block.terminator
        if isinstance(end, Exit):
            return
        if not isinstance(end, Branch):
            yield end.target, state
            return
        condition = self._body_steps.guard(end.guard, state.registers)
        if isinstance(condition, bool):
            yield (end.target if condition else end.otherwise), state
            return
        where = place_of_end(block)
        ways = [(end.target, condition), (end.otherwise, negated(condition))]
        going = [way for way in ways if way[0] not in self._structure.endings]
        if len(going) == 1 and not self._launch.ask(is_never, going[0][1]):
            ways = going  # that others end here leaves no trace
        else:
            ways = self._possible(ways)
        for target, met in ways:
            yield target, state.under(Taken(met, block.index, where))

    def _possible(self, ways: list[tuple[int, Condition]]) -> list[tuple[int, Condition]]:
        """The ways, of two opposite ones, that some thread of this launch may go."""
        holds = self._launch.truth(ways[0][1])
        if holds is None:
            return ways
        self._launch.rely_on_condition(ways[0][1])
        return ways[:1] if holds else ways[1:]

    def _loop(self, header: int, entry: State) -> list[tuple[int, State]]:
        mark = self.record.mark()
        outside = self._with_variable(header, entry)
        if self.record.is_open_since(mark) or self._is_open(header, entry, outside):
            other = self.record.cut(mark)
            alternative = self._trip_by_trip(header, entry)
            if alternative is not None:
                return list(alternative.items())
            self.record.cut(mark)
            self.record.paste(other)
        return list(outside.items())

    def _is_open(self, header: int, entry: State, outside: dict[int, State]) -> bool:
        """Whether an integer that is needed afterwards was lost."""
        return any(
            isinstance(value, Opaque)
            and index in self._structure.needed_registers
            and isinstance(entry.registers.get(index), AddressExpression)
            and index in self._structure.live[target]
            for target, state in outside.items()
            for index, value in state.registers.items()
        )

    def _trip_by_trip(self, header: int, entry: State) -> dict[int, State] | None:
        """Where threads are after the loop; None where its end is not the same for all."""
        outside: dict[int, State] = {}
        state: State | None = entry
        for _ in range(_MOST_TRIPS):
            left = self.region(self._structure.loops[header], header, state or entry, header)
            for target, coming in left.outside.items():
                outside[target] = self._met(outside.get(target), coming, target)
            state = left.back
            if state is None:
                return outside
            if state.taken != entry.taken:
                return None
        return None

    def _with_variable(self, header: int, entry: State) -> dict[int, State]:
        where = place_of_end(self._kernel.blocks[header])
        start = self._evenly(header, entry, where)
        name = self._launch.new_loop()
        registers = dict(entry.registers)
        for index, step in start.items():
            registers[index] = _after_trips(entry.registers.get(index), step, name)
        mark = self.record.mark()
        with self.record.inside(name):
            body = self._structure.loops[header]
            left = self.region(body, header, State(registers, entry.taken), header)
        trips = Trips(1)
        again: tuple[Taken, ...] = ()
        if left.back is not None:
            again = left.back.taken[len(entry.taken) :]
            conditions = [taken.condition for taken in again]
            trips = trips_of(conditions, name, self._launch, where)
        self.record.close_loop(mark, name, trips, len(entry.taken), again)
        return {
            target: _left_loop(state, name, trips, where) for target, state in left.outside.items()
        }

    def _evenly(self, header: int, entry: State, where: str) -> dict[int, Value]:
        """What a trip adds to each register that the loop changes, or why that is unknown."""
        body = self._structure.loops[header]
        changed = {
            register.index
            for index in body
            for instruction in self._kernel.blocks[index].body
            for register in writes(instruction)
        } & self._structure.live[header]
        integers = [i for i in changed if isinstance(entry.registers.get(i), AddressExpression)]
        probes = {index: variable(f"?{index}") for index in integers}
        lost = {index: Opaque(f"what the loop at {where} computes") for index in changed}
        mark = self.record.mark()
        start = State({**entry.registers, **lost, **probes}, entry.taken)
        back = self.region(body, header, start, header).back
        self.record.cut(mark)
        return {} if back is None else {**lost, **growth(back.registers, probes, where)}


def _after_trips(first: Value | None, step: Value, name: str) -> Value:
    if isinstance(first, AddressExpression) and isinstance(step, AddressExpression):
        return first + step * variable(name)
    return first if isinstance(first, Opaque) else step


def _left_loop(state: State, name: str, trips: Trips, where: str) -> State:
    """The state with the number of the last trip in the place of the loop's variable."""
    if trips.most is not None and trips.is_same:
        return state.substituted({name: trips.most - 1})
    among = f"how often the loop at {where} runs, which differs among threads"
    lost = trips.unknown or Opaque(among)
    registers = {
        index: lost if name in variables_of(value) else value
        for index, value in state.registers.items()
    }
    taken = tuple(
        Taken(lost, t.basic_block, t.place) if name in variables(t.condition) else t
        for t in state.taken
    )
    return State(registers, taken)
