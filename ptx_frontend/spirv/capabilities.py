"""What a module may ask of a device."""

from __future__ import annotations

from enum import IntEnum

from kernelcast.ptx_frontend.spirv.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.published_tables import capability_names

__all__ = ["Capability", "check_capability"]


class Capability(IntEnum):
    """Those that the reader covers."""

    ADDRESSES = 4
    LINKAGE = 5
    KERNEL = 6
    VECTOR16 = 7
    FLOAT16_BUFFER = 8
    FLOAT16 = 9
    FLOAT64 = 10
    INT64 = 11
    INT64_ATOMICS = 12
    GROUPS = 18
    INT16 = 22
    GENERIC_POINTER = 38
    INT8 = 39
    SUBGROUP_DISPATCH = 58
    ATOMIC_FLOAT32_MIN_MAX = 5612
    ATOMIC_FLOAT64_MIN_MAX = 5613
    EXPECT_ASSUME = 5629
    ATOMIC_FLOAT32_ADD = 6033
    ATOMIC_FLOAT64_ADD = 6034
    FAST_MATH_MODE = 5837
    OPTNONE = 6094


def check_capability(number: int) -> None:
    """SpirvProblem, with the name of the capability, for one that is not covered."""
    if number in set(Capability):
        return
    name = capability_names().get(number, f"number {number}")
    raise SpirvProblem(f"capability {name} is not supported", is_unsupported=True)
