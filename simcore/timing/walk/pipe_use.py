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
    l1: float = state.clocks[L1_FREE]
    loads, stores = common_pipe(machine, LOAD), common_pipe(machine, STORE)
    next_issue = at + machine.issue_cycles
    if machine.bank_share > 0.0:
        shared = common_pipe(machine, SHARED)
        taken = state.free[np.uint64(shared)]
        close_pipe(state, shared, next_issue, int(taken) - machine.issue_cycles + 1)
        l1 = max(l1, taken)
    opens = int(l1) - machine.issue_cycles + 1
    close_pipe(state, loads, next_issue, max(opens, state.counts[LOAD_QUEUE]))
    close_pipe(state, stores, next_issue, max(opens, state.counts[STORE_QUEUE]))


@inlined
def access_shared(
    kernel: KernelArrays, machine: Machine, state: SmState, pipe: int, row: int, at: int
) -> int:
    """When an access of cycle `at` to shared memory is done, packed.

    Where the banks are those of L1, too, it goes behind what that has taken.
    """
    passes = kernel.traffic[word(row, PASSES)]
    cycles = max(passes * machine.shared_cycles, machine.access_cycles)
    begins = use_pipe(machine, state, pipe, at, cycles)
    if machine.bank_share > 0.0:
        close_accesses(machine, state, at)
    begins += max(cycles - 1.0, 0.0)
    ends: int = math.ceil(begins) + machine.shared_latency
    return pack(ends, _SHARED)
