"""Approximated and rounded functions as machine code.

Approximations lie within the bounds that `ACCURACIES` cites of PTX execution, which rounds the
exact value; division, roots and reciprocals that PTX rounds are bit-equal.
"""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.ptx_frontend.sass.lowering.arithmetic.special_functions import (
    ACCURACIES,
    Accuracy,
)
from tests.ptx_frontend.sass.arithmetic.float_divisions import executed_opcodes
from tests.ptx_frontend.sass.arithmetic.float_statements import (
    OPERANDS,
    Bits,
    FloatStatement,
    assert_same_as_ptx,
    kernels_of,
    operand_bits,
    results_of,
    sample,
)
from tests.ptx_frontend.sass.native_programs import ENGINES

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_120a")
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_SINGLE = ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos")
_DIGITS = {"f32": 23, "f16": 10, "bf16": 7, "f64": 52}
_LEAST = {"f32": -126, "f16": -14, "bf16": -126, "f64": -1022}


def _approximations() -> list[tuple[FloatStatement, Accuracy]]:
    found = []
    for flushes in ("", ".ftz"):
        for name in _SINGLE:
            text = f"{name}.approx{flushes}.f32 rf, f"
            found.append((FloatStatement(text, "f32"), ACCURACIES[f"{name}.approx.f32"]))
        for name in ("div.approx", "div.full"):
            text = f"{name}{flushes}.f32 rf, f, g"
            found.append((FloatStatement(text, "f32"), ACCURACIES[f"{name}.f32"]))
        text = f"rsqrt.approx{flushes}.f64 rm, m"
        found.append((FloatStatement(text, "f64"), ACCURACIES["rsqrt.approx.f64"]))
    rest = {
        "tanh.approx.f32 rf, f": ("f32", 75),
        "tanh.approx.f16 rh, ha": ("f16", 75),
        "tanh.approx.bf16 rh, ba": ("bf16", 90),
        "ex2.approx.f16 rh, ha": ("f16", 75),
        "ex2.approx.ftz.bf16 rh, ba": ("bf16", 90),
        "rcp.approx.ftz.f64 rm, m": ("f64", 0),
    }
    for text, (kind, since) in rest.items():
        name = text.split()[0]
        accuracy = ACCURACIES[name if name in ACCURACIES else name.replace(".ftz", "")]
        found.append((FloatStatement(text, kind, since), accuracy))
    return found


def _numbers(bits: Bits, kind: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    if kind == "f64":
        return bits.view(np.float64)
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    word = bits << np.uint64(16) if kind == "bf16" else bits
    return word.astype(np.uint32).view(np.float32).astype(np.float64)


def _tolerance(
    wanted: np.ndarray[tuple[int, ...], np.dtype[np.float64]], kind: str, bound: Accuracy
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """How far a result may be off; PTX execution has rounded its own by half a place."""
    wanted = np.where(np.isfinite(wanted), wanted, 0.0)
    exponent = np.maximum(np.frexp(wanted)[1] - 1, _LEAST[kind])
    place = np.ldexp(1.0, exponent - _DIGITS[kind])
    most = np.maximum(bound.relative * np.abs(wanted), bound.absolute)
    own = np.where(kind == "f64", 0.0, 0.5 * place)
    return np.asarray(np.maximum(bound.ulp * place, most + own), np.float64)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_approximations_are_within_the_bounds_of_the_manual(architecture: str) -> None:
    bounds = dict(_approximations())
    number = int(architecture.strip("sm_a"))
    statements = [statement for statement in bounds if statement.since <= number]
    for part, source, machine in kernels_of(statements, architecture):
        wanted = results_of(source, len(part), "reference")
        for engine in ENGINES:
            found = results_of(machine, len(part), engine)
            for row, statement in enumerate(part):
                _assert_near(statement, bounds[statement], wanted[row], found[row])


def _assert_near(statement: FloatStatement, bound: Accuracy, want: Bits, got: Bits) -> None:
    kind = statement.result
    wanted, found = _numbers(want, kind), _numbers(got, kind)
    letter = statement.letters[-1]
    of, position, _, _ = OPERANDS[letter]
    operand = np.abs(_numbers(operand_bits(of)[position], of))
    both_nan = np.isnan(wanted) & np.isnan(found)
    is_finite = np.isfinite(wanted) & np.isfinite(found)
    distance = np.abs(np.where(is_finite, wanted, np.inf) - np.where(is_finite, found, 0.0))
    is_near = distance <= _tolerance(wanted, kind, bound)
    is_flushed = (found == 0) & (np.abs(wanted) <= 2.0 ** _LEAST[kind]) & ("ftz" in statement.text)
    is_outside = (operand > bound.limit) & np.isfinite(operand)
    right = both_nan | (wanted == found) | is_near | is_flushed | is_outside
    wrong = np.flatnonzero(~right)
    assert not wrong.size, (
        f"{statement.text} of {operand[wrong[0]]!r}: {found[wrong[0]]!r} for {wanted[wrong[0]]!r}"
    )


def _rounded() -> list[FloatStatement]:
    found = []
    for rounding in _ROUNDINGS:
        for flushes in ("", ".ftz") if rounding == "rn" else ("",):
            found += [
                FloatStatement(f"div.{rounding}{flushes}.f32 rf, f, g", "f32"),
                FloatStatement(f"rcp.{rounding}{flushes}.f32 rf, f", "f32"),
                FloatStatement(f"sqrt.{rounding}{flushes}.f32 rf, f", "f32"),
            ]
        found += [
            FloatStatement(f"div.{rounding}.f64 rm, m, n", "f64"),
            FloatStatement(f"rcp.{rounding}.f64 rm, m", "f64"),
            FloatStatement(f"sqrt.{rounding}.f64 rm, m", "f64"),
        ]
    return found


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_rounded_functions_are_bit_equal(architecture: str) -> None:
    statements = sample(_rounded(), architecture, ARCHITECTURES)
    statements += _rounded()[:2]
    assert_same_as_ptx(statements, architecture, ENGINES)


@pytest.mark.parametrize(("low", "high"), [(-60, 60), (0, 0), (-100, -40), (40, 100)])
def test_ordinary_divisions_need_no_slow_path(low: int, high: int) -> None:
    """A kernel of one division executes no call for operands of ordinary size."""
    draw = np.random.default_rng(5)
    exponents = draw.integers(low, high + 1, (2, 128)).astype(np.float32)
    a, b = np.exp2(exponents) * draw.uniform(1, 2, (2, 128)).astype(np.float32)
    assert "CALL" not in executed_opcodes(a, b)


@pytest.mark.parametrize(
    ("dividend", "divisor"),
    [(-135, 0), (-117, -20), (120, 127), (-120, -60), (120, -10), (-60, 80), (0, -130)],
)
def test_extreme_divisions_take_the_slow_path(dividend: int, divisor: int) -> None:
    """Powers of two of operands for which a step of the fast path would not be exact."""
    draw = np.random.default_rng(7)
    numbers = draw.uniform(1, 2, (2, 128)).astype(np.float32)
    a, b = (
        np.ldexp(x, e).astype(np.float32) for x, e in zip(numbers, (dividend, divisor), strict=True)
    )
    with np.errstate(over="ignore", under="ignore"):
        assert "CALL" in executed_opcodes(a, b)
