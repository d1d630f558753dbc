"""What a register holds while addresses are extracted: an expression, a condition, or a reason.

Integers are exact: a value that wraps around is one that the kernel's addresses do not rely on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kernelcast.simcore.address.expression import AddressExpression, Monomial

__all__ = [
    "AllOf",
    "AnyOf",
    "Comparison",
    "Condition",
    "Opaque",
    "Range",
    "Relation",
    "Value",
    "all_of",
    "any_of",
    "below",
    "bounds",
    "negated",
    "split",
    "substituted",
    "truth",
    "variables",
]

Range: TypeAlias = tuple[int | None, int | None]
"""Smallest and largest value; None where there is no limit."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that no expression stands for, and why: half a sentence with the place.

    `is_data`: it is read from memory, or depends on what is. `is_negated`: of a condition, that it
    is the opposite.
    """

    reason: str
    is_data: bool = False
    is_negated: bool = False

    def plain(self) -> Opaque:
        """The reason alone, for another value."""
        return Opaque(self.reason, self.is_data)


class Relation(Enum):
    """How an expression compares with zero."""

    BELOW = "<"
    EQUAL = "=="
    UNEQUAL = "!="


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of an integer expression with zero."""

    expression: AddressExpression
    relation: Relation

    def __str__(self) -> str:
        return f"{self.expression} {self.relation.value} 0"


@dataclass(frozen=True, slots=True)
class AllOf:
    """A conjunction of conditions, in its simplest form."""

    parts: tuple[Comparison | AnyOf | Opaque, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A disjunction of conditions, in its simplest form."""

    parts: tuple[Comparison | AllOf | Opaque, ...]

    def __str__(self) -> str:
        return f"({' or '.join(map(str, self.parts))})"


Condition: TypeAlias = bool | Comparison | AllOf | AnyOf | Opaque
Value: TypeAlias = AddressExpression | bool | Comparison | AllOf | AnyOf | Opaque


def below(a: AddressExpression, b: AddressExpression) -> Comparison:
    """a < b."""
    return Comparison(a - b, Relation.BELOW)


def all_of(conditions: Iterable[Condition]) -> Condition:
    """The conjunction of conditions, in its simplest form."""
    parts: list[Comparison | AnyOf | Opaque] = []
    for condition in conditions:
        if condition is False:
            return False
        found = condition.parts if isinstance(condition, AllOf) else (condition,)
        for part in found:
            if isinstance(part, bool | AllOf) or part in parts:
                continue
            if not isinstance(part, AnyOf) and negated(part) in parts:
                return False
            parts.append(part)
    if not parts:
        return True
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def any_of(conditions: Iterable[Condition]) -> Condition:
    """The disjunction of conditions, in its simplest form."""
    return negated(all_of(negated(condition) for condition in conditions))


def negated(condition: Condition) -> Condition:
    """The negation, as a comparison or with its parts negated."""
    match condition:
        case bool():
            return not condition
        case Comparison(expression, Relation.BELOW):
            return Comparison(-expression - 1, Relation.BELOW)
        case Comparison(expression, Relation.EQUAL):
            return Comparison(expression, Relation.UNEQUAL)
        case Comparison(expression, _):
            return Comparison(expression, Relation.EQUAL)
        case Opaque(reason, is_data, is_negated):
            return Opaque(reason, is_data, not is_negated)
        case AllOf(parts):
            inner = [negated(part) for part in parts]
            flat = [y for x in inner for y in (x.parts if isinstance(x, AnyOf) else (x,))]
            return AnyOf(tuple(x for x in flat if not isinstance(x, bool | AnyOf)))
        case AnyOf(parts):
            return all_of(negated(part) for part in parts)


def truth(condition: Condition, ranges: Mapping[str, Range]) -> bool | None:
    """Whether the condition holds for all values of its variables, or none; None if it differs."""
    match condition:
        case bool():
            return condition
        case Comparison(expression, relation):
            return _truth_of(relation, *bounds(expression, ranges))
        case AllOf(parts) | AnyOf(parts):
            found = {truth(part, ranges) for part in parts}
            decisive = isinstance(condition, AnyOf)
            if decisive in found:
                return decisive
            return None if None in found else not decisive
    return None


def _truth_of(relation: Relation, low: int | None, high: int | None) -> bool | None:
    if relation is Relation.BELOW:
        if high is not None and high < 0:
            return True
        return False if low is not None and low >= 0 else None
    is_apart = (low is not None and low > 0) or (high is not None and high < 0)
    if is_apart:
        return relation is Relation.UNEQUAL
    return relation is Relation.EQUAL if low == 0 == high else None


def bounds(expression: AddressExpression, ranges: Mapping[str, Range]) -> Range:
    """The interval that holds an expression's values, exact if no variable occurs twice.

    Variables without a range may be anything; None for no bound.
    """
    low: int | None = 0
    high: int | None = 0
    for monomial, factor in expression.terms:
        least, most = _of_product(monomial, ranges)
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + least * factor
        high = None if high is None or most is None else high + most * factor
    return low, high


def _of_product(monomial: Monomial, ranges: Mapping[str, Range]) -> Range:
    low: int | None = 1
    high: int | None = 1
    for name in monomial:
        least, most = ranges.get(name, (None, None))
        if least is None or low is None or least < 0 or low < 0:
            if None in (least, most, low, high):
                return None, None
            ends = [(low or 0) * (least or 0), (low or 0) * (most or 0)]
            ends += [(high or 0) * (least or 0), (high or 0) * (most or 0)]
            low, high = min(ends), max(ends)
        else:
            low, high = low * least, None if high is None or most is None else high * most
    return low, high


def split(expression: AddressExpression, name: str) -> tuple[AddressExpression, AddressExpression]:
    """(a, b) such that the expression is a * name + b and b is free of the name; a may hold it."""
    factors: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, factor in expression.terms:
        if name in monomial:
            position = monomial.index(name)
            factors[(*monomial[:position], *monomial[position + 1 :])] = factor
        else:
            rest[monomial] = factor
    return AddressExpression.of(factors), AddressExpression.of(rest)


def variables(condition: Condition) -> frozenset[str]:
    """Variables of all comparisons in a condition."""
    match condition:
        case Comparison(expression):
            return expression.variables
        case AllOf(parts) | AnyOf(parts):
            return frozenset().union(*(variables(part) for part in parts))
    return frozenset()


def substituted(value: Value, values: Mapping[str, AddressExpression | int]) -> Value:
    """The value or condition with expressions in the place of its variables."""
    match value:
        case AddressExpression():
            return value.substitute(values) if value.variables & values.keys() else value
        case Comparison(expression, relation):
            found = expression.substitute(values)
            number = found.as_constant
            if number is not None:
                return bool(_truth_of(relation, number, number))
            return Comparison(found, relation)
        case AllOf(parts):
            return all_of(_condition(substituted(part, values)) for part in parts)
        case AnyOf(parts):
            return any_of(_condition(substituted(part, values)) for part in parts)
    return value


def _condition(value: Value) -> Condition:
    assert not isinstance(value, AddressExpression)
    return value
