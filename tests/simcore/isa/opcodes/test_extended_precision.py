"""Arithmetic with the carry flag against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType
from tests.simcore.isa.opcodes.verification import check_opcode

Oracle = Callable[..., Any]
NAMES = [n for n, e in OPCODES.items() if e.compute.__module__.endswith(".extended_precision")]


def _oracle(name: str) -> Oracle:
    def oracle(context: Context, *operands: int) -> Any:
        bits = context.type.bits
        values = [int(x) for x in operands]
        carry = values.pop() if OPCODES[name].signature.endswith("c") else 0
        if name.startswith("sub"):
            a, b = (x % (1 << bits) for x in values)
            exact = a - b - carry
        elif name.startswith("add"):
            exact = sum(x % (1 << bits) for x in values) + carry
        else:
            product = values[0] * values[1] >> (bits if ".hi" in name else 0)
            exact = product % (1 << bits) + values[2] % (1 << bits) + carry
        flag = exact < 0 or exact >> bits > 0
        return (exact, flag) if name.endswith(".cc") else exact

    return oracle


@pytest.mark.parametrize("name", NAMES)
def test_results_and_carries(name: str) -> None:
    for scalar in OPCODES[name].types:
        check_opcode(name, _oracle(name), Context(scalar, scalar, frozenset()))


def test_shorts_take_a_carry_and_never_give_one() -> None:
    shorts = {ScalarType.U16, ScalarType.S16}
    assert {n for n in NAMES if shorts <= OPCODES[n].types} == {
        "addc",
        "subc",
        "madc.lo",
        "madc.hi",
    }


def test_the_family_is_complete() -> None:
    giving = {f"{x}.cc" for x in ("add", "sub", "mad.lo", "mad.hi")}
    taking = {"addc", "subc", "madc.lo", "madc.hi"}
    assert set(NAMES) == giving | taking | {f"{x}.cc" for x in taking}


@pytest.mark.parametrize("root", ["add", "sub"])
def test_a_chain_computes_numbers_of_several_words(root: str) -> None:
    context = Context(ScalarType.U32, ScalarType.U32, frozenset())
    generator = np.random.default_rng(128)
    a, b = (generator.integers(0, 1 << 32, (4, 500), np.uint32) for _ in range(2))
    a[1:3, :100], b[1:3, :100] = 0xFFFFFFFF, 0  # carries that run through
    words, carry = [], None
    for x, y in zip(a, b, strict=True):
        name, flags = (f"{root}.cc", ()) if carry is None else (f"{root}c.cc", (carry,))
        word, carry = OPCODES[name].compute(context, x, y, *flags)
        words.append(word)

    def numbers(parts: Any) -> list[int]:
        return [sum(int(w) << (32 * i) for i, w in enumerate(lane)) for lane in np.transpose(parts)]

    sign = 1 if root == "add" else -1
    wanted = [(x + sign * y) % (1 << 128) for x, y in zip(numbers(a), numbers(b), strict=True)]
    assert numbers(words) == wanted
