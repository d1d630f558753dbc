"""Where the issue slots of one SM went, and what its warps waited for, by instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, StallReason

if TYPE_CHECKING:
    from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["SlotAccount", "slot_account"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SlotAccount:
    """What an SM did in `cycles`, until the first SMs run dry; it has `slots_per_cycle`.

    Rows are the instructions of the trace by pc, a last one is none at all. `slots`, shape
    (instructions + 1, reasons): issued in column ISSUED, lost in those of `StallReason.code`.
    `warp_cycles`, shape (instructions + 1, states): what each warp did in each cycle, the columns
    of SELECTED, `StallReason.code` and NOT_SELECTED.
    """

    cycles: int
    slots_per_cycle: float
    slots: Ints
    warp_cycles: Ints

    @property
    def issued(self) -> int:
        """Slots in which a scheduler issued."""
        return int(self.slots[:, ISSUED].sum())

    @property
    def total(self) -> int:
        """All slots, issued and lost."""
        return int(self.slots.sum())

    def lost(self, reason: StallReason) -> int:
        """Slots that were lost for that reason."""
        return int(self.slots[:, reason.code].sum())

    def stalled(self, reason: StallReason) -> int:
        """Cycles in which warps waited for that reason, as profilers sample them."""
        return int(self.warp_cycles[:, reason.code].sum())


def slot_account(timing: LaunchTiming, kernel: TimedKernel) -> SlotAccount:
    """The account of a launch by the instructions of its trace, as far as the last one timed.

    What native code executes for one instruction of a source form is added up there.
    """
    return SlotAccount(
        timing.full_cycles,
        timing.slots_per_cycle,
        _by_traced(timing.slots.sum(axis=0), kernel.traced),
        _by_traced(timing.warp_cycles, kernel.traced),
    )


def _by_traced(rows: Ints, traced: npt.NDArray[np.intp] | None) -> Ints:
    """The rows of timed instructions, the last of which is none, as those of the trace."""
    if traced is None:
        return rows
    places = np.append(traced, traced.max(initial=-1) + 1)
    found = np.zeros((int(places[-1]) + 1, rows.shape[1]), np.int64)
    np.add.at(found, places, rows)
    return found
