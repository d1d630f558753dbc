"""The table as a whole, moves, transcendental functions and the fused multiply-add."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context, opcode
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace, ScalarType, Unit
from tests.simcore.isa.opcodes.verification import check_opcode, rounded

Oracle = Callable[..., Any]

TESTED_MODULES = {
    "arithmetic": "test_opcodes_arithmetic",
    "multiplication": "test_opcodes_arithmetic",
    "comparison": "test_opcodes_comparison",
    "logic": "test_opcodes_bits",
    "bits": "test_opcodes_bits",
    "bit_search": "test_opcodes_bits",
    "video": "test_opcodes_video",
    "random_rounding": "test_opcodes_narrow",
    "integer_packing": "test_opcodes_packed",
    "mixed_precision": "test_opcodes_packed",
    "extended_precision": "test_opcodes_extended_precision",
    "guarded_arithmetic": "test_guarded_arithmetic",
    "conversion": "test_opcodes_conversion",
    "movement": "test_opcodes_table",
    "transcendental": "test_opcodes_table",
    "opencl_math": "test_opcodes_opencl",
}
"""Where each family is checked; those tests take their cases from the table itself."""


def _names(module: str) -> list[str]:
    return [n for n, e in OPCODES.items() if e.compute.__module__.endswith(f".{module}")]


def test_every_entry_belongs_to_a_tested_family() -> None:
    families = {entry.compute.__module__.rpartition(".")[2] for entry in OPCODES.values()}
    assert families == set(TESTED_MODULES)


def test_signatures_have_known_letters() -> None:
    for entry in OPCODES.values():
        context = Context(ScalarType.U32, ScalarType.U32, frozenset())
        assert entry.operand_types(context)
        assert entry.result_types(context)
        assert entry.types


def test_an_opcode_is_registered_once() -> None:
    with pytest.raises(ValueError, match="add is registered twice"):
        opcode("add", "t=tt", (ScalarType.U32,), llvm=OPCODES["add"].emit)(
            lambda _context, a, _b: a
        )


def test_an_unknown_letter_is_a_defect() -> None:
    context = Context(ScalarType.U32, ScalarType.U32, frozenset())
    broken = replace(OPCODES["add"], signature="?=t")
    with pytest.raises(ValueError, match="no operand letter"):
        broken.result_types(context)


def _unpack(count: int) -> Oracle:
    def oracle(context: Context, a: int) -> tuple[int, ...]:
        width = context.type.bits // count
        return tuple(a >> (width * i) & ((1 << width) - 1) for i in range(count))

    return oracle


def _pack(context: Context, *parts: int) -> int:
    width = context.type.bits // len(parts)
    return sum(part << (width * i) for i, part in enumerate(parts))


def _window(space: str) -> int:
    return WINDOWS.get(AddressSpace(space.removesuffix("::cta")), 0)


def _in_space(space: str) -> Oracle:
    def oracle(_context: Context, a: int) -> bool:
        inside = [base for base in WINDOWS.values() if base <= a < base + WINDOW_BYTES]
        return inside == ([_window(space)] if _window(space) else [])

    return oracle


SPACES = ("global", "shared", "shared::cta", "local", "const", "param")
MOVES: dict[str, Oracle] = {
    "mov": lambda _c, a: a,
    "image": lambda _c, a: a,
    "mov.pack2": _pack,
    "mov.pack4": _pack,
    "mov.unpack2": _unpack(2),
    "mov.unpack4": _unpack(4),
    **{f"cvta.{s}": lambda _c, a, s=s: a + _window(s) for s in SPACES},
    **{f"cvta.to.{s}": lambda _c, a, s=s: a - _window(s) for s in SPACES},
    **{f"isspacep.{s}": _in_space(s) for s in SPACES},
}


@pytest.mark.parametrize("name", _names("movement"))
def test_moves(name: str) -> None:
    entry = OPCODES[name]
    for type_ in entry.types:
        context = Context(type_, type_, frozenset())
        check_opcode(name, MOVES[name], context)
        units = {"isspacep": Unit.INTEGER, "image": Unit.TEXTURE}
        assert entry.unit(context) is units.get(name.split(".")[0], Unit.MOVE)


@pytest.mark.parametrize("space", SPACES)
def test_a_generic_address_finds_its_way_back(space: str) -> None:
    context = Context(ScalarType.U64, ScalarType.U64, frozenset())
    address = np.array([0, 16, WINDOW_BYTES - 4], np.uint64)
    generic = OPCODES[f"cvta.{space}"].compute(context, address)
    assert OPCODES[f"isspacep.{space}"].compute(context, generic).all()
    assert (OPCODES[f"cvta.to.{space}"].compute(context, generic) == address).all()
    others = set(SPACES) - {space} - ({"shared", "shared::cta"} if "shared" in space else set())
    assert not any(OPCODES[f"isspacep.{s}"].compute(context, generic).any() for s in others)


def _reciprocal(_context: Context, a: float) -> Any:
    if math.isnan(a):
        return a
    return math.copysign(math.inf, a) if a == 0 else _inverse(a)


def _inverse(a: float) -> Any:
    return math.copysign(0.0, a) if math.isinf(a) else 1 / Fraction(a)


def _root(a: Fraction) -> Fraction:
    """The square root, but for digits far beyond every rounding boundary: a sticky half."""
    scale = 1 << 2400
    floor = math.isqrt(a.numerator * scale // a.denominator)
    if Fraction(floor * floor, scale) == a:
        return Fraction(floor, 1 << 1200)
    return Fraction(2 * floor + 1, 1 << 1201)


def _square_root(_context: Context, a: float) -> Any:
    if math.isnan(a) or a < 0:
        return math.nan
    return _root(Fraction(a)) if 0 < a < math.inf else a


def _inverse_root(context: Context, a: float) -> Any:
    if math.isnan(a) or a < 0:
        return math.nan
    if a == 0 or math.isinf(a):
        return math.copysign(math.inf, a) if a == 0 else 0.0
    return 1 / _root(Fraction(a))


def _special(function: Callable[[float], float]) -> Oracle:
    def oracle(_context: Context, a: float) -> Any:
        try:
            value = function(a)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if a == 0 else math.nan
        return Fraction(value) if math.isfinite(value) and value else value

    return oracle


FUNCTIONS: dict[str, tuple[Oracle, int]] = {
    # units in the last place that the result may be off
    "rcp": (_reciprocal, 0),
    "sqrt": (_square_root, 0),
    "rsqrt": (_inverse_root, 1),
    "sin": (_special(math.sin), 1),
    "cos": (_special(math.cos), 1),
    "ex2": (_special(lambda a: 2.0**a), 1),
    "lg2": (_special(math.log2), 1),
    "tanh": (_special(math.tanh), 1),
}


@pytest.mark.parametrize("name", _names("transcendental"))
def test_functions(name: str) -> None:
    entry = OPCODES[name]
    oracle, ulps = FUNCTIONS[name]
    for type_ in entry.types:
        for modifier in entry.modifiers:
            check_opcode(name, oracle, Context(type_, type_, frozenset((modifier,))), ulps)
        check_opcode(name, oracle, Context(type_, type_, frozenset(("approx", "ftz"))), ulps)


def test_approximations_are_special_functions() -> None:
    for name in _names("transcendental"):
        type_ = ScalarType.F32
        assert OPCODES[name].unit(Context(type_, type_, frozenset(("approx",)))) is (
            Unit.SPECIAL_FUNCTION
        )
    for name, flops in (("rcp", 0), ("sqrt", 1)):
        exact = Context(ScalarType.F64, ScalarType.F64, frozenset(("rn",)))
        assert OPCODES[name].unit(exact) is Unit.FP64
        assert OPCODES[name].flops_of(exact) == flops


def _fma(bits: int, mode: str, *operands: float) -> float:
    type_ = ScalarType.named(f"f{bits}")
    context = Context(type_, type_, frozenset((mode,)))
    with np.errstate(all="ignore"):
        return float(OPCODES["fma"].compute(context, *(np.array(x, type_.dtype) for x in operands)))


@pytest.mark.parametrize(
    ("bits", "operands"),
    [
        # the product's low half survives the cancellation
        (64, (1 + 2.0**-52, 1 - 2.0**-52, -1.0)),
        (32, (1 + 2.0**-23, 1 - 2.0**-23, -1.0)),
        (16, (1 + 2.0**-10, 1 - 2.0**-10, -1.0)),
        # a tie in the product that the addend breaks: rounding twice goes wrong
        (64, (1 + 2.0**-27, 1 + 2.0**-26, 2.0**-120)),
        (32, (1 + 2.0**-12, 1 + 2.0**-12, 2.0**-60)),
        (16, (1 + 2.0**-6, 1 + 2.0**-5, 2.0**-24)),
        # into and out of the subnormals
        (64, (2.0**-537, 2.0**-537, 2.0**-1074)),
        (64, (2.0**-600, 2.0**-600, -(2.0**-1074))),
        # the product alone overflows
        (64, (2.0**600, 2.0**600, -math.inf)),
        (64, (2.0**512, 2.0**512, -(2.0**1023))),
        (32, (2.0**100, 2.0**28, -(2.0**127))),
        # terms too far apart to meet
        (64, (2.0**500, 2.0**500, -(2.0**-1074))),
        (64, (2.0**-500, 2.0**-500, 1.0)),
    ],
)
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_fma_rounds_once(
    bits: int,
    operands: tuple[float, float, float],
    mode: str,
) -> None:
    a, b, c = operands
    if math.isinf(c):
        assert _fma(bits, mode, a, b, c) == c
        return
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert _fma(bits, mode, a, b, c) == rounded(exact, bits, mode)


WIDTHS = st.sampled_from([16, 32, 64])
MODES = st.sampled_from(["rn", "rz", "rm", "rp"])


@settings(deadline=None)  # the first fma compiles
@given(st.data(), WIDTHS, MODES)
def test_fma_agrees_with_fractions(data: Any, bits: int, mode: str) -> None:
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=bits)  # type: ignore[arg-type]
    a, b = data.draw(numbers), data.draw(numbers)
    # half of the addends nearly cancel the product
    near = float(np.float64(-a * b).astype(f"f{bits // 8}")) if abs(a * b) < 6e4 else 0.0
    c = data.draw(st.one_of(numbers, st.just(near)))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        assert _fma(bits, mode, a, b, c) == rounded(exact, bits, mode)


@pytest.mark.parametrize("name", ["add", "mul", "div"])
@settings(deadline=None)  # the first fma compiles
@given(st.data(), WIDTHS, MODES)
def test_directed_rounding_agrees_with_fractions(
    name: str,
    data: Any,
    bits: int,
    mode: str,
) -> None:
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=bits)  # type: ignore[arg-type]
    a, b = data.draw(numbers), data.draw(numbers)
    type_ = ScalarType.named(f"f{bits}")
    if name == "div" and b == 0:
        return
    x, y = Fraction(a), Fraction(b)
    exact = x + y if name == "add" else x * y if name == "mul" else x / y
    context = Context(type_, type_, frozenset((mode,)))
    with np.errstate(all="ignore"):
        found = OPCODES[name].compute(context, *(np.array(v, type_.dtype) for v in (a, b)))
    if exact:
        assert float(found) == rounded(exact, bits, mode)


def test_the_table_does_not_import_numba() -> None:
    code = "import sys, kernelcast.simcore.isa; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
