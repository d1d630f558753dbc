"""Pipes that instructions take for some cycles."""

from __future__ import annotations

import math

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import PASSES, KernelArrays, word
from kernelcast.simcore.timing.walk.packed_words import pack
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_state import CLOSED, OPENS, SmState, pipe_word

__all__ = ["access_shared", "use_pipe"]

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
def access_shared(
    kernel: KernelArrays, machine: Machine, state: SmState, pipe: int, row: int, at: int
) -> int:
    """When an access of cycle `at` to shared memory is done, packed."""
    cycles = kernel.traffic[word(row, PASSES)] * machine.shared_cycles
    begins = use_pipe(machine, state, pipe, at, cycles) + max(cycles - 1.0, 0.0)
    ends: int = math.ceil(begins) + machine.shared_latency
    return pack(ends, _SHARED)
