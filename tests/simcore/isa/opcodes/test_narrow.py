"""Conversions to and from formats of at most 8 bits, on both engines, against exact fractions.

The formats are those of OCP's specifications of 8-bit and of microscaling formats.
"""

from __future__ import annotations

import bisect
import itertools
import math
import runpy
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.engine import ENGINES

run_statements: Any = runpy.run_path(str(Path(__file__).parents[2] / "statement_runs.py"))[
    "run_statements"
]
POWERS = [Fraction(2) ** (code - 127) for code in range(255)]
F32_NAN, BF16_NAN = 0x7FC00000, 0x7FFF
ENGINE = pytest.mark.parametrize("engine", sorted(ENGINES))


@dataclass(frozen=True)
class Format:
    """Bits of exponent and fraction, the codes of numbers, what a NaN becomes."""

    exponent: int
    fraction: int
    numbers: int
    nan: int
    packed_bits: int = 8

    @property
    def sign(self) -> int:
        return 1 << (self.exponent + self.fraction)

    def number(self, code: int) -> Fraction:
        """The number of a code without sign."""
        field, fraction = divmod(code, 1 << self.fraction)
        bias = (1 << self.exponent - 1) - 1
        units = fraction + ((1 << self.fraction) if field else 0)
        return units * Fraction(2) ** (max(field, 1) - bias - self.fraction)


FORMATS = {
    "e4m3": Format(4, 3, 0x7F, 0x7F),
    "e5m2": Format(5, 2, 0x7C, 0x7F),
    "e2m3": Format(2, 3, 0x20, 0x1F),
    "e3m2": Format(3, 2, 0x20, 0x1F),
    "e2m1": Format(2, 1, 0x08, 0x07, 4),
}
HALF = Format(5, 10, 0x7C00, 0x7FFF, 16)
DESTINATION = {name: "%b0" if name == "e2m1" else "%h0" for name in FORMATS}


def value_of(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def bits_of(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


@cache
def numbers_of(format_: Format) -> tuple[Fraction, ...]:
    return tuple(format_.number(code) for code in range(format_.numbers))


def nearest(bits: int, format_: Format, relu: bool = False) -> int:
    """The code of the nearest number; of two, the even one; the largest for all that is beyond."""
    value = value_of(bits)
    if math.isnan(value):
        return format_.nan
    if relu and value <= 0:
        return 0
    sign = format_.sign if math.copysign(1, value) < 0 else 0
    exact = Fraction(min(abs(value), 1e9))
    numbers = numbers_of(format_)
    at = bisect.bisect_left(numbers, exact)
    codes = range(max(0, at - 1), min(at + 1, format_.numbers))
    return sign | min(codes, key=lambda code: (abs(numbers[code] - exact), code & 1))


def at_random(bits: int, format_: Format, chance: Fraction, relu: bool) -> int:
    """Down in magnitude, or up where what is lost and the chance make a whole step."""
    value = value_of(bits)
    if math.isnan(value):
        return format_.nan
    if relu and value <= 0:
        return 0
    sign = format_.sign if math.copysign(1, value) < 0 else 0
    exact = Fraction(min(abs(value), 1e9))
    numbers = numbers_of(format_)
    below = bisect.bisect_right(numbers, exact) - 1
    if below + 1 == format_.numbers:
        step = numbers[below] - numbers[below - 1]
    else:
        step = numbers[below + 1] - numbers[below]
    code = below + ((exact - numbers[below]) / step + chance >= 1)
    return sign | (code if format_ is HALF else min(code, format_.numbers - 1))


@cache
def hard_words(name: str) -> list[int]:
    """f32 at all numbers of a format, the ties between them, next to both, and beyond."""
    numbers = numbers_of(FORMATS.get(name, HALF))
    some = numbers if len(numbers) < 200 else Random(1).sample(numbers, 100)
    ties = [(a + b) / 2 for a, b in itertools.pairwise(sorted(some))]
    near = [bits_of(float(x)) for x in (*some, *ties)]
    words = {max(0, word + by) for word in near for by in (-1, 0, 1)}
    words |= {bits_of(x) for x in (1e30, math.inf, 2.0**-140, 500.0, 70000.0)}
    words |= {F32_NAN, 0x7F800001, 1}
    return sorted(words | {word | 1 << 31 for word in words})


def pairs(name: str) -> list[list[int]]:
    words = hard_words(name)
    other = Random(name).sample(words, len(words))
    return [[a, b] for a, b in zip(words, other, strict=True)]


@ENGINE
@pytest.mark.parametrize("name", FORMATS)
def test_pairs_of_f32_round_to_nearest_even(name: str, engine: str) -> None:
    format_, rows = FORMATS[name], pairs(name)
    statements = [
        f"cvt.rn.satfinite{relu}.{name}x2.f32 {DESTINATION[name]}, %r1, %r2;"
        for relu in ("", ".relu")
    ]
    found = run_statements(statements, np.array(rows, np.uint32), engine)
    for column, relu in enumerate((False, True)):
        wanted = [
            nearest(a, format_, relu) << format_.packed_bits | nearest(b, format_, relu)
            for a, b in rows
        ]
        assert found[:, column].tolist() == wanted


def half_bits(value: Fraction) -> int:
    return int(np.float16(float(value)).view(np.uint16))


def brain_bits(value: Fraction) -> int:
    return bits_of(float(value)) >> 16


@ENGINE
@pytest.mark.parametrize("name", FORMATS)
def test_packed_numbers_come_back(name: str, engine: str) -> None:
    """Every code in both places, as f16 and bf16 and from there to codes again."""
    format_ = FORMATS[name]
    codes = [c | sign for c in range(format_.numbers) for sign in (0, format_.sign)]
    rows = [[a << format_.packed_bits | b] for a, b in zip(codes, codes[::-1], strict=True)]
    source = "%b1" if name == "e2m1" else "%h1"
    load = "cvt.u8.u32 %b1, %r1; " if name == "e2m1" else ""
    back = f"cvt.rn.satfinite.{name}x2"
    to = DESTINATION[name]
    statements = [
        f"{load}cvt.rn.f16x2.{name}x2 %r0, {source};",
        f"{load}cvt.rn.bf16x2.{name}x2 %r0, {source};",
        f"{load}cvt.rn.relu.f16x2.{name}x2 %r0, {source};",
        f"{load}cvt.rn.f16x2.{name}x2 %r9, {source}; {back}.f16x2 {to}, %r9;",
        f"{load}cvt.rn.bf16x2.{name}x2 %r9, {source}; {back}.bf16x2 {to}, %r9;",
    ]
    found = run_statements(statements, np.array(rows, np.uint32), engine)
    for row, line in zip(rows, found.tolist(), strict=True):
        high, low = divmod(row[0], 1 << format_.packed_bits)
        for column, encode in enumerate((half_bits, brain_bits)):
            halves = [
                encode(format_.number(code % format_.sign)) | (0x8000 if code & format_.sign else 0)
                for code in (high, low)
            ]
            assert line[column] == halves[0] << 16 | halves[1]
        positive = [half_bits(format_.number(c)) if c < format_.sign else 0 for c in (high, low)]
        assert line[2] == positive[0] << 16 | positive[1]
        assert line[3] == line[4] == row[0]


@ENGINE
def test_scales_are_powers_of_two(engine: str) -> None:
    """ue8m0 has neither sign nor zero; infinities are NaN unless `.satfinite` is there."""
    exponents = [*range(0, 256, 5), 1, 2, 254, 255]
    fractions = (0, 1, 0x400000, 0x400001, 0x7FFFFF, 0x3FFFFF)
    words = [e << 23 | f for e in exponents for f in fractions]
    rows = [[a, b | 1 << 31] for a, b in zip(words, words[::-1], strict=True)]
    modes = list(itertools.product(("rz", "rp"), ("", ".satfinite")))
    statements = [f"cvt.{mode}{finite}.ue8m0x2.f32 %h0, %r1, %r2;" for mode, finite in modes]
    statements += [f"cvt.{mode}{finite}.ue8m0x2.bf16x2 %h0, %r1;" for mode, finite in modes]
    found = run_statements(statements, np.array(rows, np.uint32), engine)

    def scale(bits: int, mode: str, finite: str) -> int:
        magnitude = bits & 0x7FFFFFFF
        if magnitude > 0x7F800000:
            return 0xFF
        if magnitude == 0x7F800000:
            return 0xFE if finite else 0xFF
        exact = Fraction(value_of(magnitude))
        if mode == "rp":
            first = bisect.bisect_left(POWERS, exact)
            return first if first < len(POWERS) else 0xFE if finite else 0xFF
        return max(0, bisect.bisect_right(POWERS, exact) - 1)

    for row, line in zip(rows, found.tolist(), strict=True):
        for column, (mode, finite) in enumerate(modes):
            first, second = (scale(word, mode, finite) for word in row)
            assert line[column] == first << 8 | second, (row, mode, finite)
            high, low = row[0] >> 16 << 16, row[0] % (1 << 16) << 16
            wanted = scale(high, mode, finite) << 8 | scale(low, mode, finite)
            assert line[4 + column] == wanted, (row, mode, finite)


@ENGINE
def test_scales_come_back(engine: str) -> None:
    rows = np.array([[code << 8 | 255 - code] for code in range(256)], np.uint32)
    found = run_statements(["cvt.rn.bf16x2.ue8m0x2 %r0, %h1;"], rows, engine)[:, 0]

    def brain(code: int) -> int:
        return BF16_NAN if code == 255 else brain_bits(Fraction(2) ** (code - 127))

    assert found.tolist() == [brain(code) << 16 | brain(255 - code) for code in range(256)]


def random_rows(name: str, columns: int) -> list[list[int]]:
    """Hard operands; random bits that are all, none, one below what rounds up, or anything."""
    random, words = Random(name), hard_words(name)
    bits = (0, 0xFFFFFFFF, 0x80008000, 0x7FFF7FFF, 0x00010001, 0x12345678)
    return [
        [*random.choices(words, k=columns), random.choice((*bits, random.getrandbits(32)))]
        for _ in range(256)
    ]


@ENGINE
@pytest.mark.parametrize("name", FORMATS)
def test_fours_are_rounded_at_random(name: str, engine: str) -> None:
    """The first operands are the uppermost; pairs share 16 bits, those of e2m1 by bytes."""
    format_, rows = FORMATS[name], random_rows(name, 4)
    target = "%h0" if name == "e2m1" else "%r0"
    statements = [
        f"cvt.rs{relu}.satfinite.{name}x4.f32 {target}, {{%r1, %r2, %r3, %r4}}, %r5;"
        for relu in ("", ".relu")
    ]
    found = run_statements(statements, np.array(rows, np.uint32), engine)
    for row, line in zip(rows, found.tolist(), strict=True):
        *words, bits = row
        if name == "e2m1":
            first, second = (bits >> shift + 8 & 0xFF00 | bits >> shift & 0xFF for shift in (8, 0))
        else:
            first, second = bits >> 16, bits & 0xFFFF
        for column, relu in enumerate((False, True)):
            wanted = 0
            for word, own in zip(words, (first, first, second, second), strict=True):
                code = at_random(word, format_, Fraction(own, 1 << 16), relu)
                wanted = wanted << format_.packed_bits | code
            assert line[column] == wanted, row


@ENGINE
@pytest.mark.parametrize("finite", ["", ".satfinite"])
def test_pairs_of_halves_are_rounded_at_random(finite: str, engine: str) -> None:
    rows = random_rows("f16", 2)
    statements = [
        f"cvt.rs{relu}{finite}.{name}x2.f32 %r0, %r1, %r2, %r3;"
        for name in ("f16", "bf16")
        for relu in ("", ".relu")
    ]
    found = run_statements(statements, np.array(rows, np.uint32), engine)

    def half(word: int, own: int, relu: bool) -> int | None:
        if math.isnan(value_of(word)):
            return None
        code = at_random(word, HALF, Fraction(own & 0x1FFF, 1 << 13), relu)
        is_beyond = code & 0x7FFF > 0x7BFF or abs(value_of(word)) >= 65536
        is_beyond &= not (relu and value_of(word) < 0)
        limit = 0x7BFF if finite else 0x7C00
        return code & 0x8000 | limit if is_beyond else code

    def brain(word: int, own: int, relu: bool) -> int | None:
        if math.isnan(value_of(word)):
            return None
        if relu and value_of(word) <= 0:
            return 0
        total = word if word & 0x7FFFFFFF == 0x7F800000 else word + own
        is_beyond = finite and total & 0x7FFFFFFF >= 0x7F800000
        return (total >> 16 & 0x8000 | 0x7F7F) if is_beyond else total >> 16

    for row, line in zip(rows, found.tolist(), strict=True):
        first, second, bits = row
        columns = itertools.product((half, brain), (False, True))
        for word, (convert, relu) in zip(line, columns, strict=True):
            wanted = convert(first, bits >> 16, relu), convert(second, bits & 0xFFFF, relu)
            for got, expected in zip((word >> 16, word & 0xFFFF), wanted, strict=True):
                if expected is None:
                    assert got & 0x7FFF > (0x7C00 if convert is half else 0x7F80)
                else:
                    assert got == expected, (row, convert)
