"""Forms that assemblers write rarely, as text: results are what Python's integers say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES
from tests.ptx_frontend.sass.text_programs import LANES, WORDS, kernel_from

_M = 0xFFFFFFFF
_HARD = (0, 1, 2, 31, 33, 63, 64, 0x80, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x12345678)
Words = Sequence[int]


def _signed(value: int) -> int:
    return value - ((value & 0x80000000) << 1)


def _pair(w: Words, number: int) -> int:
    return w[number] | w[number + 1] << 32


def _is_negative(value: int) -> bool:
    return value >> 31 == 1


def _bytes(value: int) -> list[int]:
    return [value >> shift & 0xFF for shift in (0, 8, 16, 24)]


FORMS: Mapping[str, tuple[tuple[str, ...], Mapping[int, Callable[[Words], int]]]] = {
    "two carries": (
        ("IADD3 R8, P3, P4, R3, R4, R5", "SEL R9, R6, RZ, P3", "SEL R10, R6, RZ, P4"),
        {
            8: lambda w: w[3] + w[4] + w[5],
            9: lambda w: w[6] if w[3] + w[4] + w[5] >> 32 >= 1 else 0,
            10: lambda w: w[6] if w[3] + w[4] + w[5] >> 32 == 2 else 0,
        },
    ),
    "a carry goes through": (
        ("IADD3.X R8, P3, R3, ~R4, RZ, P0, !PT", "SEL R9, R6, RZ, P3"),
        {
            8: lambda w: w[3] + (~w[4] & _M) + (w[0] >> 31),
            9: lambda w: w[6] if w[3] + (~w[4] & _M) + (w[0] >> 31) > _M else 0,
        },
    ),
    "no borrow": (
        ("IADD3 R8, P3, -R3, RZ, RZ", "SEL R9, R6, RZ, P3"),
        {8: lambda w: -w[3], 9: lambda w: w[6] if w[3] == 0 else 0},
    ),
    "LEA subtracts what it shifts": (
        ("LEA R8, P3, -R3, R4, 0x3", "SEL R9, R6, RZ, P3"),
        {
            8: lambda w: w[4] - (w[3] << 3),
            9: lambda w: w[6] if w[4] >= w[3] << 3 & _M else 0,
        },
    ),
    "the upper half of LEA": (
        ("LEA.HI R8, P3, R4, R5, R3, 0x7", "SEL R9, R6, RZ, P3", "LEA.HI.SX32 R10, R4, R5, 0x1"),
        {
            8: lambda w: ((w[3] << 32 | w[4]) << 7 >> 32 & _M) + w[5],
            9: lambda w: w[6] if ((w[3] << 32 | w[4]) << 7 >> 32 & _M) + w[5] > _M else 0,
            10: lambda w: (_signed(w[4]) << 1 >> 32) + w[5],
        },
    ),
    "products of 64 bits with carries": (
        ("IMAD.WIDE.U32.X R8, P3, R3, R4, R6, P0", "SEL R10, R5, RZ, P3"),
        {
            8: lambda w: w[3] * w[4] + _pair(w, 6) + (w[0] >> 31),
            9: lambda w: w[3] * w[4] + _pair(w, 6) + (w[0] >> 31) >> 32,
            10: lambda w: w[5] if w[3] * w[4] + _pair(w, 6) + (w[0] >> 31) >> 64 else 0,
        },
    ),
    "the upper half of a product": (
        ("IMAD.HI.U32 R8, R3, R4, R6", "IMAD.HI R9, R3, R4, R6"),
        {
            8: lambda w: w[3] * w[4] + _pair(w, 6) >> 32,
            9: lambda w: _signed(w[3]) * _signed(w[4]) + _pair(w, 6) >> 32,
        },
    ),
    "shifts of 64 bits that wrap": (
        (
            "SHF.L.W.U64.HI R8, R4, R3, R5",
            "SHF.R.W.U64 R9, R4, R3, R5",
            "SHF.R.W.S64.HI R10, R4, R3, R5",
        ),
        {
            8: lambda w: _pair(w, 4) << (w[3] & 63) >> 32,
            9: lambda w: _pair(w, 4) >> (w[3] & 63),
            10: lambda w: (_signed(w[5]) << 32 | w[4]) >> (w[3] & 63) >> 32,
        },
    ),
    "predicates in a register": (
        ("P2R R8, PR, R3, 0x7", "P2R.B2 R9, PR, R4, 0x5", "P2R R10, PR, RZ, 0x2"),
        {
            8: lambda w: w[3] & ~7 | sum((w[i] >> 31) << i for i in range(3)),
            9: lambda w: w[4] & ~0x50000 | (w[0] >> 31) << 16 | (w[2] >> 31) << 18,
            10: lambda w: (w[1] >> 31) << 1,
        },
    ),
    "a register in predicates": (
        (
            "@P0 R2P PR, R3.B1, 0x3",
            "P2R R8, PR, RZ, 0x7",
            "R2P PR, R4, 0x78",
            "P2R R9, PR, RZ, 0x78",
        ),
        {
            8: lambda w: (
                (w[3] >> 8 & 3 if _is_negative(w[0]) else (w[1] >> 31) << 1) | (w[2] >> 31) << 2
            ),
            9: lambda w: w[4] & 0x78,
        },
    ),
    "a comparison into what it reads": (
        ("ISETP.LT.XOR P0, P1, R3, R4, P0", "P2R R8, PR, RZ, 0x3"),
        {
            8: lambda w: (
                ((_signed(w[3]) < _signed(w[4])) != _is_negative(w[0]))
                | ((_signed(w[3]) >= _signed(w[4])) != _is_negative(w[0])) << 1
            )
        },
    ),
    "comparisons without order": (
        ("ISETP.T.AND P3, P4, R3, R4, P0", "ISETP.F.OR P5, PT, R3, R4, P1", "P2R R8, PR, RZ, 0x38"),
        {8: lambda w: (w[0] >> 31) << 3 | (w[1] >> 31) << 5},
    ),
    "tables of predicates into what they read": (
        ("PLOP3.LUT P0, P1, P1, P0, PT, 0x30, 0x0c", "P2R R8, PR, RZ, 0x3"),
        {
            8: lambda w: (
                (_is_negative(w[1]) and not _is_negative(w[0]))
                | (not _is_negative(w[1]) and _is_negative(w[0])) << 1
            )
        },
    ),
    "pairs of predicates": (
        (
            "PSETP.AND.OR P3, P4, P0, !P1, P2",
            "PSETP.XOR.AND P5, PT, P0, P1, !P2",
            "P2R R8, PR, RZ, 0x38",
        ),
        {
            8: lambda w: (
                ((_is_negative(w[0]) and not _is_negative(w[1])) or _is_negative(w[2])) << 3
                | (not (_is_negative(w[0]) and not _is_negative(w[1])) or _is_negative(w[2])) << 4
                | (_is_negative(w[0]) != _is_negative(w[1]) and not _is_negative(w[2])) << 5
            )
        },
    ),
    "LOP3 with a predicate": (
        (
            "LOP3.LUT P3, R8, R3, R4, R5, 0x96, P0",
            "LOP3.LUT.PAND P4, RZ, R3, R4, RZ, 0xc0, P1",
            "P2R R9, PR, RZ, 0x18",
        ),
        {
            8: lambda w: w[3] ^ w[4] ^ w[5],
            9: lambda w: (
                ((w[3] ^ w[4] ^ w[5] != 0) or _is_negative(w[0])) << 3
                | ((w[3] & w[4] != 0) and _is_negative(w[1])) << 4
            ),
        },
    ),
    "uniform registers": (
        (
            "R2UR P3, UR4, R3",
            "R2UR.OR P3, UR5, R4",
            "UIADD3 UR6, UR4, -UR5, URZ",
            "IADD3 R8, R5, UR6, RZ",
        ),
        {8: lambda w: w[5] + w[3] - w[4]},
    ),
    "extrema": (
        (
            "IMNMX R8, R3, R4, P0",
            "VIMNMX3.U32 R9, R3, R4, R5, PT",
            "VIADDMNMX.RELU R10, R3, R4, R5, PT",
            "VIMNMX.S16x2.RELU R11, R3, R4, PT",
        ),
        {
            8: lambda w: (min if _is_negative(w[0]) else max)(_signed(w[3]), _signed(w[4])),
            9: lambda w: min(w[3:6]),
            10: lambda w: max(0, min(_signed(w[3] + w[4] & _M), _signed(w[5]))),
            11: lambda w: sum(
                max(
                    0,
                    min(_signed(w[3] << 16 - s & 0xFFFF0000), _signed(w[4] << 16 - s & 0xFFFF0000))
                    >> 16,
                )
                << s
                for s in (0, 16)
            ),
        },
    ),
    "distances": (
        ("VABSDIFF4.U8 R8, R3, R4, RZ", "VABSDIFF4.U8.ACC R9, R3, R4, R5"),
        {
            8: lambda w: sum(
                abs(a - b) << 8 * i
                for i, (a, b) in enumerate(zip(_bytes(w[3]), _bytes(w[4]), strict=True))
            ),
            9: lambda w: (
                w[5] + sum(abs(a - b) for a, b in zip(_bytes(w[3]), _bytes(w[4]), strict=True))
            ),
        },
    ),
    "loads or zeros": (
        (
            "SEL R45, R3, R43, P1",
            "MOV R44, R42",
            "@P2 LDG.E.U8.CONSTANT R9, [R42.64+0x5], P0",
            "LDG.E.LTC128B.128.STRONG.GPU R4, [R42.64+0x20], P0",
            "LDG.E R8, [R44.64+0x8], !P1",
            "LDG.E.64 R44, [R44.64], !P1",
            "MOV R10, R45",
            "USETSHMSZ 0x400",
            "USETSHMSZ.FLUSH",
        ),
        {
            4: lambda w: w[8] if _is_negative(w[0]) else 0,
            7: lambda w: w[11] if _is_negative(w[0]) else 0,
            8: lambda w: w[2] if not _is_negative(w[1]) else 0,
            9: lambda w: (
                w[9] if not _is_negative(w[2]) else _bytes(w[1])[1] if _is_negative(w[0]) else 0
            ),
            10: lambda w: w[1] if not _is_negative(w[1]) else 0,
        },
    ),
    "packed sums": (
        ("VIADD.U8x4 R8, R3, -R4", "VIADD.U16x2 R9, R3, R4"),
        {
            8: lambda w: sum(
                (a - b & 0xFF) << 8 * i
                for i, (a, b) in enumerate(zip(_bytes(w[3]), _bytes(w[4]), strict=True))
            ),
            9: lambda w: (w[3] + w[4] & 0xFFFF) | ((w[3] >> 16) + (w[4] >> 16) & 0xFFFF) << 16,
        },
    ),
}


def _words() -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    random = np.random.default_rng(3)
    words = random.integers(0, 1 << 32, (LANES, WORDS), dtype=np.uint32)
    hard = random.random((LANES, WORDS)) < 0.5
    words[hard] = random.choice(np.array(_HARD, np.uint32), int(hard.sum()))
    words[:4, 4] = words[:4, 3]
    return words


@pytest.mark.parametrize("engine", ENGINES)
def test_forms_compute_what_integers_say(engine: str) -> None:
    wrong = []
    compiled = list(FORMS)[:: 1 if engine == "reference" else 4]
    for name in compiled:
        lines, results = FORMS[name]
        words = _words()
        memory = words.copy()
        execute(kernel_from(lines), Launch((1, 1, 1), (LANES, 1, 1), (memory, 0)), engine=engine)
        for lane, row in enumerate(words):
            given = [int(word) for word in row]
            for number, formula in results.items():
                if int(memory[lane, number]) != int(formula(given)) & _M:
                    wrong.append((name, number, lane))
    assert not wrong


def test_every_table_of_predicates() -> None:
    lines: list[str] = []
    for table in range(256):
        target = f"R{4 + table // 32}"
        lines += [
            f"PLOP3.LUT P3, PT, P0, !P1, R2.SIGN, {table:#x}, 0x0",
            f"IMAD.SHL.U32 {target}, {target}, 0x2, RZ",
            f"@P3 IADD3 {target}, {target}, 0x1, RZ",
        ]
    words = _words()
    memory = words.copy()
    execute(kernel_from(lines), Launch((1, 1, 1), (LANES, 1, 1), (memory, 0)), engine="reference")
    for before, after in zip(words, memory, strict=True):
        a, b, c = (int(word) >> 31 for word in before[:3])
        index = 4 * a + 2 * (1 - b) + c
        for word in range(8):
            tables = range(32 * word, 32 * word + 32)
            expected = sum((table >> index & 1) << 31 - table % 32 for table in tables)
            assert int(after[4 + word]) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_moves_to_uniform_registers_say_which_lanes_differ(engine: str) -> None:
    """The first lane's value is the chosen one; `.OR` adds lanes that differ in a second word."""
    lines = ("R2UR P3, UR4, R3", "R2UR.OR P3, UR5, R4", "SEL R8, R6, R7, P3")
    words = _words()
    words[::3, 3], words[::2, 4] = words[0, 3], words[0, 4]
    memory = words.copy()
    execute(kernel_from(lines), Launch((1, 1, 1), (LANES, 1, 1), (memory, 0)), engine=engine)
    leaders = words[np.arange(LANES) // 32 * 32]
    differs = (words[:, 3] != leaders[:, 3]) | (words[:, 4] != leaders[:, 4])
    assert (memory[:, 8] == np.where(differs, words[:, 6], words[:, 7])).all()
    assert differs.any()
    assert not differs.all()
