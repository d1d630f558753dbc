"""What the LLVM meanings of some opcodes do on values, and in code, that are theirs alone."""

from __future__ import annotations

import math
import runpy
import struct
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.host.llvm import emit_object, host_supports_vectors
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType
from tests.simcore.isa.opcodes.verification_values import encoded, rounded

llvm: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "llvm_cases.py")))
pytestmark = pytest.mark.skipif(not host_supports_vectors(), reason="no vector unit to compile for")


@pytest.mark.parametrize("type_", [ScalarType.S16, ScalarType.U16, ScalarType.S32, ScalarType.U32])
@pytest.mark.parametrize("name", ["div", "rem"])
def test_vectors_of_integers_divide_as_vectors(name: str, type_: ScalarType) -> None:
    """x86 and AArch64 have no integer division of vectors: LLVM would divide lane by lane."""
    case = (name, Context(type_, type_, frozenset()))
    assert "div i" in llvm.module_text([case], 1)
    assert "fdiv <8 x" in llvm.module_text([case], 8)
    assert "div <8 x i" not in llvm.module_text([case], 8).replace("fdiv", "")


@pytest.mark.parametrize("type_", [ScalarType.S32, ScalarType.U32])
def test_integer_division_is_exact_near_multiples(type_: ScalarType) -> None:
    """Dividends beside multiples of the divisor, where a quotient rounded up would show."""
    generator = np.random.default_rng(7)
    divisor = generator.integers(1, 1 << 31, 30_000, np.int64) >> generator.integers(0, 31, 30_000)
    divisor = np.maximum(divisor, 1)
    multiple = ((1 << 31) - 2) // divisor * divisor
    dividend = np.concatenate([multiple - 1, multiple, multiple + 1]).astype(type_.dtype)
    operands = [dividend, np.tile(divisor, 3).astype(type_.dtype)]
    if type_.is_signed:
        operands[1][::2] *= -1
    cases = [(name, Context(type_, type_, frozenset())) for name in ("div", "rem")]
    compiled = llvm.Compiled(cases, 8, 2)
    for index, case in enumerate(cases):
        llvm.compare(case, operands, compiled.call(index, case, operands), 0)


@pytest.mark.parametrize("triple", [None, "aarch64-linux-gnu"])
@pytest.mark.parametrize("family", ["arithmetic", "conversion", "transcendental"])
def test_no_opcode_calls_a_library(family: str, triple: str | None) -> None:
    """Neither lane by lane nor otherwise: the object names no symbol but its own functions."""
    cases = list(llvm.cases_of(llvm.names_of(family)))
    cases = cases[:: 1 + len(cases) // 150]
    symbols = _undefined_symbols(emit_object(llvm.module_text(cases, 8), 0, triple))
    assert symbols == []


def _undefined_symbols(data: bytes) -> list[str]:
    """Undefined symbols of a 64-bit ELF object: those of section 0, without the empty one."""
    start, (size, count) = (
        struct.unpack_from("<Q", data, 40)[0],
        struct.unpack_from("<HH", data, 58),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    symbol_table = next(section for section in sections if section[1] == 2)
    names = sections[symbol_table[6]][4]
    undefined = []
    for offset in range(symbol_table[4], symbol_table[4] + symbol_table[5], 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, offset)
        if name and not section:
            end = data.index(b"\0", names + name)
            undefined.append(data[names + name : end].decode())
    return undefined


def _random_floats(count: int) -> Any:
    """Every exponent alike, infinities and NaN among them."""
    generator = np.random.default_rng(20170101)
    return generator.integers(0, 1 << 32, count, np.uint32).view(np.float32)


@pytest.mark.parametrize("name", llvm.APPROXIMATIONS)
def test_approximations_are_within_one_unit_in_the_last_place(name: str) -> None:
    case = (name, Context(ScalarType.F32, ScalarType.F32, frozenset()))
    generator = np.random.default_rng(1)
    usual = (generator.standard_normal(50_000) * 30).astype(np.float32)
    # the f32 nearest to multiples of pi/2 (Kahan 1983), and both sides of the ways to reduce
    hard = np.array(
        [16367173 * 2.0**72, -16367173 * 2.0**72, 2.0**50, 1.5 * 2.0**49, 1e22, 355, 710, 52174],
        np.float32,
    )
    half_turns = (np.arange(1, 20_000) * (math.pi / 2)).astype(np.float32)
    operand = np.concatenate([_random_floats(100_000), usual, hard, half_turns])
    found = llvm.Compiled([case], 8, 2).call(0, case, [operand])
    llvm.compare(case, [operand], found, 1)
    differing = np.count_nonzero(
        llvm.units_apart(llvm.expected(case, [operand])[0], found[0], case[1].type)
    )
    assert differing <= operand.size >> 17


def test_reduction_of_huge_angles_does_not_depend_on_the_other_lanes() -> None:
    case = ("sin", Context(ScalarType.F32, ScalarType.F32, frozenset()))
    usual = np.arange(-400, 400, dtype=np.float32)
    mixed = np.where(np.arange(800) % 3 == 0, np.float32(2.0**100), usual)
    compiled = llvm.Compiled([case], 8, 2)
    alone, beside = (compiled.call(0, case, [x])[0] for x in (usual, mixed))
    kept = mixed == usual
    assert (alone[kept] == beside[kept]).all()


def test_directed_rounding_leaves_the_mode_of_the_processor_alone() -> None:
    up = ("add", Context(ScalarType.F32, ScalarType.F32, frozenset(("rp",))))
    nearest = ("add", Context(ScalarType.F32, ScalarType.F32, frozenset()))
    one, tiny = np.ones(8, np.float32), np.full(8, 2.0**-60, np.float32)
    compiled = llvm.Compiled([up, nearest], 8, 2)
    for index, is_above in ((0, True), (1, False), (0, True), (1, False)):
        result = compiled.call(index, (up, nearest)[index], [one, tiny])[0]
        assert (result > 1).all() == is_above
    assert (one.astype(np.float64) + tiny == 1).all()


def test_fused_multiply_add_of_brain_floats_rounds_once() -> None:
    """Products that are halves between two bf16, and addends far too small to show otherwise."""
    generator = np.random.default_rng(8)
    signs = generator.choice([-1.0, 1.0], (3, 4000))
    a, b = signs[:2] * generator.integers(128, 256, (2, 4000))
    c = signs[2] * 2.0 ** generator.integers(-130, -8, 4000)
    numbers = [x.astype(np.float32) for x in (a, b, c)]
    operands = [(x.view(np.uint32) >> 16).astype(np.uint16) for x in numbers]
    case = ("fma", Context(ScalarType.BF16, ScalarType.BF16, frozenset(("rn",))))
    rows = zip(*(x.tolist() for x in numbers), strict=True)
    exact = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in rows]
    wanted = encoded([rounded(x, ScalarType.BF16, "rn") for x in exact], ScalarType.BF16)
    twice = encoded(
        [rounded(Fraction(float(x)), ScalarType.BF16, "rn") for x in exact], ScalarType.BF16
    )
    assert (wanted != twice).any(), "no operand tells one rounding from two"
    assert (llvm.expected(case, operands)[0] == wanted).all()
    assert (llvm.Compiled([case], 8, 2).call(0, case, operands)[0] == wanted).all()


def test_numbers_of_8_bits_round_alike_near_every_tie() -> None:
    codes = np.arange(256, dtype=np.uint16)
    for name in ("e4m3x2", "e5m2x2"):
        packed = ScalarType.named(name)
        decode = ("cvt.packed", Context(ScalarType.F16X2, packed, frozenset(("rn",))))
        llvm.compare(decode, [codes], llvm.Compiled([decode], 8, 2).call(0, decode, [codes]), 0)
        exact = llvm.expected(decode, [codes])[0].astype(np.uint16).view(np.float16)
        with np.errstate(all="ignore"):  # NaNs of e5m2 are signalling ones of f16
            ties = (np.sort(exact)[1:].astype(np.float32) + np.sort(exact)[:-1]) / np.float32(2)
            near = [np.nextafter(ties, np.float32(x)) for x in (-np.inf, np.inf)]
        numbers = np.concatenate([ties, *near])
        encode = ("cvt.pair", Context(packed, ScalarType.F32, frozenset(("rn", "satfinite"))))
        operands = [numbers, numbers[::-1].copy()]
        with np.errstate(all="ignore"):
            llvm.compare(
                encode, operands, llvm.Compiled([encode], 8, 2).call(0, encode, operands), 0
            )
