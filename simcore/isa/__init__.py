"""The instruction set: types, the opcode table and the intermediate representation."""

# importing a family enters its opcodes in the table
from kernelcast.simcore.isa import (
    arithmetic,
    bit_search,
    bits,
    comparison,
    conversion,
    extended_precision,
    guarded_arithmetic,
    integer_packing,
    logic,
    mixed_precision,
    movement,
    multiplication,
    opencl_math,
    random_rounding,
    transcendental,
    video,
)

__all__ = [
    "arithmetic",
    "bit_search",
    "bits",
    "comparison",
    "conversion",
    "extended_precision",
    "guarded_arithmetic",
    "integer_packing",
    "logic",
    "mixed_precision",
    "movement",
    "multiplication",
    "opencl_math",
    "random_rounding",
    "transcendental",
    "video",
]
