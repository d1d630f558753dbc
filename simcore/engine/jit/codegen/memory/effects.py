"""Which instructions of a function do anything, and whether anyone reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Effects"]


@dataclass(frozen=True, slots=True)
class Effects:
    """Which instructions do something.

    `only`: their pcs, None for all; `used`: registers that are read anywhere; `ahead`: by the pc of
    a load, how many bytes on the next thread block loads.
    """

    only: frozenset[int] | None
    used: frozenset[int]
    ahead: Mapping[int, int] = field(default_factory=dict)
