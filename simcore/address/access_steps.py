"""The accesses of a thread in the order in which it issues them, and what lies between two uses.

Warps progress together, access by access: what all threads touch in one of them is one step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.boxes import BoundAccess
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import Access, AddressKernel

__all__ = ["AccessStep", "access_steps", "distinct_since", "last_uses", "steps_by_field"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AccessStep:
    """One load or store of all threads, for one of the cells of each."""

    access: BoundAccess
    is_store: bool

    def follows(self, other: AccessStep, line_bytes: int) -> bool:
        """Whether its address is that of `other` up to less than a line: no arithmetic between."""
        own, before = self.access, other.access
        same = own.field == before.field and own.coefficients == before.coefficients
        return same and abs(own.constants[0] - before.constants[0]) < line_bytes


def access_steps(kernel: AddressKernel) -> tuple[AccessStep, ...]:
    """Cell after cell of a thread, the loads of each before its stores, in the kernel's order; what
    two cells share is loaded once. ModelNotApplicable for what is not affine."""
    return tuple(dict.fromkeys(_steps(kernel)))


def _steps(kernel: AddressKernel) -> Iterator[AccessStep]:
    for z, y, x in itertools.product(*(range(cells) for cells in reversed(kernel.folding))):
        for access in kernel.loads:
            yield AccessStep(_of_cell(access, kernel, (x, y, z)), is_store=False)
        for access in kernel.stores:
            yield AccessStep(_of_cell(access, kernel, (x, y, z)), is_store=True)


def _of_cell(access: Access, kernel: AddressKernel, cell: tuple[int, int, int]) -> BoundAccess:
    trips = {loop.name: loop.trips for loop in kernel.loops}
    form = access.offset.bind(kernel.block, dict(kernel.parameters), kernel.folding, access.loops)
    factors = dict(form.coefficients)
    shift = sum(factors.pop(f"fold.{axis}", 0) * at for axis, at in zip(AXES, cell, strict=True))
    return BoundAccess(
        access.field,
        tuple(factors.items()),
        (form.constant + shift,),
        access.access_bytes,
        tuple((name, trips[name]) for name in access.loops),
    )


def steps_by_field(steps: Sequence[AccessStep]) -> Iterator[Ints]:
    """Numbers of the steps of each field."""
    for field in dict.fromkeys(step.access.field for step in steps):
        yield np.array([at for at, step in enumerate(steps) if step.access.field == field])


def last_uses(inside: Flags, sizes: Floats, at: Ints, steps: int) -> Floats:
    """Units of each step `at` of a field by the step that used them last, shape (at, steps).

    `inside` and `sizes` are pieces of the field's steps, as of `footprint.address_pieces`.
    """
    last = np.zeros(len(sizes), np.int64)
    found = np.zeros((len(at), steps))
    for number, (own, step) in enumerate(zip(inside, at, strict=True)):
        found[number] = np.bincount(last[own], sizes[own], steps + 1)[1:]
        last[own] = step + 1
    return found


def distinct_since(inside: Flags, sizes: Floats, at: Ints, steps: int) -> Floats:
    """[j, i]: distinct units of the field that the steps i to j touch, shape (steps, steps)."""
    last = np.zeros(len(sizes), np.int64)
    found = np.zeros((steps, steps))
    since, number = np.zeros(steps), 0
    for step in range(steps):
        if number < len(at) and at[number] == step:
            last[inside[number]] = step + 1
            number += 1
            since = np.bincount(last, sizes, steps + 1)[:0:-1].cumsum()[::-1]
        found[step] = since
    return found
