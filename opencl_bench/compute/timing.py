"""How long a launch should take to be measured, and how often it is repeated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort

__all__ = ["EFFORTS", "Seconds", "TimeBudget", "long_enough"]

Seconds: TypeAlias = npt.NDArray[np.float64]

_ENOUGH = 0.5
"""A launch of at least this share of the goal counts as long enough."""
_MOST_ITERATIONS = 1 << 30


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """`launch_s`: a launch this long hides what launching costs."""

    launch_s: float
    repeats: int


EFFORTS = {Effort.QUICK: TimeBudget(2e-3, 5), Effort.FULL: TimeBudget(1e-2, 15)}


def long_enough(
    run: Callable[[int, int], Seconds], first_guess: int, effort: Effort
) -> tuple[int, Seconds]:
    """Iterations for launches of the effort's length, and the seconds of each repeated launch.

    `run(iterations, repeats)` launches and verifies. A guess that is too low costs a second round.
    """
    budget = EFFORTS[effort]
    iterations = max(1, first_guess)
    seconds = run(iterations, budget.repeats)
    for _ in range(3):
        shortest = float(np.median(seconds))
        if not math.isfinite(shortest):
            raise BenchmarkError(f"{iterations} iterations took {shortest} s")
        if shortest >= _ENOUGH * budget.launch_s or iterations >= _MOST_ITERATIONS:
            break
        factor = budget.launch_s / max(shortest, budget.launch_s * 1e-3)
        iterations = min(_MOST_ITERATIONS, int(np.ceil(iterations * factor)))
        seconds = run(iterations, budget.repeats)
    return iterations, seconds
