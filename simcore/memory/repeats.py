"""Loads that repeat others of their thread block, beside all other accesses of their instruction.

Instruction p has the rows p and, for what repeats, p + instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.traversal import Routes

__all__ = ["completed", "with_repeats"]

_REQUESTS = Counters._fields.index("requests")
_REQUESTED_BYTES = Counters._fields.index("requested_bytes")

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


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


def completed(parts: Sequence[Counters], leaves_out: Sequence[bool]) -> list[Counters]:
    """Counts of one row an instruction, where `leaves_out` with what repeats would have counted.

    They count there as they do on average where they are simulated; where none of an instruction
    is, as its other accesses.
    """
    whole = [part for part, left_out in zip(parts, leaves_out, strict=True) if not left_out]
    rates = _rates([_rows(part) for part in whole] or [_rows(parts[0])])
    return [
        _completed(_rows(part), rates) if left_out else Counters(*_rows(part).sum(axis=1))
        for part, left_out in zip(parts, leaves_out, strict=True)
    ]


def _rows(part: Counters) -> Ints:
    """Shape (columns, 2, instructions): what is new, and what repeats."""
    return np.stack([column.reshape(2, -1) for column in part])


def _rates(parts: Sequence[Ints]) -> Reals:
    """What a repeated request adds to each column, shape (columns, instructions)."""
    every = np.sum(parts, axis=0)
    counted = np.where(every[_REQUESTS, 1] > 0, every[:, 1], every.sum(axis=1)).astype(np.float64)
    of = counted[_REQUESTS]
    found: Reals = np.divide(counted, of, out=np.zeros_like(counted), where=of > 0)
    return found


def _completed(rows: Ints, rates: Reals) -> Counters:
    found = rows[:, 0] + np.rint(rates * rows[_REQUESTS, 1]).astype(np.int64)
    for known in (_REQUESTS, _REQUESTED_BYTES):  # of what is left out, too
        found[known] = rows[known].sum(axis=0)
    return Counters(*found)
