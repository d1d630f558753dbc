"""Video instructions on both engines against the PTX manual's pseudocode in Python integers."""

from __future__ import annotations

import itertools
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.simcore.engine import ENGINES
from kernelcast.simcore.isa.opcodes.table import OPCODES
from tests.drawn_cases import drawn

run_statements: Any = runpy.run_path(str(Path(__file__).parents[2] / "statement_runs.py"))[
    "run_statements"
]
TYPES = ("u32", "s32")
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
SECOND: dict[str, Callable[[int, int], int]] = {"add": lambda a, b: a + b, "min": min, "max": max}
HARD = (0, 1, 31, 32, 33, 0x7F, 0x80, 0x7FFF, 0x8000, 0x7FFFFFFF, 1 << 31, (1 << 32) - 1)
WIDTHS = {"b": 8, "h": 16}
STATEMENT = re.compile(r"(\w+)\.([\w.]+) ([^;]+);")


def in_range(value: int, bits: int, is_signed: bool) -> int:
    """A number of so many bits from the lowest of `value`."""
    value %= 1 << bits
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def clamp(value: int, bits: int, is_signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    return max(low, min(high, value))


def scalar_part(word: int, selector: str, is_signed: bool) -> int:
    if not selector:
        return in_range(word, 32, is_signed)
    bits = WIDTHS[selector[0]]
    return in_range(word >> (bits * int(selector[1])), bits, is_signed)


def basic(root: str, own: set[str], a: int, b: int) -> int:
    match root:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vabsdiff":
            return abs(a - b)
        case "vmin" | "vmax":
            return min(a, b) if root == "vmin" else max(a, b)
        case "vavrg":
            return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1
        case "vset":
            return int(COMPARED[next(iter(own & set(COMPARED)))](a, b))
    amount = min(b, 32) if "clamp" in own else b % 32
    return a << amount if root == "vshl" else a >> amount


def scalar(root: str, types: list[str], own: set[str], names: list[str], words: list[int]) -> int:
    selectors = [name.partition(".")[2] for name in names]
    d_type, a_type, b_type = ("u32", *types) if root == "vset" else types
    a, b = (
        scalar_part(words[i], selectors[i + 1], kind == "s32")
        for i, kind in enumerate((a_type, b_type))
    )
    value, bits = basic(root, own, a, b), WIDTHS[selectors[0][0]] if selectors[0] else 32
    if "sat" in own:
        value = clamp(value, bits, d_type == "s32")
    for name in own & set(SECOND):
        value = SECOND[name](value, in_range(words[2], 32, d_type == "s32"))
    if not selectors[0]:
        return value % (1 << 32)
    start, mask = bits * int(selectors[0][1]), (1 << bits) - 1
    return (words[2] & ~(mask << start)) | ((value & mask) << start)


def multiplied(types: list[str], own: set[str], names: list[str], words: list[int]) -> int:
    """The pseudocode of `vmad`, with its complements."""
    negated = [name.startswith("-") for name in names]
    a, b = (
        scalar_part(words[i], names[i + 1].partition(".")[2], types[i + 1] == "s32")
        for i in range(2)
    )
    is_signed = "s32" in types[1:] or negated[1] != negated[2] or negated[3]
    product, c, one = a * b, words[2], 0
    if "po" in own:
        one = 1
    elif negated[1] != negated[2]:
        product, one = ~product, 1
    elif negated[3]:
        c, one = ~c, 1
    total = product + in_range(c, 32, is_signed) + one
    total >>= 7 if "shr7" in own else 15 if "shr15" in own else 0
    return (clamp(total, 32, is_signed) if "sat" in own else total) % (1 << 32)


def packed(root: str, types: list[str], own: set[str], names: list[str], words: list[int]) -> int:
    count = int(root[-1])
    bits, letter = 32 // count, "h" if count == 2 else "b"
    d_type, a_type, b_type = ("u32", *types) if root.startswith("vset") else types
    both = words[0] | words[1] << 32

    def parts(selector: str, default: str, is_signed: bool) -> list[int]:
        places = [int(x) for x in (selector or letter + default)[1:]][::-1]
        return [in_range(both >> (bits * place), bits, is_signed) for place in places]

    selectors = [name.partition(".")[2] for name in names]
    a = parts(selectors[1], "3210"[-count:], a_type == "s32")
    b = parts(selectors[2], "7654" if count == 4 else "32", b_type == "s32")
    written = {int(x) for x in (selectors[0] or letter + "3210"[-count:])[1:]}
    word = words[2]
    for lane in written:
        value = basic(root[:-1], own, a[lane], b[lane])
        value = clamp(value, bits, d_type == "s32") if "sat" in own else value
        if "add" in own:
            word += value
        else:
            mask = ((1 << bits) - 1) << (bits * lane)
            word = (word & ~mask) | ((value << (bits * lane)) & mask)
    return word % (1 << 32)


def expected(statement: str, words: list[int]) -> int:
    found = STATEMENT.fullmatch(statement)
    assert found is not None
    root, parts, names = found[1], found[2].split("."), found[3].split(", ")
    types, own = [p for p in parts if p in TYPES], {p for p in parts if p not in TYPES}
    if root == "vmad":
        return multiplied(types, own, names, words)
    if root[-1].isdigit():
        return packed(root, types, own, names, words)
    return scalar(root, types, own, names, words)


def joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def scalar_statements(root: str) -> list[str]:
    types = [joined(*t) for t in itertools.product(TYPES, repeat=2 if root == "vset" else 3)]
    modes = ("clamp", "wrap") if "vsh" in root else tuple(COMPARED) if root == "vset" else ("",)
    if "vsh" in root:
        types = [t for t in types if t.endswith("u32")]
    found = []
    for kind, sat, mode in itertools.product(types, ("", "sat"), modes):
        if sat and root == "vset":
            continue
        name = joined(root, kind, sat, mode)
        found += [f"{name} %r0, %r1, %r2;", f"{name} %r0, %r1.b3, %r2.h1;"]
        found += [f"{name}.{second} %r0, %r1.h0, %r2.b0, %r3;" for second in SECOND]
        found += [f"{name} %r0.{part}, %r1.b1, %r2, %r3;" for part in ("b0", "b3", "h0", "h1")]
    return found


def multiplications() -> list[str]:
    found = []
    for types, sat, scale in itertools.product(
        itertools.product(TYPES, repeat=3), ("", "sat"), ("", "shr7", "shr15")
    ):
        name = joined("vmad", *types)
        operands = ("%r1, %r2, %r3", "-%r1, %r2, %r3", "%r1, -%r2.h1, %r3", "%r1, %r2, -%r3")
        found += [f"{joined(name, sat, scale)} %r0, {signed};" for signed in operands]
        found.append(f"{joined(name, sat, scale)} %r0, -%r1.b2, -%r2.h0, %r3;")
        found.append(f"{joined(name, 'po', sat, scale)} %r0, %r1.h1, %r2, %r3;")
    return found


def packed_statements(root: str, count: int) -> list[str]:
    random = Random(f"{root}{count}")
    letter, digits = ("h", "0123") if count == 2 else ("b", "01234567")
    masks = ["", ".h1", ".h0", ".h10"] if count == 2 else ["", ".b0", ".b31", ".b210", ".b3"]
    types = list(itertools.product(TYPES, repeat=2 if root == "vset" else 3))
    modes = tuple(COMPARED) if root == "vset" else ("",)
    found = []
    for kind, mode, last in itertools.product(types, modes, ("", "sat", "add")):
        if last == "sat" and root == "vset":
            continue
        mask, selected = random.choice(masks), "".join(random.choices(digits, k=count))
        name = joined(f"{root}{count}", *kind, mode, last)
        found.append(f"{name} %r0, %r1, %r2, %r3;")
        found.append(f"{name} %r0{mask}, %r1.{letter}{selected}, %r2, %r3;")
        found.append(f"{name} %r0{mask}, %r1, %r2.{letter}{selected[::-1]}, %r3;")
    return found


GROUPS = {
    **{root: scalar_statements(root) for root in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")},
    **{root: scalar_statements(root) for root in ("vset", "vshl", "vshr")},
    "vmad": multiplications(),
    **{
        f"{root}{count}": packed_statements(root, count)
        for root in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
        for count in (2, 4)
    },
}
MANY, FEW = 40, 12
"""Statements of a root that a run executes, all or drawn ones: compiling them takes longest."""


def operand_words() -> list[list[int]]:
    random = Random(9)
    rows = [list(row) for row in itertools.product(HARD[::2], HARD, HARD[::5])]
    rows += [[random.getrandbits(32) for _ in range(3)] for _ in range(40)]
    return random.sample(rows, 64)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("name", GROUPS)
def test_video_instructions(name: str, engine: str) -> None:
    rows = operand_words()
    statements = drawn(Random(name).sample(GROUPS[name], min(MANY, len(GROUPS[name]))), FEW)
    found = run_statements(statements, np.array(rows, np.uint32), engine)
    for number, statement in enumerate(statements):
        wanted = [expected(statement, row) for row in rows]
        assert found[:, number].tolist() == wanted, statement


def test_the_family_is_complete() -> None:
    names = {n for n, e in OPCODES.items() if e.compute.__module__.endswith(".video")}
    assert names == set(GROUPS)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("vadd.u32.u32 %r0, %r1, %r2;", "no form of 'vadd' fits"),
        ("vadd.u32.u32.u32.sat.sat %r0, %r1, %r2;", "no form of 'vadd' fits"),
        ("vadd.u32.u32.u32 %r0, %r1, %r2, %r3;", "takes 3 operands, got 4"),
        ("vadd.u32.u32.u32.add %r0, %r1, %r2;", "takes 4 operands, got 3"),
        ("vadd.u32.u32.u32.add %r0.b1, %r1, %r2, %r3;", "either a part of the result"),
        ("vadd.u32.u32.u32 %r0, -%r1, %r2;", "cannot take a sign here"),
        ("vmad.u32.u32.u32 %r0, -%r1, %r2, -%r3;", "cannot take a sign here"),
        ("vmad.u32.u32.u32.po %r0, -%r1, %r2, %r3;", "cannot take a sign here"),
        ("vadd2.u32.u32.u32.add.sat %r0, %r1, %r2, %r3;", "no form of 'vadd2' fits"),
        ("vadd2.u32.u32.u32 %r0, %r1.b0, %r2, %r3;", "no register '%r1.b0'"),
        ("vshl.u32.u32.s32.clamp %r0, %r1, %r2;", "no form of 'vshl' fits"),
    ],
)
def test_what_ptx_lacks_is_refused(statement: str, reason: str) -> None:
    with pytest.raises(KernelcastError, match=re.escape(reason)):
        run_statements([statement], np.zeros((1, 3), np.uint32), "reference")
