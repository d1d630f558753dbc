"""The operations whose chains `kernels/arithmetic.cl` runs, each with its meaning in NumPy.

The names are those of the kernels. Operands and seeds keep a chain within exact, ordinary values
however long it is, and make its states repeat early, so that the host can tell the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.target import Feature

__all__ = ["SEEDS", "Operation", "States", "Step"]

SEEDS = 64
"""Different starts of chains."""

States: TypeAlias = npt.NDArray[Any]
Step: TypeAlias = Callable[[States, States, States], tuple[States, States]]
"""(x, y, operands) -> the next (x, y), all lanes of a chain alike."""


@dataclass(frozen=True, slots=True)
class Operation:
    """`odd` and `even` are the chain's alternating steps.

    `counted`: operations in a step, a multiply-add being two; `dependent`: how many follow each
    other in it. `tolerance`: relative deviation from NumPy that the device's arithmetic may have.
    `is_function`: a function or other sequence of many instructions, for which short loops of few
    chains suffice; a quick session measures only the throughput of those that `is_typical`.
    """

    name: str
    seeds: States
    operands: States
    odd: Step
    even: Step
    what: str
    counted: int = 1
    dependent: int = 1
    tolerance: float = 0.0
    needs: frozenset[Feature] = frozenset()
    is_function: bool = False
    is_typical: bool = False

    @property
    def throughput_kernel(self) -> str:
        """The name of the kernel that measures throughput."""
        return f"{self.name}_throughput"

    @property
    def latency_kernel(self) -> str:
        """The name of the kernel that measures latency."""
        return f"{self.name}_latency"

    def end_states(self, steps: int) -> tuple[States, States]:
        """x and y of the chains that start at each seed, after an even number of steps."""
        x, y = self.seeds, np.roll(self.seeds, -1)
        rounds = steps // 2
        first_seen: dict[bytes, int] = {}
        done = 0
        while done < rounds:
            state = x.tobytes() + y.tobytes()
            if state in first_seen:
                period = done - first_seen[state]
                done = rounds - (rounds - done) % period
                first_seen.clear()
                if done == rounds:
                    break
            first_seen[state] = done
            x, y = self.odd(x, y, self.operands)
            x, y = self.even(x, y, self.operands)
            done += 1
        return x, y
