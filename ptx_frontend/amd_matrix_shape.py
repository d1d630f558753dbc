"""How the matrix products of AMD's CDNA lie in the lanes of a wavefront, for every front end."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GROUP", "MatrixShape"]

_LANES = 64
GROUP = 4
"""Rows of results that follow each other in one lane."""


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """m x m results of products over k (AMD Instinct MI200 ISA, section 7.1).

    A lane holds `per_lane` neighbouring k of A and of B, and so many `results`.
    """

    m: int
    k: int

    @property
    def per_lane(self) -> int:
        """Elements of A, and of B, in a lane."""
        return self.k * self.m // _LANES

    @property
    def results(self) -> int:
        """Elements of C in a lane."""
        return self.m * self.m // _LANES

    def row(self, number: int) -> int:
        """The row of a lane's result `number`, counted from that of its first one."""
        return number // GROUP * (_LANES // self.m) * GROUP + number % GROUP
