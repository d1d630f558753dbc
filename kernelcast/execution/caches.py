"""What is in the caches when a launch begins."""

from __future__ import annotations

from enum import Enum

from kernelcast.errors import KernelcastError, nearest
from kernelcast.simcore.memory.contents.cache_contents import CacheContents, FirstContents

__all__ = ["Caches", "first_contents"]


class Caches(Enum):
    """COLD: nothing. WARM: what an equal launch on the same buffers has left in L2 just before.

    First-level caches are empty either way: GPUs invalidate them when a kernel starts.
    """

    COLD = "cold"
    WARM = "warm"


def first_contents(caches: Caches | CacheContents | str | None) -> FirstContents:
    """What a launch with those `caches` finds, NOTHING for None.

    KernelcastError for a name that is none.
    """
    if caches is None:
        return FirstContents.NOTHING
    if isinstance(caches, CacheContents):
        return FirstContents.LAUNCHES_BEFORE
    name = caches.value if isinstance(caches, Caches) else caches
    known = [item.value for item in Caches]
    if name not in known:
        raise KernelcastError(
            f"unknown caches {name!r}{nearest(name, known)}; known: {', '.join(known)}"
        )
    return FirstContents(name)
