"""A drawn part of many cases, so that tests of machine code take a minute; `make test-all` has all.

The same cases are drawn each time, so that a verdict belongs to the tree.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["ALL_CASES", "drawn"]

ALL_CASES = os.environ.get("KERNELCAST_TESTS") == "all"
_SEED = 23

Case = TypeVar("Case")


def drawn(cases: Sequence[Case], count: int) -> list[Case]:
    """A sample of the cases in their order, or all of them where all are asked for."""
    if ALL_CASES or count >= len(cases):
        return list(cases)
    chosen = sorted(random.Random(_SEED).sample(range(len(cases)), count))
    return [cases[index] for index in chosen]
