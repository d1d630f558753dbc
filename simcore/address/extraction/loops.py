"""Loops of symbolic execution: what a trip adds to registers, and how many trips there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kernelcast.simcore.address.expression import AddressExpression
from kernelcast.simcore.address.extraction.answers import Facts, numeric_of
from kernelcast.simcore.address.extraction.launch import LaunchValues
from kernelcast.simcore.address.extraction.values import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Opaque,
    Relation,
    Value,
    bounds,
    split,
    variables,
)

__all__ = ["Trips", "growth", "parts_of", "trips_of", "trips_under"]


def growth(
    registers: Mapping[int, Value], probes: Mapping[int, AddressExpression], where: str
) -> dict[int, Value]:
    """What a trip adds to each register, or why that is not the same in each trip.

    A register began the trip as a variable of its own (`probes`); `registers`: at the end of the
    trip.
    """
    names = frozenset().union(*(probe.variables for probe in probes.values()))
    found: dict[int, Value] = {}
    for index, probe in probes.items():
        after = registers.get(index)
        step = after - probe if isinstance(after, AddressExpression) else after
        is_even = isinstance(step, AddressExpression) and not step.variables & names
        if step is None or not (is_even or isinstance(step, Opaque)):
            step = Opaque(f"what the loop at {where} changes unevenly")
        found[index] = step
    return found


@dataclass(frozen=True, slots=True)
class Trips:
    """How often a loop runs, at most; `is_same` in all threads. `unknown`: why that is open."""

    most: int | None
    is_same: bool = True
    unknown: Opaque | None = None


def parts_of(conditions: Iterable[Condition]) -> Iterator[Comparison | AnyOf | Opaque]:
    """What all must hold."""
    for condition in conditions:
        if isinstance(condition, AllOf):
            yield from parts_of(condition.parts)
        elif not isinstance(condition, bool):
            yield condition


def trips_of(again: Iterable[Condition], name: str, launch: LaunchValues, where: str) -> Trips:
    """Trips of a loop that goes on after trip `name` (0, 1, ...) where all of `again` holds."""
    most: int | None = None
    is_same = True
    for part in parts_of(again):
        if isinstance(part, Opaque):
            return Trips(None, unknown=part.plain())
        if name not in variables(part):
            is_same = False  # who does not meet it leaves after one trip
            continue
        if isinstance(part, AnyOf):
            return Trips(None, unknown=Opaque(f"which condition ends the loop at {where}"))
        least, largest = _holding(part, name, launch)
        if largest is not None:
            most = largest if most is None else min(most, largest)
            is_same = is_same and least == largest
    if most is None:
        return Trips(None, unknown=Opaque(f"how often the loop at {where} runs"))
    return Trips(most + 1, is_same)


def _holding(condition: Comparison, name: str, launch: LaunchValues) -> tuple[int, int | None]:
    """How many trips from 0 on the condition holds: at least and at most; None for no limit."""
    for part in split(condition.expression, name):
        launch.rely_on_numbers(part)
    return launch.ask(_holding_of, condition, name)


def _holding_of(facts: Facts, condition: Comparison, name: str) -> tuple[int, int | None]:
    factor, rest = (numeric_of(facts, part) for part in split(condition.expression, name))
    slope = factor.as_constant
    if not slope:
        return 0, None
    low, high = bounds(rest, facts.ranges)
    if condition.relation is Relation.BELOW:
        if slope < 0 or low is None:
            return 0, None
        most = max(0, -(low // slope))
        return (0 if high is None else max(0, -(high // slope))), most
    start = rest.as_constant
    if start is None:
        return 0, None
    if condition.relation is Relation.EQUAL:
        return (1, 1) if start == 0 else (0, 0)
    is_met = start % slope == 0 and -start // slope >= 0
    return (-start // slope, -start // slope) if is_met else (0, None)


def trips_under(
    conditions: Iterable[Condition], name: str, trips: int, launch: LaunchValues
) -> tuple[range, list[Condition]]:
    """The trips in which conditions hold that are the same in all threads, and the others."""
    first, end = 0, trips
    others: list[Condition] = []
    for part in parts_of(conditions):
        found = _interval(part, name, first, end, launch)
        if found is None:
            others.append(part)
        else:
            first, end = found
    return range(first, max(first, end)), others


def _interval(
    part: Comparison | AnyOf | Opaque, name: str, first: int, end: int, launch: LaunchValues
) -> tuple[int, int] | None:
    if not isinstance(part, Comparison) or name not in part.expression.variables:
        return None
    factor, rest = split(part.expression, name)
    slope, start = launch.number(factor), launch.number(rest)
    if not slope or start is None:
        return None
    if part.relation is Relation.BELOW:
        if slope > 0:
            return first, min(end, max(0, -(start // slope)))
        return max(first, start // -slope + 1), end
    at = -start // slope if start % slope == 0 else -1
    if part.relation is Relation.EQUAL:
        return max(first, at), min(end, at + 1)
    if not first <= at < end:
        return first, end
    return (first + 1, end) if at == first else (first, end - 1) if at == end - 1 else None
