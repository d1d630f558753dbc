"""How the matrix products of AMD's CDNA lie in the lanes of a wavefront.

AMD Instinct MI200 ISA, section 7.1; for double precision, whose results lie otherwise, what
programs for it say: rows of results go round the lanes instead of following each other in one.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LANES", "MatrixShape"]

LANES = 64
_SMALLEST = 4


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """`blocks` products side by side, each of m x m results over k.

    A lane holds `per_lane` neighbouring k of A and of B, and so many `results`, of which `group`
    rows follow each other.
    """

    m: int
    k: int
    per_lane: int
    group: int = 4

    @property
    def blocks(self) -> int:
        """Products side by side."""
        return LANES * self.per_lane // (self.m * self.k)

    @property
    def results(self) -> int:
        """Elements of C in a lane."""
        return self.m * self.m * self.blocks // LANES

    @property
    def is_small(self) -> bool:
        """Whether lanes hold results of one block only, which one depends on the lane."""
        return self.m == _SMALLEST

    def block(self, number: int) -> int:
        """The block of a lane's result `number`; of small ones, the first of all."""
        return 0 if self.is_small else number // (self.results // self.blocks)

    def row(self, number: int) -> int:
        """The row of a lane's result `number`, counted from that of its first one."""
        if self.is_small:
            return number
        within = number % (self.results // self.blocks)
        return within // self.group * (LANES // self.m) * self.group + within % self.group

    def lane(self, k: int, block: int) -> int:
        """The lane of element (0, k) of A, or (k, 0) of B, in a block; those of others follow."""
        return self.m * (block + self.blocks * (k // self.per_lane))
