"""Which lanes of a warp take part in an access to memory, and where they point to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["PatternTable"]


@dataclass(frozen=True)
class PatternTable:
    """Shapes of warp accesses: bit i of `mask` is lane i; `offsets` in bytes, 0 where inactive.

    `mask` shape (patterns,), `offsets` shape (patterns, warp_width), relative to the first active
    lane.
    """

    mask: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, warp_width: int) -> PatternTable:
        """A table without patterns."""
        return cls(np.empty(0, np.uint64), np.empty((0, warp_width), np.int64))
