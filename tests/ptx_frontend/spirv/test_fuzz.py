"""Damaged SPIR-V ends in text or in a KernelcastError, and soon."""

from __future__ import annotations

import struct
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.spirv import read_spirv

DATA = Path(__file__).parents[1] / "data"
WHOLE = [file.read_bytes() for file in sorted(DATA.glob("spirv_*.spv"))]


def outcome(content: bytes) -> str:
    """`text`, or the kind of error; any other exception ends the test."""
    try:
        read_spirv(content, "mutant")
    except KernelcastError as error:
        return type(error).__name__
    return "text"


def test_modules_that_are_cut_off() -> None:
    for whole in WHOLE:
        assert outcome(whole) == "text"
        for size in range(0, len(whole) - 1, 61):
            assert outcome(whole[:size]) == "SpirvError"


def words(*instructions: tuple[int, ...]) -> bytes:
    """A module of instructions that are given as (opcode, operands ...)."""
    stream = [0x07230203, 0x10000, 0, 1 << 20, 0]
    for opcode, *operands in instructions:
        stream += [(len(operands) + 1) << 16 | opcode, *operands]
    return struct.pack(f"<{len(stream)}I", *stream)


INT, ARRAY, STRUCT, CONSTANT, COMPOSITE = 21, 28, 30, 43, 44


def test_types_and_constants_that_grow_without_end() -> None:
    """Every one is made of two of the one before it."""
    integer = ((INT, 1, 32, 0), (CONSTANT, 1, 2, 2))
    nested = [(STRUCT, 10 + n, 9 + n if n else 1, 9 + n if n else 1) for n in range(300)]
    assert outcome(words(*integer, *nested)) == "SpirvError"
    arrays = [(ARRAY, 10 + n, 9 + n if n else 1, 2) for n in range(300)]
    assert outcome(words(*integer, *arrays)) == "SpirvError"
    doubled: list[tuple[int, ...]] = []
    for n in range(60):
        element, value = (1, 2) if n == 0 else (9 + n, 499 + n)
        doubled += [(ARRAY, 10 + n, element, 2), (COMPOSITE, 10 + n, 500 + n, value, value)]
    assert outcome(words(*integer, *doubled)) == "text"  # nothing takes the long ones
