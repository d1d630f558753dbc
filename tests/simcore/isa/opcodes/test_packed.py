"""Arithmetic of mixed precision against exact fractions, `cvt.pack` against Python integers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType
from tests.simcore.isa.opcodes.verification import check_opcode

ROUNDINGS = ("rn", "rz", "rm", "rp")


def _exact(context: Context, factor: float, by: float, addend: float) -> Any:
    """factor * by + addend: a fraction, or the special value that float64 has for it, too."""
    special = factor * by + addend
    if not all(math.isfinite(x) for x in (factor, by, addend)):
        return special
    total = Fraction(factor) * Fraction(by) + Fraction(addend)
    if total:
        return total
    product_sign = math.copysign(1, factor) * math.copysign(1, by)
    if factor * by == 0 and addend == 0 and product_sign == math.copysign(1, addend):
        return addend
    return -0.0 if "rm" in context.modifiers else 0.0


ORACLES: dict[str, Callable[..., Any]] = {
    "add.mixed": lambda context, a, c: _exact(context, a, 1.0, c),
    "sub.mixed": lambda context, a, c: _exact(context, a, 1.0, -c),
    "fma.mixed": _exact,
}


@pytest.mark.parametrize("source", [ScalarType.F16, ScalarType.BF16], ids=lambda t: t.ptx_name)
@pytest.mark.parametrize("name", ORACLES)
def test_mixed_precision_rounds_once(name: str, source: ScalarType) -> None:
    for rounding, saturates in itertools.product(ROUNDINGS, ((), ("sat",))):
        context = Context(ScalarType.F32, source, frozenset((rounding, *saturates)))
        check_opcode(name, ORACLES[name], context)


def test_flops_of_mixed_precision_are_those_of_single() -> None:
    context = Context(ScalarType.F32, ScalarType.BF16, frozenset(("rn",)))
    assert [OPCODES[name].flops_of(context) for name in ORACLES] == [1, 1, 2]


PACKS = [name for name in OPCODES if name.startswith("cvt.pack.")]


@pytest.mark.parametrize("name", PACKS)
def test_integers_are_clamped_and_packed(name: str) -> None:
    kind = name.rpartition(".")[2]
    bits = int(kind[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)

    def oracle(_context: Context, a: int, b: int, *above: int) -> int:
        upper, lower = (min(max(x, low), high) % (1 << bits) for x in (a, b))
        return sum(c << 2 * bits for c in above) | upper << bits | lower

    check_opcode(name, oracle, Context(ScalarType.S32, ScalarType.S32, frozenset(("sat",))))


def test_every_width_is_packed() -> None:
    assert {name.rpartition(".")[2] for name in PACKS} == {
        f"{s}{n}" for s in "us" for n in (2, 4, 8, 16)
    }
