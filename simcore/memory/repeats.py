"""Loads that repeat others of their thread block, beside all other accesses of their instruction.

Instruction p has the rows p and, for what repeats, p + instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.traversal import Routes

__all__ = ["with_repeats", "without_repeats"]


def with_repeats(routes: Routes) -> Routes:
    """Routes for both rows of each instruction, which are the same."""

    def twice(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.tile(column, 2)

    return routes._replace(
        kind=twice(routes.kind),
        l1_role=twice(routes.l1_role),
        bytes=twice(routes.bytes),
        alignment=twice(routes.alignment),
        in_segments=twice(routes.in_segments),
    )


def without_repeats(counts: Counters) -> Counters:
    """Both rows of each instruction as one."""
    return Counters(*(column.reshape(2, -1).sum(axis=0) for column in counts))
