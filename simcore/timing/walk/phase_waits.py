"""When the phases end that warps wait for: cells of thread blocks, in compiled functions."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import noinline
from kernelcast.simcore.timing.kernel.stall_reasons import REASON_BITS, StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import KernelArrays
from kernelcast.simcore.timing.walk.phase_cells import CELL_WORDS, LEFT, LIST_HEAD, PHASE_READY
from kernelcast.simcore.timing.walk.sm_reads import warp_place, warp_position
from kernelcast.simcore.timing.walk.sm_state import (
    NEVER,
    SmState,
)

__all__ = ["NOT_YET", "begin_phases", "end_phases", "phases_ended"]

NOT_YET = NEVER << REASON_BITS | StallReason.BARRIER.code
"""When a phase ends that still lacks events, packed: all that is known is that others are late."""


@noinline
def begin_phases(kernel: KernelArrays, state: SmState, place: int, recorded: int) -> None:
    """Sets the cells of a thread block that follows the paths of a recorded one."""
    first = kernel.phase_first[np.uint64(recorded)]
    for number in range(kernel.phase_first[np.uint64(recorded + 1)] - first):
        cell = (place * kernel.phases + number) * CELL_WORDS
        state.phase[np.uint64(cell + LEFT)] = kernel.phase_needs[np.uint64(first + number)]
        state.phase[np.uint64(cell + PHASE_READY)] = 0


@noinline
def phases_ended(kernel: KernelArrays, state: SmState, warp: int) -> int:
    """When all phases have ended that the warp's next event waits for, packed.

    NOT_YET while one lacks events.
    """
    place = warp_place(state, warp)
    at = kernel.event_phases[np.uint64(warp_position(state, warp))]
    first = at + LIST_HEAD + kernel.phase_lists[np.uint64(at)]
    ended = 0
    for entry in range(first, first + kernel.phase_lists[np.uint64(at + 1)]):
        number = kernel.phase_lists[np.uint64(entry)]
        cell = (place * kernel.phases + number) * CELL_WORDS
        if state.phase[np.uint64(cell + LEFT)] > 0:
            return NOT_YET
        ended = max(ended, state.phase[np.uint64(cell + PHASE_READY)])
    return ended


@noinline
def end_phases(kernel: KernelArrays, state: SmState, warp: int, ended: int) -> None:
    """Has all phases end then, packed, that the warp's next event waits for."""
    place = warp_place(state, warp)
    at = kernel.event_phases[np.uint64(warp_position(state, warp))]
    first = at + LIST_HEAD + kernel.phase_lists[np.uint64(at)]
    for entry in range(first, first + kernel.phase_lists[np.uint64(at + 1)]):
        number = kernel.phase_lists[np.uint64(entry)]
        cell = (place * kernel.phases + number) * CELL_WORDS
        state.phase[np.uint64(cell + LEFT)] = 0
        state.phase[np.uint64(cell + PHASE_READY)] = ended
