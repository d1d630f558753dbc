"""Thread blocks of a grid by how the domain cuts them: whole ones, and those at its ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.simcore.address.kernel import AddressKernel

__all__ = ["ThreadBlockClass", "thread_block_classes"]

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ThreadBlockClass:
    """`count` thread blocks that the domain cuts alike; `index` is that of one in their middle."""

    index: Triple
    count: int

    @property
    def box(self) -> tuple[Triple, Triple]:
        """The box of one thread block in their middle: first index and the one behind it."""
        x, y, z = self.index
        return self.index, (x + 1, y + 1, z + 1)


def thread_block_classes(kernel: AddressKernel) -> tuple[ThreadBlockClass, ...]:
    """All that do any work."""
    axes = [tuple(_along(kernel, axis)) for axis in range(3)]
    found = []
    for (x, of_x), (y, of_y), (z, of_z) in itertools.product(*axes):
        found.append(ThreadBlockClass((x, y, z), math.prod((of_x, of_y, of_z))))
    return tuple(found)


def _along(kernel: AddressKernel, axis: int) -> Iterator[tuple[int, int]]:
    """Index and count of whole thread blocks, then of those that either end of the domain cuts."""
    first, end, tile = kernel.origin[axis], kernel.domain[axis], kernel.tile[axis]
    low, high = -(-first // tile), end // tile
    if low < high:
        yield (low + high) // 2, high - low
    cut = set()
    if first % tile:
        cut.add(first // tile)
    if end % tile:
        cut.add(end // tile)
    yield from ((index, 1) for index in sorted(cut))
