"""Damaged SPIR-V ends in text or in a KernelcastError, and soon."""

from __future__ import annotations

import random
import struct
import time
from collections import Counter
from pathlib import Path

import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.spirv import read_spirv

DATA = Path(__file__).parent / "data"
WHOLE = [file.read_bytes() for file in sorted(DATA.glob("spirv_*.spv"))]
MUTANTS = 1000
SECONDS = 2.0
HEADER_WORDS, WORD = 5, 4


def outcome(content: bytes) -> str:
    """`text`, or the kind of error; any other exception ends the test."""
    try:
        read_spirv(content, "mutant")
    except KernelcastError as error:
        return type(error).__name__
    return "text"


def some_word(random_: random.Random, content: bytes | bytearray) -> int:
    return random_.randrange(HEADER_WORDS, len(content) // WORD) * WORD


def flipped(random_: random.Random, content: bytearray) -> None:
    content[random_.randrange(len(content))] ^= 1 << random_.randrange(8)


def replaced(random_: random.Random, content: bytearray) -> None:
    """A word by another one of the module, or by a remarkable number."""
    other = struct.unpack_from("<I", content, some_word(random_, content))[0]
    number = random_.choice([0, 1, random_.randrange(600), 1 << 31, 0xFFFFFFFF, other, other])
    struct.pack_into("<I", content, some_word(random_, content), number)


def moved(random_: random.Random, content: bytearray) -> None:
    """An instruction to another place, which leaves the stream of instructions whole."""
    starts, at = [], HEADER_WORDS * WORD
    while at < len(content):
        starts.append(at)
        at += max(1, struct.unpack_from("<I", content, at)[0] >> 16) * WORD
    source, target = random_.choice(starts), random_.choice(starts)
    size = (struct.unpack_from("<I", content, source)[0] >> 16) * WORD
    content[target:target] = content[source : source + size]


@pytest.mark.parametrize("damage", [flipped, replaced, moved])
def test_damaged_modules(damage: object) -> None:
    assert callable(damage)
    random_ = random.Random(30)
    outcomes: Counter[str] = Counter()
    for _ in range(MUTANTS):
        mutant = bytearray(random_.choice(WHOLE))
        for _ in range(random_.choice([1, 1, 2, 3])):
            damage(random_, mutant)
        before = time.process_time()
        outcomes[outcome(bytes(mutant))] += 1
        assert time.process_time() - before < SECONDS
    assert {"text", "SpirvError"} <= set(outcomes)


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
    assert outcome(words(*integer, *doubled)) == "UnsupportedInstruction"
