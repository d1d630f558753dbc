"""The list of replacement policies, and what the cache calls: the functions of one, by its number.

Compiled code finds a policy by its place in the list: a comparison for each that stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement import (
    fifo,
    lru,
    lru_by_rank,
    lru_of_many_ways,
    plru,
    random,
)
from kernelcast.simcore.memory.replacement.role import Ints, Policy

__all__ = ["POLICIES", "cold_recency", "insert", "policy_number", "touch", "victim"]

_POLICIES: tuple[Policy, ...] = (
    lru,
    lru_by_rank,
    lru_of_many_ways,
    random,
    fifo,
    plru,
)
POLICIES = tuple(dict.fromkeys(policy.NAME for policy in _POLICIES))
"""The names that a device file may use."""


def policy_number(name: str, ways: int) -> int:
    """How the compiled code calls the policy; DeviceFileError where none has room for the ways."""
    for number, policy in enumerate(_POLICIES):
        if name == policy.NAME and ways <= policy.MOST_WAYS:
            return number
    most = max(policy.MOST_WAYS for policy in _POLICIES if name == policy.NAME)
    raise DeviceFileError(f"{name} is for sets of up to {most} ways, not of {ways}")


def cold_recency(number: int, ways: int, stride: int, sets: int) -> Ints:
    """What a policy knows of empty sets."""
    return _POLICIES[number].cold(ways, stride, sets)


def _one_of(functions: Sequence[Callable[..., Any]], first: int = 0) -> Any:
    """A function for compiled code that takes a number and calls the function that has it."""
    chosen = functions[0]
    if len(functions) == 1:

        @inlined
        def last(number: int, *arguments: Any) -> Any:
            return chosen(*arguments)

        return last
    others = _one_of(functions[1:], first + 1)

    @inlined
    def call(number: int, *arguments: Any) -> Any:
        if number == first:
            return chosen(*arguments)
        return others(number, *arguments)

    return call


touch = _one_of([policy.touch for policy in _POLICIES])
insert = _one_of([policy.insert for policy in _POLICIES])
victim = _one_of([policy.victim for policy in _POLICIES])
