"""What the events of warp paths do to the phases of barriers and mbarriers, and wait for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["PhaseTable"]


@dataclass(frozen=True)
class PhaseTable:
    """Which events take part in phases of barriers, and which wait for them.

    In each row an `event` takes part in a `phase` of a `barrier`, so that the phase cannot end
    before that; where `is_wait` it waits until that phase has ended. Barriers have numbers,
    mbarriers a new one each time that they are initialised; each is in the shared memory of
    `thread_block[barrier]`, a position among the recorded ones. Phases count from 0. A table
    without rows says nothing: kernels without mbarriers and barriers for a part of the thread block
    have none.
    """

    event: npt.NDArray[np.int64]
    barrier: npt.NDArray[np.int32]
    phase: npt.NDArray[np.int32]
    is_wait: npt.NDArray[np.bool_]
    thread_block: npt.NDArray[np.int32]

    @classmethod
    def empty(cls) -> PhaseTable:
        """A table without rows."""
        none = np.empty(0, np.int32)
        return cls(np.empty(0, np.int64), none, none, np.empty(0, np.bool_), none)

    def __len__(self) -> int:
        return len(self.event)
