"""What a module may ask of a device."""

from __future__ import annotations

from enum import IntEnum

from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.published_tables import capability_names

__all__ = ["Capability", "check_capability"]


class Capability(IntEnum):
    """The capabilities that the reader covers."""

    ADDRESSES = 4
    LINKAGE = 5
    KERNEL = 6
    VECTOR16 = 7
    FLOAT16_BUFFER = 8
    FLOAT16 = 9
    FLOAT64 = 10
    INT64 = 11
    INT64_ATOMICS = 12
    IMAGE_BASIC = 13
    IMAGE_READ_WRITE = 14
    GROUPS = 18
    LITERAL_SAMPLER = 20
    INT16 = 22
    GENERIC_POINTER = 38
    INT8 = 39
    SAMPLED_1D = 43
    IMAGE_1D = 44
    SAMPLED_BUFFER = 46
    IMAGE_BUFFER = 47
    IMAGE_QUERY = 50
    SUBGROUP_DISPATCH = 58
    GROUP_NON_UNIFORM = 61
    GROUP_NON_UNIFORM_VOTE = 62
    GROUP_NON_UNIFORM_ARITHMETIC = 63
    GROUP_NON_UNIFORM_BALLOT = 64
    GROUP_NON_UNIFORM_SHUFFLE = 65
    GROUP_NON_UNIFORM_SHUFFLE_RELATIVE = 66
    GROUP_NON_UNIFORM_CLUSTERED = 67
    SUBGROUP_BALLOT_KHR = 4423
    SUBGROUP_VOTE_KHR = 4431
    SUBGROUP_SHUFFLE_INTEL = 5568
    SUBGROUP_BUFFER_BLOCK_IO_INTEL = 5569
    ATOMIC_FLOAT32_MIN_MAX = 5612
    ATOMIC_FLOAT64_MIN_MAX = 5613
    EXPECT_ASSUME = 5629
    ATOMIC_FLOAT32_ADD = 6033
    ATOMIC_FLOAT64_ADD = 6034
    FAST_MATH_MODE = 5837
    GROUP_NON_UNIFORM_ROTATE_KHR = 6026
    OPTNONE = 6094
    GROUP_UNIFORM_ARITHMETIC_KHR = 6400


def check_capability(number: int) -> None:
    """Raises SpirvProblem, with the capability's name, for one that is not covered."""
    if number in set(Capability):
        return
    name = capability_names().get(number, f"number {number}")
    raise SpirvProblem(f"capability {name} is not supported", is_unsupported=True)
