"""Pipes that instructions take for some cycles."""

from __future__ import annotations

import math

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    LOAD,
    PASSES,
    SHARED,
    STORE,
    KernelArrays,
    word,
)
from kernelcast.simcore.timing.walk.packed_words import pack
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_state import (
    CLOSED,
    L1_FREE,
    LOAD_QUEUE,
    OPENS,
    STORE_QUEUE,
    SmState,
    common_pipe,
    pipe_word,
)
from kernelcast.simcore.timing.walk.warp_account import close_pipe

__all__ = ["access_shared", "close_accesses", "use_pipe"]

_SHARED = StallReason.SHARED_DEPENDENCY.code


@inlined
def use_pipe(machine: Machine, state: SmState, pipe: int, at: int, cycles: float) -> float:
    """When an instruction of cycle `at` begins in its open pipe, which is then taken for `cycles`.

    It opens to the issue in whose cycles it becomes free.
    """
    begins: float = max(state.free[np.uint64(pipe)], float(at))
    state.free[np.uint64(pipe)] = begins + cycles
    opens = int(begins + cycles) - machine.issue_cycles + 1
    state.pipe[pipe_word(pipe, CLOSED)] += max(0, opens - at - machine.issue_cycles)
    state.pipe[pipe_word(pipe, OPENS)] = opens
    return begins


@inlined
def close_accesses(machine: Machine, state: SmState, at: int) -> None:
    """Keeps the pipes of accesses closed after one of cycle `at` while L1 is taken.

    Loads and stores share the way to L1, and each kind has a queue; shared memory is behind the
    same way where it lies in the same banks.
    """
    taken = state.clocks[L1_FREE]
    l1 = int(taken) - machine.issue_cycles + 1
    loads, stores = common_pipe(machine, LOAD), common_pipe(machine, STORE)
    next_issue = at + machine.issue_cycles
    close_pipe(state, loads, next_issue, max(l1, state.counts[LOAD_QUEUE]))
    close_pipe(state, stores, next_issue, max(l1, state.counts[STORE_QUEUE]))
    if machine.has_common_banks:
        shared = common_pipe(machine, SHARED)
        state.free[np.uint64(shared)] = taken
        close_pipe(state, shared, next_issue, l1)


@inlined
def access_shared(
    kernel: KernelArrays, machine: Machine, state: SmState, pipe: int, row: int, at: int
) -> int:
    """When an access of cycle `at` to shared memory is done, packed.

    Where the banks are those of L1, too, it goes behind what that has taken.
    """
    cycles = kernel.traffic[word(row, PASSES)] * machine.shared_cycles
    if machine.has_common_banks:
        begins: float = max(state.clocks[L1_FREE], float(at))
        state.clocks[L1_FREE] = begins + cycles
        close_accesses(machine, state, at)
    else:
        begins = use_pipe(machine, state, pipe, at, cycles)
    begins += max(cycles - 1.0, 0.0)
    ends: int = math.ceil(begins) + machine.shared_latency
    return pack(ends, _SHARED)
