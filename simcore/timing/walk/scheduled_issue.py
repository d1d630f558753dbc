"""What the control bits of machine code change about the issue of an instruction.

The assembler has counted the cycles until the warp's next instruction may issue, and names the
scoreboard that is free when the operands have been read. Each of the two banks of registers gives a
register a cycle; what it is behind by more than the time in which an instruction reads its operands
keeps the instruction's pipe closed (Huerta et al. 2025, arXiv:2503.20481, sections 4 and 5.3).
"""

from __future__ import annotations

import math

import numpy as np

from kernelcast.simcore.host.compiled import inlined, unlikely
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    ADDRESS,
    AFTER,
    BANK_READS,
    BRANCH,
    BYTES,
    READS,
    SHARED,
    STALL,
    YIELDS,
    KernelArrays,
    kind_word,
    word,
)
from kernelcast.simcore.timing.walk.packed_words import pack
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import (
    warp_end,
    warp_pipe,
    warp_position,
    warp_scheduler,
)
from kernelcast.simcore.timing.walk.sm_state import L1_FREE, LAST, SmState, scheduler_word

__all__ = ["earliest_next", "note_reads", "read_banks", "turn_away"]

_EXECUTION = StallReason.EXECUTION_DEPENDENCY.code
_READ_CYCLES = 3.0
"""Cycles in which an instruction of a fixed latency reads its operands."""


@inlined
def earliest_next(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, row: int, kind: int, now: int
) -> int:
    """When the warp may issue its next instruction whatever that waits for, packed.

    A branch that is not taken holds up nobody beyond its stall.
    """
    after: int = pack(now, 0) + machine.kinds[kind_word(kind, AFTER)]
    if not kernel.is_scheduled:
        return after
    stalled: int = pack(now + kernel.schedule[word(row, STALL)], _EXECUTION)
    if unlikely(kind == BRANCH) and not _jumps(kernel, state, warp, row):
        return stalled
    return max(after, stalled)


@inlined
def _jumps(kernel: KernelArrays, state: SmState, warp: int, row: int) -> bool:
    """Whether the code of the warp's next event is not that behind this row's."""
    position = warp_position(state, warp) + 1
    if position >= warp_end(state, warp):
        return False
    following = kernel.event_row[np.uint64(position)]
    step = kernel.schedule[word(following, ADDRESS)] - kernel.schedule[word(row, ADDRESS)]
    is_far: bool = step != 0 and step != kernel.schedule[word(row, BYTES)]
    return is_far


@inlined
def note_reads(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, row: int, kind: int, now: int
) -> None:
    """Holds the scoreboard of the operands until an instruction of cycle `now` has read them."""
    reader = kernel.schedule[word(row, READS)]
    if reader == kernel.registers - 1:
        return
    read = now + machine.operand_read
    if kind > SHARED:
        read = max(read, math.ceil(state.clocks[L1_FREE]))
    elif kind == SHARED:
        read = max(read, math.ceil(state.free[np.uint64(warp_pipe(state, warp))]))
    register = np.uint64(warp * kernel.registers + reader)
    state.registers[register] = max(state.registers[register], pack(read, _EXECUTION))


@inlined
def read_banks(kernel: KernelArrays, state: SmState, warp: int, row: int, now: int) -> float:
    """Takes the reads of an instruction from the banks; cycles that they keep its pipe."""
    first = 2 * warp_scheduler(state, warp)
    latest = float(now)
    for bank in range(2):
        at = np.uint64(first + bank)
        free = max(state.banks[at], float(now)) + kernel.schedule[word(row, BANK_READS + bank)]
        state.banks[at] = free
        latest = max(latest, free)
    behind: float = latest - float(now) - (_READ_CYCLES - 1.0)
    return behind


@inlined
def turn_away(kernel: KernelArrays, state: SmState, scheduler: int, row: int) -> None:
    """Lets a scheduler turn to another warp, if the instruction that it has issued yields."""
    # Without a branch: all bits where it does not yield, none where it does.
    state.scheduler[scheduler_word(scheduler, LAST)] &= kernel.schedule[word(row, YIELDS)] - 1
