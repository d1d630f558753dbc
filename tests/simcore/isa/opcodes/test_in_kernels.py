"""Packed, carried and alternate-format arithmetic from PTX text through both engines."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

Compile = Callable[..., Kernel]
Words = Any

THREADS = 64
LOAD = """
    .reg .b16 %h<9>; .reg .f16x2 %x<9>; .reg .b32 %w<9>;
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd9, %r1, 16;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
    add.s64 %rd1, %rd1, %rd9; add.s64 %rd2, %rd2, %rd9;
    ld.global.v4.u32 {%w1, %w2, %w3, %w4}, [%rd1];
"""
STORE = "st.global.v4.u32 [%rd2], {%w5, %w6, %w7, %w8}; ret;"


def _words(seed: int) -> Words:
    """Four words per thread, none of which is a NaN or a subnormal as f16, bf16 or f32."""
    generator = np.random.default_rng(seed)
    numbers = generator.standard_normal((THREADS, 4)).astype(np.float32)
    return numbers.view(np.uint32)


def _halves(seed: int) -> Words:
    generator = np.random.default_rng(seed)
    return generator.standard_normal((THREADS, 8)).astype(np.float16).view(np.uint32)


@pytest.fixture(params=sorted(ENGINES))
def run(request: pytest.FixtureRequest, compile_ptx: Compile) -> Callable[[str, Words], Words]:
    """(instructions on %w1..%w4, words) -> %w5..%w8 of every thread."""

    def execute_on(body: str, words: Words) -> Words:
        kernel = compile_ptx(LOAD + body + STORE, "u64 in, u64 out")
        source, out = words.copy(), np.zeros_like(words)
        arguments = (source.view(np.uint8).reshape(-1), out.view(np.uint8).reshape(-1))
        launch = Launch((1, 1, 1), (THREADS, 1, 1), arguments, 0)
        execute(kernel, launch, engine=request.param)
        return out

    return execute_on


Run = Callable[[str, Words], Words]


def test_sums_of_two_words(run: Run) -> None:
    words = _words(1)
    words[:20, 0], words[:10, 2] = 0xFFFFFFFF, 1
    body = """
        add.cc.u32 %w5, %w1, %w3; addc.u32 %w6, %w2, %w4;
        sub.cc.u32 %w7, %w1, %w3; subc.u32 %w8, %w2, %w4;
    """
    out = run(body, words)
    a, b = (words[:, i].astype(np.uint64) | words[:, i + 1].astype(np.uint64) << 32 for i in (0, 2))
    for columns, expected in ((out[:, :2], a + b), (out[:, 2:], a - b)):
        assert (np.ascontiguousarray(columns).view(np.uint64)[:, 0] == expected).all()


def test_the_carry_lives_across_branches_and_guards(run: Run) -> None:
    words = _words(2)
    body = """
        add.cc.u32 %w5, %w1, %w2;
        setp.lt.u32 %p1, %r1, 20;
        @%p1 add.cc.u32 %w6, %w3, %w4;
        setp.lt.u32 %p2, %r1, 40;
        @%p2 bra SKIP;
        sub.cc.u32 %w6, %w3, %w4;
    SKIP:
        addc.u32 %w7, 0, 0; mov.u32 %w8, 0;
    """
    out = run(body, words)
    w1, w2, w3, w4 = words.astype(np.int64).T
    thread = np.arange(THREADS)
    kept = np.where(thread < 40, w1 + w2 >= 1 << 32, w3 < w4)
    assert (out[:, 2] == np.where(thread < 20, w3 + w4 >= 1 << 32, kept)).all()


def test_a_product_of_two_words(run: Run) -> None:
    words = _words(3)
    body = """
        mul.lo.u32 %w5, %w1, %w3; mul.hi.u32 %w6, %w1, %w3;
        mad.lo.cc.u32 %w6, %w1, %w4, %w6; madc.hi.u32 %w7, %w1, %w4, 0;
        mad.lo.cc.u32 %w6, %w2, %w3, %w6; madc.hi.cc.u32 %w7, %w2, %w3, %w7;
        addc.u32 %w8, 0, 0;
        mad.lo.cc.u32 %w7, %w2, %w4, %w7; madc.hi.u32 %w8, %w2, %w4, %w8;
    """
    out = run(body, words)
    for given, found in zip(words.tolist(), out.tolist(), strict=True):
        exact = (given[0] | given[1] << 32) * (given[2] | given[3] << 32)
        assert found == [exact >> (32 * i) & 0xFFFFFFFF for i in range(4)]


def test_pairs_of_halves(run: Run) -> None:
    words = _halves(4)
    body = """
        fma.rn.f16x2 %w5, %w1, %w2, %w3; mul.f16x2 %w6, %w1, %w2;
        max.f16x2 %w7, %w3, %w4; {neg.f16x2 %x1, %w4; add.rn.sat.f16x2 %w8, %x1, %w1;}
    """
    found = run(body, words).view(np.float16)
    a, b, c, d = (x.view(np.float16).astype(np.float64) for x in np.ascontiguousarray(words.T))
    expected = [a * b + c, a * b, np.maximum(c, d), np.clip(a - d, 0, 1)]
    for column, exact in enumerate(expected):
        # float64 holds products of two halves and these sums exactly
        rounded = exact.astype(np.float16).reshape(-1, 2)
        assert (found[:, 2 * column : 2 * column + 2] == rounded).all()


def test_comparisons_of_pairs(run: Run) -> None:
    words = _halves(5)
    words[::3, 1] = words[::3, 0]
    body = """
        setp.lt.f16x2 %p1|%p2, %w1, %w2; selp.u32 %w5, 1, 0, %p1; selp.u32 %w6, 1, 0, %p2;
        set.eq.u32.f16x2 %w7, %w1, %w2; set.gtu.f16x2.f16x2 %w8, %w1, %w2;
    """
    out = run(body, words)
    a, b = (np.ascontiguousarray(words[:, i]).view(np.float16).reshape(-1, 2) for i in (0, 1))
    assert (out[:, :2] == (a < b)).all()
    assert (
        np.ascontiguousarray(out[:, 2]).view(np.uint16).reshape(-1, 2) == (a == b) * 65535
    ).all()
    assert (np.ascontiguousarray(out[:, 3]).view(np.float16).reshape(-1, 2) == (a > b)).all()


def test_brain_floats(run: Run) -> None:
    words = _words(6)
    body = """
        cvt.rn.bf16.f32 %h1, %w1; cvt.rn.bf16.f32 %h2, %w2; cvt.rn.bf16.f32 %h3, %w3;
        fma.rn.bf16 %h4, %h1, %h2, %h3; cvt.f32.bf16 %w5, %h4;
        cvt.f32.bf16 %w6, %h1;
        cvt.rz.bf16x2.f32 %w7, %w1, %w2; mov.b32 {%h5, %h6}, %w7; cvt.f32.bf16 %w7, %h6;
        cvt.rna.tf32.f32 %w8, %w4;
    """
    found = run(body, words).view(np.float32)
    numbers = words.view(np.float32)

    def brain(exact: Fraction, digits: int = 8) -> float:
        """Eight digits, ties to even: no input comes near the subnormals."""
        if not exact:
            return 0.0
        unit = Fraction(2) ** (int(np.floor(np.log2(abs(float(exact))))) - digits + 1)
        return float(round(exact / unit) * unit)

    for row, result in zip(numbers.tolist(), found.tolist(), strict=True):
        a, b, c = (brain(Fraction(x)) for x in row[:3])
        assert result[0] == brain(Fraction(a) * Fraction(b) + Fraction(c))
        assert result[1] == a
        unit = 2.0 ** (int(np.floor(np.log2(abs(row[0])))) - 7)
        assert result[2] == np.trunc(row[0] / unit) * unit
        unit = 2.0 ** (int(np.floor(np.log2(abs(row[3])))) - 10)
        assert result[3] == np.sign(row[3]) * np.floor(abs(row[3]) / unit + 0.5) * unit


def test_three_operands_and_two_results(run: Run) -> None:
    words = _words(7)
    body = """
        min.f32 %w5, %w1, %w2, %w3; max.abs.f32 %w6, %w1, %w2, %w3;
        setp.lt.u32 %p1, %r1, 32;
        lop3.and.b32 %w7|%p2, %w1, %w2, %w3, 0x80, %p1; selp.u32 %w8, 1, 0, %p2;
    """
    out, numbers = run(body, words), words.view(np.float32)[:, :3]
    assert (out[:, 0].view(np.float32) == numbers.min(axis=1)).all()
    assert (out[:, 1].view(np.float32) == np.abs(numbers).max(axis=1)).all()
    every = words[:, 0] & words[:, 1] & words[:, 2]
    assert (out[:, 2] == every).all()
    assert (out[:, 3] == ((every != 0) & (np.arange(THREADS) < 32))).all()
