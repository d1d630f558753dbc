"""Why an issue slot went unused or a warp waited, under the names of NVIDIA's profilers."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "ISSUED",
    "NOT_SELECTED",
    "REASON_BITS",
    "REASON_COUNT",
    "REASON_MASK",
    "SELECTED",
    "STATE_COUNT",
    "StallReason",
]

REASON_BITS = 6
REASON_MASK = (1 << REASON_BITS) - 1
"""A cycle and what is waited for until then are packed in one word, comparable by the cycle."""

ISSUED = 0
"""The code of slots that were used; reasons have the codes from 1 on, in the order below."""


class StallReason(Enum):
    """`nvprof` and `ncu`: the last part of the metric's name (stall_..., issue_stalled_...).

    A slot that waits for memory counts as bandwidth while requests queue up at the level, as
    latency otherwise.
    """

    EXECUTION_DEPENDENCY = ("exec_dependency", "wait")
    SHARED_DEPENDENCY = ("exec_dependency", "short_scoreboard")
    CONSTANT_DEPENDENCY = ("constant_memory_dependency", "imc_miss")
    L1_LATENCY = ("memory_dependency", "long_scoreboard", "L1")
    L2_LATENCY = ("memory_dependency", "long_scoreboard", "L2")
    DRAM_LATENCY = ("memory_dependency", "long_scoreboard", "DRAM")
    L2_BANDWIDTH = ("memory_dependency", "long_scoreboard", "L2 queue")
    DRAM_BANDWIDTH = ("memory_dependency", "long_scoreboard", "DRAM queue")
    ATOMICS = ("memory_dependency", "long_scoreboard", "atomics on one address")
    L1_PIPE = ("memory_throttle", "lg_throttle", "L1 pipe")
    REQUESTS_LATENCY = ("memory_throttle", "lg_throttle", "requests wait")
    REQUESTS_L2 = ("memory_throttle", "lg_throttle", "requests wait for L2")
    REQUESTS_DRAM = ("memory_throttle", "lg_throttle", "requests wait for DRAM")
    SHARED_PIPE = ("pipe_busy", "mio_throttle", "shared memory")
    CONSTANT_PIPE = ("pipe_busy", "mio_throttle", "constant cache")
    BARRIER = ("sync", "barrier")
    FENCE = ("sync", "membar")
    BRANCH = ("inst_fetch", "branch_resolving")
    INSTRUCTION_FETCH = ("inst_fetch", "no_instruction")
    THREAD_BLOCK_LAUNCH = ("other", "misc", "launch")
    DRAIN = ("other", "drain")
    IDLE = ("not_resident", "not_resident")
    FP32_PIPE = ("pipe_busy", "math_pipe_throttle", "fp32")
    FP64_PIPE = ("pipe_busy", "math_pipe_throttle", "fp64")
    HALF_PIPE = ("pipe_busy", "math_pipe_throttle", "half")
    INTEGER_PIPE = ("pipe_busy", "math_pipe_throttle", "integer")
    INTEGER_MULTIPLY_PIPE = ("pipe_busy", "math_pipe_throttle", "integer multiply")
    CONVERSION_PIPE = ("pipe_busy", "math_pipe_throttle", "conversion")
    SPECIAL_FUNCTION_PIPE = ("pipe_busy", "math_pipe_throttle", "special function")
    SHUFFLE_PIPE = ("pipe_busy", "math_pipe_throttle", "shuffle")
    VECTOR_PIPE = ("pipe_busy", "math_pipe_throttle", "vector")
    SCALAR_PIPE = ("pipe_busy", "math_pipe_throttle", "scalar")
    TENSOR_PIPE = ("pipe_busy", "math_pipe_throttle", "tensor")

    def __init__(self, nvprof: str, ncu: str, detail: str = "") -> None:
        self.nvprof = nvprof
        self.ncu = ncu
        self.detail = detail

    @property
    def code(self) -> int:
        """The column of the simulator's account."""
        return ISSUED + 1 + list(StallReason).index(self)


REASON_COUNT = 1 + len(StallReason)

SELECTED = ISSUED
"""The state of a warp that issues."""
NOT_SELECTED = REASON_COUNT
"""The state of a warp that could issue while its scheduler picks another."""
STATE_COUNT = REASON_COUNT + 1
