"""The accesses of a thread in the order in which it issues them, and what lies between two uses.

Warps progress together, access by access: what all threads touch in one of them is one step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import BoundAccess, StridedFamily, affine_forms
from kernelcast.simcore.address.expression import AXES, AffineForm
from kernelcast.simcore.address.kernel import AddressKernel

__all__ = [
    "AccessStep",
    "access_steps",
    "add_distinct",
    "step_sets",
    "steps_by_field",
]

Ints = npt.NDArray[np.int64]
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
    """Loads and stores of a thread's cells, cell after cell, in the kernel's order.

    The loads of each cell come before its stores; what two cells share is loaded once.
    ModelNotApplicable for what is not affine.
    """
    accesses, is_store = (*kernel.loads, *kernel.stores), len(kernel.loads)
    trips = {loop.name: loop.trips for loop in kernel.loops}
    forms = [
        (access, form.constant, *_without_folding(form))
        for access, form in zip(accesses, affine_forms(accesses, kernel), strict=True)
    ]
    found: dict[Hashable, AccessStep] = {}
    for z, y, x in itertools.product(*(range(cells) for cells in reversed(kernel.folding))):
        for number, (access, constant, coefficients, by_cell) in enumerate(forms):
            shifted = constant + by_cell[0] * x + by_cell[1] * y + by_cell[2] * z
            key = (access.field, coefficients, shifted, access.access_bytes, access.loops)
            if (key, number >= is_store) not in found:
                loops = tuple((name, trips[name]) for name in access.loops)
                size = access.access_bytes
                bound = BoundAccess(access.field, coefficients, (shifted,), size, loops)
                found[key, number >= is_store] = AccessStep(bound, number >= is_store)
    return tuple(found.values())


def _without_folding(form: AffineForm) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...]]:
    """Coefficients of all but the cell of a thread, and bytes from one such cell to the next."""
    factors = dict(form.coefficients)
    by_cell = tuple(factors.pop(f"fold.{axis}", 0) for axis in AXES)
    return tuple(factors.items()), by_cell


def steps_by_field(steps: Sequence[AccessStep]) -> Iterator[Ints]:
    """Numbers of the steps of each field."""
    for field in dict.fromkeys(step.access.field for step in steps):
        yield np.array([at for at, step in enumerate(steps) if step.access.field == field])


def step_sets(
    steps: Iterable[AccessStep], touched: Callable[[BoundAccess], Iterable[StridedFamily]]
) -> AddressSets:
    """What each step of a field touches; steps that differ in their constant only ask together."""
    groups: dict[Hashable, tuple[list[int], list[int], BoundAccess]] = {}
    count = 0
    for number, step in enumerate(steps):
        found = step.access
        key = (found.coefficients, found.access_bytes, found.loops)
        constants, owners, _ = groups.setdefault(key, ([], [], found))
        constants += found.constants
        owners.append(number)
        count += 1
    members = [
        (family, tuple(owners))
        for constants, owners, found in groups.values()
        for family in touched(replace(found, constants=tuple(constants)))
    ]
    return AddressSets(count, tuple(members))


def add_distinct(between: Floats, lines: Floats, at: Ints) -> None:
    """Adds to `between` distinct lines of one field: [j, i] of those that the steps i to j touch.

    `lines`: of the steps of the field, which are number `at` of all, as of `footprint.last_uses`.
    """
    from kernelcast.simcore.address.box_pieces import add_distinct_since

    add_distinct_since(lines.cumsum(axis=1), at, between)
