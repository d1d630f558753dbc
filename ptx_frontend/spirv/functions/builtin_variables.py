"""Variables that hold the place of a work-item: calls of OpenCL's work-item functions."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem

__all__ = ["BuiltInVariable", "builtin_variable"]


@dataclass(frozen=True, slots=True)
class BuiltInVariable:
    """`function` gives the value; of one dimension if `is_vector`. `is_size`: it gives size_t."""

    function: str
    is_vector: bool = False
    is_size: bool = False


_VARIABLES = {
    24: BuiltInVariable("get_num_groups", True, True),
    25: BuiltInVariable("get_local_size", True, True),
    26: BuiltInVariable("get_group_id", True, True),
    27: BuiltInVariable("get_local_id", True, True),
    28: BuiltInVariable("get_global_id", True, True),
    29: BuiltInVariable("get_local_linear_id", False, True),
    30: BuiltInVariable("get_work_dim"),
    31: BuiltInVariable("get_global_size", True, True),
    32: BuiltInVariable("get_enqueued_local_size", True, True),
    33: BuiltInVariable("get_global_offset", True, True),
    34: BuiltInVariable("get_global_linear_id", False, True),
    36: BuiltInVariable("get_sub_group_size"),
    37: BuiltInVariable("get_max_sub_group_size"),
    38: BuiltInVariable("get_num_sub_groups"),
    39: BuiltInVariable("get_enqueued_num_sub_groups"),
    40: BuiltInVariable("get_sub_group_id"),
    41: BuiltInVariable("get_sub_group_local_id"),
}


def builtin_variable(number: int) -> BuiltInVariable:
    """The built-in variable by the number that the decoration BuiltIn has."""
    found = _VARIABLES.get(number)
    if found is None:
        raise SpirvProblem(f"built-in variable {number} is not supported", is_unsupported=True)
    return found
