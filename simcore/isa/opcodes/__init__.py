"""The opcode table: one entry an opcode, with its types, its unit and its meaning in NumPy.

`table` holds the registry, `columns` what an entry may say for other rooms; each family of opcodes
is a module, whose twin in `llvm` says the same as LLVM IR. Imports `numerics` and the scalar types.
"""

# importing a family enters its opcodes in the table
from kernelcast.simcore.isa.opcodes import (
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
