"""Columns of the table of opcodes: what they name holds of what opcodes compute.

Every rule has its place in every room that asks, and who has usual values stands in a list.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from difflib import unified_diff
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import SourceSpan
from kernelcast.simcore.address.extraction.rules import ADDRESS_RULES
from kernelcast.simcore.engine.jit.analysis.lane_variance import SHAPE_RULES
from kernelcast.simcore.isa.analysis.alignment import ALIGNMENT_RULES
from kernelcast.simcore.isa.analysis.upper_halves import LOWER_OPERANDS
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate
from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns, Detour, Order
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context, Opcode
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.timing.kernel.pipelines import DETOURS

LISTED = Path(__file__).with_name("usual_columns.txt")
ROOMS: Mapping[str, tuple[type[Enum], Collection[Enum]]] = {
    "alignment": (Algebra, ALIGNMENT_RULES),
    "upper halves": (Algebra, LOWER_OPERANDS),
    "shapes": (Algebra, SHAPE_RULES),
    "addresses": (Algebra, ADDRESS_RULES),
    "pipelines": (Detour, DETOURS),
}
CASES = 40


@pytest.mark.parametrize("room", ROOMS)
def test_every_rule_has_its_place_in_every_room(room: str) -> None:
    rules, placed = ROOMS[room]
    assert set(placed) == set(rules)


def usual_columns() -> list[str]:
    """A line an opcode: the columns that it leaves at their usual values.

    Who has a `comparison` follows from `algebra`.
    """
    usual = Columns()
    columns = [column.name for column in fields(Columns) if column.name != "comparison"]
    lines = []
    for entry in OPCODES.values():
        kept = [name for name in columns if getattr(entry, name) == getattr(usual, name)]
        lines.append(" ".join((f"{entry.name}:", *kept)))
    for operation in WARP_OPCODES.values():
        kept = ["detour"] if operation.detour is usual.detour else []
        lines.append(" ".join((f"{operation.name}:", *kept)))
    return sorted(lines)


def complaint(found: list[str], listed: list[str]) -> str:
    """What to change in the list, or in the table; empty where nothing."""
    changes = [line for line in unified_diff(listed, found, n=0, lineterm="") if line[0] in "+-"]
    return "\n".join(
        (
            "Opcodes that leave columns at their usual values; set them at the entry (simcore/isa/"
            f"opcodes), or, where the usual value holds, change {LISTED.name}:",
            *changes[2:],
        )
        if changes
        else ()
    )


def test_who_has_usual_values_stands_in_the_list() -> None:
    """Whoever adds an opcode says for each column that its usual value holds, or sets it."""
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    assert not complaint(usual_columns(), listed), complaint(usual_columns(), listed)


def test_the_complaint_names_new_and_stale_lines() -> None:
    listed = ["fma: algebra", "sad: algebra forms"]
    assert complaint(listed, listed) == ""
    *_, stale, new, other = complaint(
        ["fma: algebra", "sad: forms", "vnew: algebra"], listed
    ).split("\n")
    assert (stale, new, other) == ("-sad: algebra forms", "+sad: forms", "+vnew: algebra")


def integer_types(entry: Opcode) -> list[ScalarType]:
    return sorted((t for t in entry.types if t.is_integer), key=lambda item: item.ptx_name)


def by_name(belongs: Callable[[Opcode], object]) -> pytest.MarkDecorator:
    entries = [entry for entry in OPCODES.values() if belongs(entry)]
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)


def as_word(value: int, type_: ScalarType) -> int:
    """A number in the range of a type, signed where the type is."""
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.is_signed and value >> (type_.bits - 1) else value


def arrays(numbers: list[int], types: tuple[ScalarType, ...]) -> list[Any]:
    return [
        np.array([bool(number & 1) if t is ScalarType.PRED else as_word(number, t)], t.dtype)
        for number, t in zip(numbers, types, strict=True)
    ]


def drawn(entry: Opcode) -> Iterator[tuple[Context, list[int]]]:
    """Integer operands of all types and sizes; amounts of shifts stay below the width."""
    for type_ in integer_types(entry):
        yield from drawn_of(entry, type_)


def drawn_of(entry: Opcode, type_: ScalarType) -> Iterator[tuple[Context, list[int]]]:
    generator = random.Random(f"{entry.name} {type_.ptx_name}")
    sources = sorted(entry.sources, key=lambda item: item.ptx_name) or [type_]
    integers = [source for source in sources if source.is_integer]
    for index in range(CASES):
        context = Context(type_, integers[index % len(integers)], frozenset())
        words = []
        for of in entry.operand_types(context):
            word = generator.getrandbits(of.bits) >> generator.randrange(of.bits)
            words.append(as_word(word, of))
        if entry.algebra in (Algebra.SHIFT_LEFT, Algebra.SHIFT_RIGHT):
            words[1] %= type_.bits
        yield context, words


def results(entry: Opcode, context: Context, numbers: list[int]) -> list[int]:
    with np.errstate(all="ignore"):
        found = entry.compute(context, *arrays(numbers, entry.operand_types(context)))
    parts = found if isinstance(found, tuple) else (found,)
    return [int(np.asarray(part).reshape(-1)[0]) for part in parts]


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def lower(value: int) -> int:
    return as_word(value, ScalarType.U32) & 0xFFFFFF


def short(context: Context, value: int) -> int:
    bits = lower(value)
    return bits - (1 << 24) if context.type.is_signed and bits >> 23 else bits


MEANINGS: Mapping[Algebra, Callable[..., int | None]] = {
    Algebra.SUM: lambda _, a, b: a + b,
    Algebra.DIFFERENCE: lambda _, a, b: a - b,
    Algebra.NEGATION: lambda _, a: -a,
    Algebra.MAGNITUDE: lambda _, a: abs(a),
    **dict.fromkeys((Algebra.PRODUCT, Algebra.WIDE_PRODUCT), lambda _, a, b: a * b),
    **dict.fromkeys((Algebra.PRODUCT_SUM, Algebra.WIDE_PRODUCT_SUM), lambda _, a, b, c: a * b + c),
    Algebra.SHORT_PRODUCT: lambda x, a, b: short(x, a) * short(x, b),
    Algebra.SHORT_PRODUCT_SUM: lambda x, a, b, c: short(x, a) * short(x, b) + c,
    Algebra.QUOTIENT: lambda _, a, b: quotient(a, b) if b else None,
    Algebra.REMAINDER: lambda _, a, b: a - quotient(a, b) * b if b else None,
    Algebra.MINIMUM: lambda _, a, b: min(a, b),
    Algebra.MAXIMUM: lambda _, a, b: max(a, b),
    Algebra.AND: lambda _, a, b: a & b,
    Algebra.OR: lambda _, a, b: a | b,
    Algebra.XOR: lambda _, a, b: a ^ b,
    Algebra.NOT: lambda _, a: ~a,
    Algebra.SHIFT_LEFT: lambda _, a, n: a << n,
    Algebra.SHIFT_RIGHT: lambda _, a, n: a >> n,
    Algebra.COPY: lambda _, a: a,
    Algebra.CONVERSION: lambda _, a: a,
    Algebra.WINDOW: lambda _, a: a & 0xFFFFFFFF,
    Algebra.CHOICE: lambda _, a, b, p: a if p & 1 else b,
}
"""Results of (context, *operands), of any size; None where nothing is said. A window moves an
address by whole multiples of 2**32."""


@by_name(lambda entry: entry.algebra in MEANINGS)
def test_opcodes_are_the_algebra_that_they_name(entry: Opcode) -> None:
    for context, operands in drawn(entry):
        expected = MEANINGS[entry.algebra](context, *operands)
        (of,) = entry.result_types(context)
        found = results(entry, context, operands)[0]
        if entry.algebra is Algebra.WINDOW:
            found &= 0xFFFFFFFF
        if expected is not None:
            assert found == as_word(expected, of), (context, operands)


ORDERS: Mapping[Order, Callable[[int, int], bool]] = {
    Order.EQUAL: lambda a, b: a == b,
    Order.UNEQUAL: lambda a, b: a != b,
    Order.LESS: lambda a, b: a < b,
    Order.LESS_OR_EQUAL: lambda a, b: a <= b,
    Order.GREATER: lambda a, b: a > b,
    Order.GREATER_OR_EQUAL: lambda a, b: a >= b,
}
COMBINED: Mapping[Algebra | None, Callable[..., bool]] = {
    None: lambda holds: holds,
    Algebra.AND: lambda holds, p: holds and p,
    Algebra.OR: lambda holds, p: holds or p,
    Algebra.XOR: lambda holds, p: holds != p,
}


@by_name(lambda entry: entry.algebra is Algebra.COMPARISON and integer_types(entry))
def test_comparisons_are_the_order_that_they_name(entry: Opcode) -> None:
    assert entry.comparison is not None
    assert entry.comparison.order is not None
    for context, (a, b, *others) in drawn(entry):
        for pair in ((a, b), (a, a)):
            holds = ORDERS[entry.comparison.order](*pair)
            words = [bool(other & 1) for other in others]
            expected = COMBINED[entry.comparison.boolean](holds, *words)
            assert results(entry, context, [*pair, *others])[0] == expected, (pair, others)


def test_comparisons_without_an_order_are_of_no_integers() -> None:
    for entry in OPCODES.values():
        assert (entry.comparison is None) == (entry.algebra is not Algebra.COMPARISON)
        if entry.comparison is not None and entry.comparison.order is None:
            assert not any(type_.is_integer for type_ in entry.types), entry.name


def computation(entry: Opcode, context: Context, numbers: list[int]) -> Compute:
    return Compute(
        pc=0,
        mnemonic=entry.name,
        span=SourceSpan("", 0),
        opcode=entry,
        type=context.type,
        source_type=context.source_type,
        destinations=(None,),
        sources=tuple(Immediate(number) for number in numbers),
        modifiers=context.modifiers,
    )


def power(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else 64


@by_name(lambda entry: ALIGNMENT_RULES[entry.algebra])
def test_results_are_aligned_as_their_operands_promise(entry: Opcode) -> None:
    """Alignment counts as far as memory asks: windows of spaces begin at multiples of 2**40."""
    rule = ALIGNMENT_RULES[entry.algebra]
    assert rule is not None
    for context, operands in drawn(entry):
        promised = rule([power(x) for x in operands], computation(entry, context, operands))
        assert power(results(entry, context, operands)[0]) >= min(promised, 32), operands


@by_name(lambda entry: LOWER_OPERANDS[entry.algebra])
def test_lower_halves_depend_on_lower_halves(entry: Opcode) -> None:
    count = LOWER_OPERANDS[entry.algebra]
    wide = [type_ for type_ in entry.types if type_.bits == 64 and type_.is_integer]
    assert wide
    for type_ in wide:
        for context, operands in drawn_of(entry, type_):
            changed = [x ^ (0xABCDEF01 << 32) for x in operands[:count]]
            other = results(entry, context, [*changed, *operands[count:]])[0]
            assert (results(entry, context, operands)[0] ^ other) & 0xFFFFFFFF == 0, operands


def test_modifiers_of_ptx_are_modifiers_of_the_entry() -> None:
    """Rounding to nearest is what an entry does anyway."""
    for entry in OPCODES.values():
        groups = " ".join(entry.forms.modifiers.values()) if entry.forms else ""
        assert set(re.findall(r"\w+", groups)) <= entry.modifiers | {"rn"}, entry.name


def test_every_algebra_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Algebra) - {Algebra.COMPARISON, Algebra.OTHER}
    assert {entry.algebra for entry in OPCODES.values()} == set(Algebra)
