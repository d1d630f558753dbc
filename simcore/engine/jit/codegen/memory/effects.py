"""Which instructions of a function do anything, and whether anyone reads it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Effects"]


@dataclass(frozen=True, slots=True)
class Effects:
    """Which instructions do something.

    `only`: their pcs, None for all; `used`: registers that are read anywhere.
    """

    only: frozenset[int] | None
    used: frozenset[int]
