"""Sums of halves, guards and loops of SASS compute what Python's integers say, after all passes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from kernelcast.ptx_frontend.sass.lowering import wide_sums
from kernelcast.ptx_frontend.sass.passes import live_ranges, register_pairs, wholes
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Compute
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.text_programs import (
    LANES,
    WORDS,
    TextMaker,
    interpreted,
    kernel_from,
)
from tests.ptx_frontend.sass.wide_texts import WideMaker

PROGRAMS = 100
NUMBER = 0x7FFF_FFF0_8000_0005
HARD = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFF8)


def _differs(lines: list[str], seed: int, engine: str = "reference") -> bool:
    random = np.random.default_rng(seed)
    words = random.integers(0, 1 << 32, (LANES, WORDS), dtype=np.uint32)
    hard = random.random((LANES, WORDS)) < 0.4
    words[hard] = random.choice(np.array(HARD, np.uint32), int(hard.sum()))
    memory = words.copy()
    launch = Launch((1, 1, 1), (LANES, 1, 1), (memory, NUMBER))
    execute(kernel_from(lines), launch, engine=engine)
    return not np.array_equal(memory, interpreted(lines, words, NUMBER))


def _program(seed: int) -> list[str]:
    random = Random(seed)
    return TextMaker(random).lines(random.randint(3, 22))


def test_random_programs_compute_what_integers_say() -> None:
    wrong = [seed for seed in range(PROGRAMS) if _differs(_program(seed), seed)]
    assert not wrong, "\n".join([f"seed {wrong[0]}", *_program(wrong[0])])


def test_compiled_programs_compute_it_too() -> None:
    wrong = [seed for seed in range(1000, 1006) if _differs(_program(seed), seed, "jit")]
    assert not wrong, "\n".join([f"seed {wrong[0]}", *_program(wrong[0])])


def _wide_program(seed: int) -> list[str]:
    random = Random(seed)
    return WideMaker(random).lines(random.randint(3, 14))


def test_random_programs_over_halves_compute_what_integers_say() -> None:
    wrong = [seed for seed in range(PROGRAMS) if _differs(_wide_program(seed), seed)]
    assert not wrong, "\n".join([f"seed {wrong[0]}", *_wide_program(wrong[0])])


def test_compiled_programs_over_halves_compute_it_too() -> None:
    wrong = [seed for seed in range(1000, 1008) if _differs(_wide_program(seed), seed, "jit")]
    assert not wrong, "\n".join([f"seed {wrong[0]}", *_wide_program(wrong[0])])


def _is_caught(program: Callable[[int], list[str]] = _program) -> bool:
    return any(_differs(program(seed), seed) for seed in range(PROGRAMS))


def _first_half_is_right(low: object, high: object) -> bool:
    return low != high


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (wide_sums, "may_write", lambda *_: False),
        (wide_sums, "is_upper", _first_half_is_right),
        (wide_sums, "_signed", lambda *_: False),
        (live_ranges, "_define", lambda needs, index, *_: bool(needs.pop(index, True)) or True),
        (register_pairs._PairFlow, "after", lambda flow, *_: flow.all),
    ],
)
def test_a_planted_fault_is_caught(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, wrong: object
) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert _is_caught()


@pytest.mark.parametrize("name", ["_is_upper_of", "_is_lower_of", "_is_sign"])
def test_a_planted_fault_over_halves_is_caught(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(wholes.Wholes, name, lambda *_: True)
    assert _is_caught(_wide_program)


_PROGRAM_OF_HALVES = [
    "MOV R41, 0x5",
    ".L_1:",
    "IMAD R8, R4, 0x3, RZ",
    "LOP3.LUT R0, R9, 0x1, RZ, 0xc0, !PT",
    "ISETP.NE.U32.AND P0, PT, R0, 0x1, PT",
    "IMAD.WIDE.U32 R2, R9, 0x3, RZ",
    "SHF.R.U64 R9, R9, 0x1, R4",
    "SEL R9, R2, R9, !P0",
    "IADD3 R20, R3, R8, RZ",
    "@P0 SHF.R.U32.HI R20, RZ, 0x1, R4",
    "MOV R4, R20",
    "IADD3 R41, R41, -0x1, RZ",
    "ISETP.GT.AND P3, PT, R41, RZ, PT",
    "@P3 BRA `(.L_1)",
]
"""Much like Collatz's numbers as the assembler computes them for sm_80."""


def test_halves_stay_whole_in_a_loop() -> None:
    """A loop that chooses, shifts and multiplies halves packs none of them, and counts the same."""
    assert not _differs(_PROGRAM_OF_HALVES, 1)
    kernel = kernel_from(_PROGRAM_OF_HALVES)
    (loop,) = (b for b in kernel.blocks if b.index in b.successors)
    computed = [i.opcode.name for i in loop.body if isinstance(i, Compute)]
    assert "mov.pack2" not in computed
    assert {"mul.lo", "selp", "shr"} <= {
        i.opcode.name for i in loop.body if isinstance(i, Compute) and i.type.bits == 64
    }
    assert sum(not i.is_part for i in loop.body) == len(_PROGRAM_OF_HALVES) - 3


def test_sums_are_found_where_a_term_changes_in_between() -> None:
    """The lower half of a term may be something else when the upper halves are added."""
    lines = [
        "IMAD.WIDE R4, R0, R1, RZ",
        "IADD3 R8, P0, -R4, c[0x0][0x168], RZ",
        "IADD3 R4, R1, 0x1, RZ",
        "IADD3.X R9, ~R5, c[0x0][0x16c], RZ, P0, !PT",
    ]
    assert not _differs(lines, 1)
    assert any(
        isinstance(i, Compute) and not i.is_part and i.opcode.name == "sub" and i.type.bits == 64
        for i in kernel_from(lines).instructions
    )


def test_sums_are_found() -> None:
    """Both halves side by side become one addition of 64 bits, from pairs that are there."""
    lines = [
        "IMAD.WIDE R4, R0, R1, RZ",
        "IADD3 R4, P0, R4, 0x10, RZ",
        "IADD3.X R5, RZ, R5, RZ, P0, !PT",
        "IMAD.WIDE R2, R0, 0x4, R4",
    ]
    kernel = kernel_from(lines)
    computed = [i.opcode.name for i in kernel.instructions if isinstance(i, Compute)]
    assert "mov.pack2" not in computed
    assert any(
        isinstance(i, Compute) and not i.is_part and i.opcode.name == "add" and i.type.bits == 64
        for i in kernel.instructions
    )
