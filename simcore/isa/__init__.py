"""The instruction set: types, the opcode table and the intermediate representation."""

# importing a family enters its opcodes in the table
from kernelcast.simcore.isa import (
    arithmetic,
    bits,
    comparison,
    conversion,
    logic,
    movement,
    multiplication,
    transcendental,
)

__all__ = [
    "arithmetic",
    "bits",
    "comparison",
    "conversion",
    "logic",
    "movement",
    "multiplication",
    "transcendental",
]
