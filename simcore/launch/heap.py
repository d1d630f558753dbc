"""The heap of `malloc` and `free` in kernels: which parts of it are taken."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Heap"]

_ALIGNMENT = 16


@dataclass
class Heap:
    """First fit in [first, first + size); `taken` has bytes by address."""

    first: int
    size: int
    taken: dict[int, int] = field(default_factory=dict)

    def allocate(self, size: int) -> int:
        """Allocates memory on the heap: its address, or 0 when there is no room."""
        needed = max(_ALIGNMENT, -(-size // _ALIGNMENT) * _ALIGNMENT)
        at = self.first
        for start in sorted(self.taken):
            if start - at >= needed:
                break
            at = start + self.taken[start]
        if at + needed > self.first + self.size:
            return 0
        self.taken[at] = needed
        return at
