"""What is in the caches when a launch begins."""

from __future__ import annotations

from enum import Enum

from kernelcast.errors import KernelcastError, nearest

__all__ = ["Caches", "caches_named"]


class Caches(Enum):
    """COLD: nothing. WARM: what an equal launch on the same buffers has left in L2 just before.

    First-level caches are empty either way: GPUs invalidate them when a kernel starts.
    """

    COLD = "cold"
    WARM = "warm"


def caches_named(name: Caches | str | None) -> Caches:
    """The state of that name, COLD for None; KernelcastError for a name that is none."""
    if name is None:
        return Caches.COLD
    if isinstance(name, Caches):
        return name
    known = [item.value for item in Caches]
    if name not in known:
        raise KernelcastError(
            f"unknown caches {name!r}{nearest(name, known)}; known: {', '.join(known)}"
        )
    return Caches(name)
