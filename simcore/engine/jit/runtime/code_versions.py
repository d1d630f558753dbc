"""Which integers of a launch compiled code takes as constants, and which it reads when it runs.

Constants make better code, but each value takes a compilation. A kernel that was compiled for a few
values of its integer parameters and sizes of its grid reads from then on those that differed; the
others stay constants.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from threading import Lock
from weakref import WeakKeyDictionary

from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["MOST_SPECIAL_VERSIONS", "with_fewer_constants"]

Integers = tuple[tuple[int, int, int], ...]
MOST_SPECIAL_VERSIONS = 3
"""Versions of a kernel that differ in nothing but integer parameters and the grid."""
_MOST_THREAD_BLOCKS = 2**31 - 1
_MOST_KEPT = 64
"""Kinds of launches of one kernel that are remembered."""


@dataclass(slots=True)
class _Versions:
    """The code there is for launches that differ in nothing but integers.

    `special` has all of them as constants, `general` those of each set of numbers of bytes that
    differ.
    """

    special: list[Integers] = field(default_factory=list)
    general: list[tuple[frozenset[int], Integers]] = field(default_factory=list)

    def chosen(self, integers: Integers, numbers: frozenset[int]) -> Integers:
        """The constants of the version that serves a launch, an old one if there is any."""
        if integers in self.special:
            return integers
        for varying, constants in self.general:
            if _without(integers, varying) == constants:
                return constants
        if len(self.special) < MOST_SPECIAL_VERSIONS:
            self.special.append(integers)
            return integers
        return self._more_general(integers, numbers)

    def _more_general(self, integers: Integers, numbers: frozenset[int]) -> Integers:
        """The constants of a new version, which reads all that has differed so far."""
        known = set().union(*(varying for varying, _ in self.general))
        for other in (*self.special, *(constants for _, constants in self.general)):
            values = {offset: value for offset, _, value in other}
            known |= {o for o, _, value in integers if values.get(o, value) != value}
        varying = frozenset(known & numbers)
        constants = _without(integers, varying)
        self.general.append((varying, constants))
        return constants


_known: WeakKeyDictionary[Kernel, OrderedDict[Hashable, _Versions]] = WeakKeyDictionary()
_lock = Lock()


def with_fewer_constants(kernel: Kernel, facts: LaunchFacts, *others: Hashable) -> LaunchFacts:
    """The facts that code is compiled for: without integers that differ from launch to launch.

    `others`: what else code depends on.
    """
    sizes = () if facts.cluster is not None else _sizes(facts)
    numbers = frozenset(facts.numbers) | {_size_at(axis) for axis in range(len(facts.grid))}
    fixed = tuple(item for item in facts.integers if item[0] not in numbers)
    kept = replace(facts, integers=fixed, grid=facts.grid if not sizes else (0, 0, 0))
    with _lock:
        kinds = _known.setdefault(kernel, OrderedDict())
        versions = kinds.setdefault((kept, *others), _Versions())
        kinds.move_to_end((kept, *others))
        while len(kinds) > _MOST_KEPT:
            kinds.popitem(last=False)
        chosen = versions.chosen((*facts.integers, *sizes), numbers)
    return _with(facts, chosen) if sizes else replace(facts, integers=chosen)


def _sizes(facts: LaunchFacts) -> Integers:
    """The sizes of a grid, and the most that code for each must be good for, as integers."""
    return tuple(
        item
        for axis, size in enumerate(facts.grid)
        for item in ((_size_at(axis), 4, size), (_most_at(axis), 4, _most(size)))
    )


def _with(facts: LaunchFacts, chosen: Integers) -> LaunchFacts:
    """The facts with the integers and sizes that are constants."""
    values = {offset: value for offset, _, value in chosen}
    most = [values[_most_at(axis)] for axis in range(len(facts.grid))]
    x, y, z = (values.get(_size_at(axis), size) for axis, size in enumerate(most))
    read = (axis for axis, size in enumerate(most) if _size_at(axis) not in values and size > 1)
    integers = tuple(item for item in chosen if item[0] >= 0)
    return replace(facts, integers=integers, grid=(x, y, z), read_axes=tuple(read))


def _size_at(axis: int) -> int:
    """What stands for an offset where the size of an axis is among integers."""
    return -1 - axis


def _most_at(axis: int) -> int:
    return -11 - axis


def _most(size: int) -> int:
    """The least power of eight that is not less: what grows a little needs no other code."""
    return min(1 << 3 * (((size - 1).bit_length() + 2) // 3), _MOST_THREAD_BLOCKS)


def _without(integers: Integers, varying: frozenset[int]) -> Integers:
    return tuple(item for item in integers if item[0] not in varying)
