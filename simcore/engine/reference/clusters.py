"""Clusters of thread blocks in the reference engine: who belongs together.

An address of shared memory has 24 bits within a thread block; above these stand one more than the
rank of the thread block in its cluster, or zero for the thread's own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK, RANK_MASK
from kernelcast.simcore.isa.ir.kernel import Special

__all__ = ["ClusterMembers", "neighbours", "with_mates"]

Ints = npt.NDArray[np.int64]
Sizes = tuple[int, int, int]


def neighbours(grid: Sizes, cluster: Sizes) -> int:
    """The number of consecutive thread blocks in the smallest groups that hold whole clusters."""
    if cluster[2] > 1:
        return grid[0] * grid[1] * cluster[2]
    return grid[0] * cluster[1] if cluster[1] > 1 else cluster[0]


def _places(numbers: Ints, sizes: Sizes) -> tuple[Ints, Ints, Ints]:
    """Coordinates of what is numbered with x fastest."""
    x, y, _ = sizes
    return numbers % x, numbers // x % y, numbers // (x * y)


def with_mates(numbers: Ints, grid: Sizes, cluster: Sizes) -> Ints:
    """Thread blocks and the others of their clusters, rising."""
    x, y = grid[0], grid[0] * grid[1]
    place = _places(numbers, grid)
    first = [p // c * c for p, c in zip(place, cluster, strict=True)]
    parts = _places(np.arange(cluster[0] * cluster[1] * cluster[2]), cluster)
    mates = [f[:, None] + p[None, :] for f, p in zip(first, parts, strict=True)]
    return np.unique(mates[0] + x * mates[1] + y * mates[2])


class ClusterMembers:
    """The clusters of a batch, which holds whole ones.

    `numbers` are those of its thread blocks, rising.
    """

    def __init__(self, grid: Sizes, cluster: Sizes, numbers: Ints) -> None:
        self.grid, self.cluster = grid, cluster
        self.count = len(numbers)
        self.size = cluster[0] * cluster[1] * cluster[2]
        x, y = grid[0], grid[0] * grid[1]
        place = _places(numbers, grid)
        self.within = tuple(p % c for p, c in zip(place, cluster, strict=True))
        self.numbers = tuple(p // c for p, c in zip(place, cluster, strict=True))
        self.rank = self.within[0] + cluster[0] * (self.within[1] + cluster[1] * self.within[2])
        parts = _places(np.arange(self.size), cluster)
        first = [n * c for n, c in zip(self.numbers, cluster, strict=True)]
        mates = [f[:, None] + p[None, :] for f, p in zip(first, parts, strict=True)]
        self.mates = np.searchsorted(numbers, mates[0] + x * mates[1] + y * mates[2])
        """By thread block and rank, the position of that thread block in the batch."""

    def resolved(self, owner: Ints, address: Ints) -> tuple[Ints, Ints]:
        """The thread blocks whose shared memory addresses name, and the offsets there.

        An address that names no thread block of the cluster stays as it is, outside.
        """
        above = (address >> OFFSET_BITS) & RANK_MASK
        named = (above > 0) & (above <= self.size)
        rank = np.where(named, above - 1, self.rank[owner])
        return self.mates[owner, rank], np.where(named, address & OFFSET_MASK, address)

    def special(self, which: Special) -> npt.NDArray[np.uint32]:
        """A special register by thread block."""
        name, axis = which.value, "xyz".find(which.value[-1])
        if name.startswith("%clusterid."):
            found = self.numbers[axis]
        elif name.startswith("%nclusterid."):
            found = np.full(self.count, self.grid[axis] // self.cluster[axis])
        elif name.startswith("%cluster_ctaid."):
            found = self.within[axis]
        elif name.startswith("%cluster_nctaid."):
            found = np.full(self.count, self.cluster[axis])
        elif which is Special.CLUSTER_CTARANK:
            found = self.rank
        else:
            found = np.full(self.count, self.size)
        return found.astype(np.uint32)
