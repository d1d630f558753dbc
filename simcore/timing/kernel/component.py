"""What a simulation can leave out, to say what it costs."""

from __future__ import annotations

from enum import Enum

__all__ = ["Component"]


class Component(Enum):
    """A part of the machine without which the launch is timed again.

    A pipeline that is left out takes no cycle, a latency is that of the next issue, a bandwidth or
    a queue has no end. What is of the kernel, such as double precision, bank conflicts or
    divergence, is taken from the kernel instead (`relieved_kernel`).
    """

    ISSUE = "instruction issue"
    FP32 = "fp32 lanes"
    FP64 = "double precision"
    HALF = "half-precision lanes"
    INTEGER = "integer lanes"
    INTEGER_MULTIPLY = "integer multipliers"
    CONVERSION = "conversion lanes"
    SPECIAL_FUNCTION = "special-function lanes"
    SHUFFLE = "shuffle lanes"
    VECTOR = "vector lanes"
    SCALAR = "scalar unit"
    TENSOR = "tensor units"
    ARITHMETIC_LATENCY = "arithmetic latency"
    SHARED_PIPE = "shared-memory bandwidth"
    SHARED_LATENCY = "shared-memory latency"
    BANK_CONFLICTS = "bank conflicts"
    CONSTANT_SERIALISATION = "constant serialisation"
    CONSTANT_LATENCY = "constant latency"
    TEXTURE = "texture units"
    L1_BANDWIDTH = "L1 bandwidth"
    L2_BANDWIDTH = "L2 bandwidth"
    DRAM_BANDWIDTH = "DRAM bandwidth"
    MEMORY_LATENCY = "memory latency"
    OUTSTANDING_REQUESTS = "limit of outstanding requests"
    ATOMICS = "contended atomics"
    BARRIER = "barriers"
    FENCE = "fences"
    BRANCH = "branch latency"
    INSTRUCTION_FETCH = "instruction fetch"
    THREAD_BLOCK_LAUNCH = "thread-block launch"
    UNCOALESCED = "uncoalesced accesses"
    LOCAL_MEMORY = "local memory"
    DIVERGENCE = "divergence"
    UNEQUAL_WARPS = "unequal warps"
    OCCUPANCY = "limits of occupancy"
    LAUNCH_OVERHEAD = "launch overhead"
    IMBALANCE = "imbalance over SMs"
    TAIL = "tail of the last wave"
