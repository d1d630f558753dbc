"""What symbolic execution asked of a launch, and what it was told.

Its way through a kernel follows from these answers alone: another launch that gives the same ones
has the same address expressions, so that they are found once for many thread-block shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from kernelcast.simcore.address.expression import AddressExpression
from kernelcast.simcore.address.extraction.values import (
    Condition,
    Range,
    Value,
    bounds,
    truth,
    variables,
)

__all__ = [
    "Answers",
    "Facts",
    "bits_of",
    "is_never",
    "lies_within",
    "number_of",
    "numeric_of",
    "raw_parameter",
    "truth_of",
    "variables_of",
]

Answer = TypeVar("Answer")
_Scope: TypeAlias = tuple[tuple[str, Range], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What extraction may know of a launch.

    Holds `known` values of sizes and parameters, `ranges` of all variables, and the `parameters` as
    they lie in memory.
    """

    known: Mapping[str, int]
    ranges: Mapping[str, Range]
    parameters: Callable[[], bytes]


def truth_of(facts: Facts, condition: Condition) -> bool | None:
    """Whether a condition holds in all threads, or in none; None where that differs."""
    return truth(condition, facts.ranges)


def is_never(facts: Facts, condition: Condition) -> bool:
    """Whether a condition holds in no thread."""
    return truth(condition, facts.ranges) is False


def number_of(facts: Facts, expression: AddressExpression) -> int | None:
    """The value of an expression in variables that are the same in all threads."""
    if not expression.variables <= facts.known.keys():
        return None
    return expression.substitute(facts.known).as_constant


def numeric_of(facts: Facts, expression: AddressExpression) -> AddressExpression:
    """The expression with the values of all variables that are the same in all threads."""
    return expression.substitute(facts.known)


def bits_of(facts: Facts, expression: AddressExpression) -> int | None:
    """Bits that hold every value of an expression; None where one may be negative or unbounded."""
    low, high = bounds(expression, facts.ranges)
    return None if low is None or high is None or low < 0 else high.bit_length()


def lies_within(facts: Facts, expression: AddressExpression, low: int, high: int) -> bool | None:
    """Whether all values are at least `low` and below `high`; None where there is no limit."""
    least, most = bounds(expression, facts.ranges)
    return None if least is None or most is None else low <= least and most < high


def raw_parameter(facts: Facts, at: int, size: int) -> bytes:
    """What the memory of parameters holds."""
    return facts.parameters()[at : at + size]


def variables_of(value: Value) -> frozenset[str]:
    """Variables of an expression or a condition."""
    return value.variables if isinstance(value, AddressExpression) else variables(value)


class Answers:
    """Questions with their answers, each question once.

    `own`: variables that the execution made itself, whose ranges belong to a question.
    """

    def __init__(self) -> None:
        self._given: dict[tuple[Callable[..., object], tuple[object, ...], _Scope], object] = {}

    def ask(
        self,
        facts: Facts,
        question: Callable[..., Answer],
        about: tuple[Value | str | int, ...],
        own: Callable[[str], bool],
    ) -> Answer:
        """The answer of `question`, which must follow from its arguments alone."""
        answer = question(facts, *about)
        values = [item for item in about if not isinstance(item, str | int)]
        names = frozenset().union(*map(variables_of, values))
        if names or not values:
            scope = tuple((name, facts.ranges[name]) for name in sorted(names) if own(name))
            self._given[question, about, scope] = answer
        return answer

    def are_those_of(self, facts: Facts) -> bool:
        """Whether another launch gives the same ones."""
        for (question, about, scope), answer in self._given.items():
            here = replace(facts, ranges={**facts.ranges, **dict(scope)}) if scope else facts
            if question(here, *about) != answer:
                return False
        return True
