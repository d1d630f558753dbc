"""A kernel of one thread-block size, and what several devices ask of it alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple, cast

from kernelcast.models.warpspeed.volumes.thread_blocks import ThreadBlockClass, thread_block_classes
from kernelcast.simcore.address.access_steps import AccessStep, access_steps
from kernelcast.simcore.address.boxes import BoundAccess, bound_accesses
from kernelcast.simcore.address.kernel import AddressKernel

__all__ = ["BoundKernel", "FieldAccesses", "by_field"]

Asked = TypeVarTuple("Asked")
Found = TypeVar("Found")

FieldAccesses = tuple[str, tuple[BoundAccess, ...]]


@dataclass(frozen=True)
class BoundKernel:
    """Remembers what it was asked as long as it lives: one for each configuration of a sweep.

    Properties raise ModelNotApplicable for addresses that are not affine.
    """

    kernel: AddressKernel
    _known: dict[tuple[Any, ...], object] = field(default_factory=dict, repr=False, compare=False)

    def once(self, ask: Callable[[BoundKernel, *Asked], Found], *about: *Asked) -> Found:
        """`ask(self, *about)`, computed for the first device that needs it."""
        key = (ask, *about)
        if key not in self._known:
            self._known[key] = ask(self, *about)
        return cast(Found, self._known[key])

    @cached_property
    def loads(self) -> tuple[FieldAccesses, ...]:
        """Loads by field."""
        return tuple(by_field(self._loads))

    @cached_property
    def stores(self) -> tuple[FieldAccesses, ...]:
        """Stores by field."""
        return tuple(by_field(self._stores))

    @cached_property
    def accesses(self) -> tuple[FieldAccesses, ...]:
        """Loads and stores, field by field."""
        return tuple(by_field((*self._loads, *self._stores)))

    @cached_property
    def steps(self) -> tuple[AccessStep, ...]:
        """Accesses of a thread in the order of issue."""
        return access_steps(self.kernel)

    @cached_property
    def thread_blocks(self) -> tuple[ThreadBlockClass, ...]:
        """Classes of thread blocks by how the domain cuts them."""
        return thread_block_classes(self.kernel)

    @cached_property
    def _loads(self) -> tuple[BoundAccess, ...]:
        return bound_accesses(self.kernel.loads, self.kernel)

    @cached_property
    def _stores(self) -> tuple[BoundAccess, ...]:
        return bound_accesses(self.kernel.stores, self.kernel)


def by_field(accesses: Iterable[BoundAccess]) -> Iterator[FieldAccesses]:
    """Fields do not overlap: each is an address space of its own."""
    found: dict[str, list[BoundAccess]] = {}
    for access in accesses:
        found.setdefault(access.field, []).append(access)
    for name, members in found.items():
        yield name, tuple(members)
