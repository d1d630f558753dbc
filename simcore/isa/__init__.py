"""The instruction set: types, the opcode table and the intermediate representation."""

# importing a family enters its opcodes in the table
from kernelcast.simcore.isa import (
    arithmetic,
    bit_search,
    bits,
    comparison,
    conversion,
    extended_precision,
    logic,
    movement,
    multiplication,
    opencl_math,
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
    "logic",
    "movement",
    "multiplication",
    "opencl_math",
    "transcendental",
    "video",
]
