"""Which threads of a launch make an access: a box of the grid, and what else they must meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression import AXES, AddressExpression, Monomial
from kernelcast.simcore.address.extraction.launch import LaunchValues, base_name
from kernelcast.simcore.address.extraction.loops import parts_of
from kernelcast.simcore.address.extraction.rules import in_numbers
from kernelcast.simcore.address.extraction.values import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Relation,
    truth,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "Box",
    "Guard",
    "Located",
    "guard_of",
    "in_cells",
    "offset_in_buffer",
    "share_of",
]

_MOST_THREAD_BLOCKS = 48
"""The most thread blocks that shares of threads are counted in."""


@dataclass(frozen=True, slots=True)
class Box:
    """Threads of the grid from `low` to `high`, the latter excluded, along x, y and z."""

    low: tuple[int, int, int]
    high: tuple[int, int, int]

    def __str__(self) -> str:
        return f"their indices are from {self.low} to below {self.high}"

    @property
    def threads(self) -> int:
        """The number of threads in the box."""
        return prod(max(0, b - a) for a, b in zip(self.low, self.high, strict=True))

    def common(self, other: Box) -> Box:
        """The threads that both boxes have."""
        low = tuple(map(max, self.low, other.low))
        high = tuple(map(min, self.high, other.high))
        return Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))


@dataclass(frozen=True, slots=True)
class Guard:
    """`others`: what threads of the box must meet besides, always met ones left out."""

    box: Box
    others: tuple[Condition, ...]


def guard_of(conditions: Iterable[Condition], launch: LaunchValues) -> Guard:
    """Tests of one global thread index against numbers bound the box."""
    sizes = [launch.known[f"ntid.{axis}"] * launch.known[f"nctaid.{axis}"] for axis in AXES]
    low, high = [0, 0, 0], list(sizes)
    others: list[Condition] = []
    for part in parts_of(conditions):
        bound = _bound(part, launch) if isinstance(part, Comparison) else None
        if bound is None:
            if truth(part, launch.ranges) is not True and not _always(part, launch):
                others.append(part)
            continue
        axis, first, end = bound
        low[axis] = low[axis] if first is None else max(low[axis], first)
        high[axis] = high[axis] if end is None else min(high[axis], end)
    box = Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))
    return Guard(box, tuple(others))


def _always(part: Condition, launch: LaunchValues) -> bool:
    if not isinstance(part, Comparison):
        return False
    numeric = part.expression.substitute(launch.known)
    return truth(Comparison(numeric, part.relation), launch.ranges) is True


def _bound(part: Comparison, launch: LaunchValues) -> tuple[int, int | None, int | None] | None:
    """(axis, first, end) of a test of `factor * (ctaid ntid + tid) + offset < 0`."""
    if part.relation is not Relation.BELOW:
        return None
    expression = part.expression.substitute(launch.known)
    terms = dict(expression.terms)
    offset = terms.pop((), 0)
    for number, axis in enumerate(AXES):
        threads = launch.known[f"ntid.{axis}"]
        factor = terms.get((f"tid.{axis}",), 0)
        wanted = {(f"tid.{axis}",): factor, (f"ctaid.{axis}",): factor * threads}
        if factor and terms == wanted:
            if factor > 0:
                return number, None, -(offset // factor)
            return number, offset // -factor + 1, None
    return None


def share_of(guard: Guard, loops: Mapping[str, int], launch: LaunchValues) -> float:
    """The share of threads of the box, and of trips of `loops`, that meet all conditions.

    Counted in all threads of some thread blocks spread over the grid.
    """
    if not guard.others:
        return 1.0
    points = _points(loops, launch)
    inside = np.ones((), np.bool_)
    for number, axis in enumerate(AXES):
        threads = launch.known[f"ntid.{axis}"]
        cell = points[f"ctaid.{axis}"] * threads + points[f"tid.{axis}"]
        inside = inside & (cell >= guard.box.low[number]) & (cell < guard.box.high[number])
    met = inside
    for condition in guard.others:
        met = met & _holds(condition, points, launch)
    shape = np.broadcast_shapes(*(values.shape for values in points.values()), met.shape)
    total = int(np.count_nonzero(np.broadcast_to(inside, shape)))
    return int(np.count_nonzero(np.broadcast_to(met, shape))) / max(1, total)


def _points(loops: Mapping[str, int], launch: LaunchValues) -> dict[str, npt.NDArray[np.int64]]:
    """Thread, thread block and trip along axes of their own, to be broadcast."""
    threads = [np.arange(launch.known[f"ntid.{axis}"]) for axis in AXES]
    x, y, z = np.meshgrid(*threads, indexing="ij")
    counts = [launch.known[f"nctaid.{axis}"] for axis in AXES]
    chosen = np.unique(
        np.arange(_MOST_THREAD_BLOCKS) * (prod(counts) - 1) // (_MOST_THREAD_BLOCKS - 1)
    )
    blocks = (chosen % counts[0], chosen // counts[0] % counts[1], chosen // prod(counts[:2]))
    found: dict[str, npt.NDArray[np.int64]] = {}
    for axis, thread, block in zip(AXES, (x, y, z), blocks, strict=True):
        found[f"tid.{axis}"] = thread.reshape(-1, 1, 1).astype(np.int64)
        found[f"ctaid.{axis}"] = block.reshape(1, -1, 1)
    generator = np.random.default_rng(0)
    for name, trips in loops.items():
        trip = (
            np.arange(trips)
            if len(loops) == 1 and trips <= 64
            else generator.integers(0, trips, 32)
        )
        found[name] = np.asarray(trip, np.int64).reshape(1, 1, -1)
    return found


def _holds(
    condition: Condition, points: Mapping[str, npt.NDArray[np.int64]], launch: LaunchValues
) -> npt.NDArray[np.bool_]:
    match condition:
        case bool():
            return np.asarray(condition)
        case Comparison(expression, relation):
            value = _values(expression.substitute(launch.known), points, launch)
            if relation is Relation.BELOW:
                return np.asarray(value < 0)
            return np.asarray((value == 0) == (relation is Relation.EQUAL))
        case AllOf(parts):
            return _combined([_holds(part, points, launch) for part in parts], np.logical_and)
        case AnyOf(parts):
            return _combined([_holds(part, points, launch) for part in parts], np.logical_or)
    raise AssertionError("conditions on data are refused before")


def _combined(parts: Sequence[npt.NDArray[np.bool_]], join: Any) -> npt.NDArray[np.bool_]:
    total = parts[0]
    for part in parts[1:]:
        total = join(total, part)
    return total


def _values(
    expression: AddressExpression,
    points: Mapping[str, npt.NDArray[np.int64]],
    launch: LaunchValues,
) -> npt.NDArray[np.int64]:
    total: npt.NDArray[np.int64] = np.zeros((), np.int64)
    for monomial, factor in expression.terms:
        product = np.asarray(factor, np.int64)
        for name in monomial:
            product = product * _of_variable(name, points, launch)
        total = total + product
    return total


def _of_variable(
    name: str, points: Mapping[str, npt.NDArray[np.int64]], launch: LaunchValues
) -> npt.NDArray[np.int64]:
    derived = launch.derived.get(name)
    if derived is None:
        return points[name]
    sources = [
        _values(source.substitute(launch.known), points, launch) for source in derived.sources
    ]
    shape = np.broadcast_shapes(*(source.shape for source in sources))
    spread = [np.ascontiguousarray(np.broadcast_to(source, shape)) for source in sources]
    (found, *_) = in_numbers(derived.instruction, spread)
    return np.asarray(found, np.int64)


@dataclass(frozen=True, slots=True)
class Located:
    """`offset` in bytes behind the beginning of `buffer`."""

    buffer: str
    offset: AddressExpression


def offset_in_buffer(address: AddressExpression, values: LaunchValues) -> Located | None:
    """None in shared, local and constant memory.

    ModelNotApplicable where the address is not a buffer's plus an offset.
    """
    pointers = [name for name in address.variables if base_name(name) is not None]
    if len(pointers) != 1 or dict(address.terms).get((pointers[0],)) != 1:
        raise ModelNotApplicable(f"address {address} is not one of a buffer")
    (pointer,) = pointers
    offset = address - AddressExpression.of({(pointer,): 1})
    if pointer in offset.variables:
        raise ModelNotApplicable(f"address {address} is not one of a buffer")
    if values.spaces[pointer] is not AddressSpace.GLOBAL:
        return None
    return Located(pointer[1:], offset)


def in_cells(expression: AddressExpression) -> AddressExpression:
    """The expression with x in the place of `ctaid.x * ntid.x + tid.x`, and so on."""
    terms = dict(expression.terms)
    for axis in AXES:
        thread, block, size = f"tid.{axis}", f"ctaid.{axis}", f"ntid.{axis}"
        for monomial in [item for item in terms if item.count(thread) == 1]:
            rest = _without(monomial, thread)
            far = tuple(sorted((*rest, block, size)))
            if terms.get(far) == terms[monomial]:
                factor = terms.pop(monomial)
                del terms[far]
                cell = tuple(sorted((*rest, axis)))
                terms[cell] = terms.get(cell, 0) + factor
    return AddressExpression.of(terms)


def _without(monomial: Monomial, name: str) -> Monomial:
    position = monomial.index(name)
    return (*monomial[:position], *monomial[position + 1 :])
