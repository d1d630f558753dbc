"""Whether an SM goes on as it has gone, so that what it did stands for what it has still to do.

Two short stretches may be alike by chance. Three in turn must be, of which each is as long as all
that went before them: where they differ, stretches of twice the length are walked. All three are
repeated as often as they fit, then the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.launch.sm_simulator import SmSimulator, Snapshot

__all__ = [
    "FEW_INSTRUCTIONS",
    "MOST_INSTRUCTIONS",
    "SteadyStretch",
    "are_alike",
    "steady_stretch",
    "take_as_long",
]

_CYCLES_WITHIN, _SLOTS_WITHIN, _BACKLOG_WITHIN = 0.005, 0.02, 0.01
MOST_INSTRUCTIONS = 4_000_000
"""Warp instructions that are walked to find stretches that are alike."""
FEW_INSTRUCTIONS = 1_000_000
"""Instructions walked where a time only says by how much another one would change."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SteadyStretch:
    """Where the first of three stretches begins, where the others do, and where the last one ends.

    `is_steady`: they take equally long.
    """

    ends: tuple[Snapshot, Snapshot, Snapshot, Snapshot]
    is_steady: bool

    def repeat(self, simulator: SmSimulator, thread_blocks: int) -> None:
        """Counts what lies between, instead of walking as many of these as it can."""
        first, _, third, last = self.ends
        for begin in (first, third):
            stretch = last.thread_blocks - begin.thread_blocks
            simulator.repeat(begin, last, (thread_blocks - simulator.dispatched) // stretch)


def steady_stretch(
    simulator: SmSimulator,
    begins: int,
    period: int,
    ends: int,
    most_instructions: int = MOST_INSTRUCTIONS,
) -> SteadyStretch | None:
    """Three consecutive stretches that are alike, or the longest ones affordable.

    None when there is no room for them. Walks `simulator` from `begins` completed thread blocks,
    which fill the SM, up to `ends` at most, and beyond half of `most_instructions` only where less
    is not three stretches. Stretches are 1, 2, 4, ... times `period` thread blocks long.
    """
    completed, walked = begins, list[Snapshot]()
    while completed + period <= ends:
        walked.append(simulator.run(completed + period))
        completed = walked[-1].thread_blocks
        if len(walked) < 4:
            continue
        if are_alike(walked) or 2 * simulator.simulated_instructions > most_instructions:
            first, second, third, last = walked
            return SteadyStretch((first, second, third, last), take_as_long(walked))
        period, walked = 2 * period, [walked[1], walked[3]]
    return None


def are_alike(ends: Sequence[Snapshot]) -> bool:
    """Whether thread blocks did alike in each stretch between `ends`.

    They took as long, and lost as many slots for each reason.
    """
    slots = _of_a_thread_block([end.slots for end in ends], ends)
    within = _SLOTS_WITHIN * slots.sum(axis=1).mean()
    return take_as_long(ends) and bool((np.ptp(slots, axis=0) <= within).all())


def take_as_long(ends: Sequence[Snapshot]) -> bool:
    """Whether thread blocks took as long in each stretch between `ends`.

    They must have left as much behind for the memory to do, too.
    """
    cycles = _of_a_thread_block([end.cycles for end in ends], ends)
    growth = abs(ends[-1].backlog - ends[0].backlog)
    return bool(
        np.ptp(cycles) <= _CYCLES_WITHIN * cycles.mean()
        and growth <= _BACKLOG_WITHIN * (ends[-1].cycles - ends[0].cycles)
    )


def _of_a_thread_block(sums: Sequence[Any], ends: Sequence[Snapshot]) -> Floats:
    """Means per thread block in each stretch; the first axis is that of the stretches."""
    thread_blocks = np.diff([end.thread_blocks for end in ends])
    found: Floats = (np.diff(np.array(sums), axis=0).T / thread_blocks).T
    return found
