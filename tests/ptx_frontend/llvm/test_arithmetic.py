"""LLVM IR: arithmetic, comparison and selection against Python's and NumPy's own."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]
shared: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "llvm_operations.py"))
)
INTEGERS = shared.INTEGERS
FLOATS = shared.FLOATS
BITS = shared.BITS
THREADS = shared.THREADS
ENGINES = shared.ENGINES
compiled = shared.compiled
run = shared.run
evaluated = shared.evaluated
pairs = shared.pairs
hard_integers = shared.hard_integers
same = shared.same
signed = shared.signed


def hard_floats(type_: str) -> Array:
    info = np.finfo(FLOATS[type_])
    return np.array(
        [0.0, -0.0, 1.0, -1.5, 3.1, info.max, info.tiny, -info.tiny, np.inf, -np.inf, np.nan],
        info.dtype,
    )


def truncated_quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER_ORACLES: dict[str, Callable[[int, int, int, int, int], int]] = {
    # signed a and b, unsigned a and b, width
    "add": lambda a, b, u, v, w: a + b,
    "sub": lambda a, b, u, v, w: a - b,
    "mul": lambda a, b, u, v, w: a * b,
    "and": lambda a, b, u, v, w: a & b,
    "or": lambda a, b, u, v, w: a | b,
    "xor": lambda a, b, u, v, w: a ^ b,
    "shl": lambda a, b, u, v, w: a << (b % w),
    "lshr": lambda a, b, u, v, w: u >> (b % w),
    "ashr": lambda a, b, u, v, w: a >> (b % w),
    "udiv": lambda a, b, u, v, w: u // (v | 1),
    "urem": lambda a, b, u, v, w: u % (v | 1),
    "sdiv": lambda a, b, u, v, w: truncated_quotient(a, b & 63 | 1),
    "srem": lambda a, b, u, v, w: a - truncated_quotient(a, b & 63 | 1) * (b & 63 | 1),
}

COMPARISONS: dict[str, Callable[[int, int, int, int], bool]] = {
    "eq": lambda a, b, u, v: a == b,
    "ne": lambda a, b, u, v: a != b,
    "slt": lambda a, b, u, v: a < b,
    "sle": lambda a, b, u, v: a <= b,
    "sgt": lambda a, b, u, v: a > b,
    "sge": lambda a, b, u, v: a >= b,
    "ult": lambda a, b, u, v: u < v,
    "ule": lambda a, b, u, v: u <= v,
    "ugt": lambda a, b, u, v: u > v,
    "uge": lambda a, b, u, v: u >= v,
}


def second_operand(operation: str, type_: str, width: int) -> str:
    """Code that puts only values into `%b` with which the operation has a meaning."""
    if operation in ("shl", "lshr", "ashr"):
        return f"  %r.b = and {type_} %x1, {width - 1}\n"
    if operation in ("udiv", "urem"):
        return f"  %r.b = or {type_} %x1, 1\n"
    if operation in ("sdiv", "srem"):
        return f"  %r.c = and {type_} %x1, 63\n  %r.b = or {type_} %r.c, 1\n"
    return f"  %r.b = freeze {type_} %x1\n"


@pytest.mark.parametrize("type_", INTEGERS)
def test_integers(type_: str) -> None:
    first, second = pairs(hard_integers(type_))
    width, dtype = BITS[type_], first.dtype
    mask = (1 << width) - 1
    operations = [
        second_operand(name, type_, width) + f"  %r = {name} {type_} %x0, %r.b"
        for name in INTEGER_ORACLES
    ]
    found = evaluated(operations, [(type_, first), (type_, second)], type_, dtype)
    for engine in ENGINES:
        for name, row in zip(INTEGER_ORACLES, found[engine], strict=True):
            wanted = [
                INTEGER_ORACLES[name](a, b, a & mask, b & mask, width) & mask
                for a, b in zip(first.tolist(), second.tolist(), strict=True)
            ]
            assert [value & mask for value in row.tolist()] == wanted, (engine, name)


@pytest.mark.parametrize("type_", INTEGERS)
def test_integer_comparisons(type_: str) -> None:
    first, second = pairs(hard_integers(type_))
    mask = (1 << BITS[type_]) - 1
    operations = [
        f"  %r.c = icmp {name} {type_} %x0, %x1\n  %r = zext i1 %r.c to i32" for name in COMPARISONS
    ]
    found = evaluated(operations, [(type_, first), (type_, second)], "i32", np.int32)
    for engine in ENGINES:
        for name, row in zip(COMPARISONS, found[engine], strict=True):
            wanted = [
                int(COMPARISONS[name](a, b, a & mask, b & mask))
                for a, b in zip(first.tolist(), second.tolist(), strict=True)
            ]
            assert row.tolist() == wanted, (engine, name)


def test_single_bits() -> None:
    first, second = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    compare = [f"icmp {name}" for name in COMPARISONS]
    logic = ["and", "or", "xor", "add", "sub", "mul"]
    operations = [
        "  %r.a = trunc i32 %x0 to i1\n  %r.b = trunc i32 %x1 to i1\n"
        f"  %r.c = {name} i1 %r.a, %r.b\n  %r = zext i1 %r.c to i32"
        for name in (*compare, *logic)
    ]
    found = evaluated(operations, [("i32", first), ("i32", second)], "i32", np.int32)
    bits = list(zip(first.tolist(), second.tolist(), strict=True))
    wanted = [[int(test(-a, -b, a, b)) for a, b in bits] for test in COMPARISONS.values()]
    wanted += [[INTEGER_ORACLES[name](a, b, a, b, 1) & 1 for a, b in bits] for name in logic]
    for engine in ENGINES:
        assert [row.tolist() for row in found[engine]] == wanted


@pytest.mark.parametrize("type_", FLOATS)
def test_floats(type_: str) -> None:
    first, second = pairs(hard_floats(type_))
    oracles: dict[str, Callable[[Any, Any], Any]] = {
        "fadd": np.add,
        "fsub": np.subtract,
        "fmul": np.multiply,
        "fdiv": np.divide,
    }
    operations = [f"  %r = {name} {type_} %x0, %x1" for name in oracles]
    operations.append(f"  %r = fneg {type_} %x0")
    found = evaluated(operations, [(type_, first), (type_, second)], type_, first.dtype)
    with np.errstate(all="ignore"):
        wanted = [np.asarray(oracle(first, second)) for oracle in oracles.values()]
    for engine in ENGINES:
        for name, row, right in zip(
            [*oracles, "fneg"], found[engine], [*wanted, -first], strict=True
        ):
            assert same(row, right), (engine, name)


@pytest.mark.parametrize("type_", FLOATS)
def test_float_comparisons(type_: str) -> None:
    first, second = pairs(hard_floats(type_))
    ordered: dict[str, Callable[[float, float], bool]] = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
    names = ["false", "ord", "uno", "true"]
    names += [f"{kind}{name}" for kind in "ou" for name in ordered]
    operations = [
        f"  %r.c = fcmp {name} {type_} %x0, %x1\n  %r = zext i1 %r.c to i32" for name in names
    ]
    found = evaluated(operations, [(type_, first), (type_, second)], "i32", np.int32)

    def truth(name: str, a: float, b: float) -> bool:
        unordered = math.isnan(a) or math.isnan(b)
        if name in ("false", "true"):
            return name == "true"
        if name in ("ord", "uno"):
            return unordered == (name == "uno")
        return name[0] == "u" if unordered else ordered[name[1:]](a, b)

    for engine in ENGINES:
        for name, row in zip(names, found[engine], strict=True):
            wanted = [
                int(truth(name, a, b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)
            ]
            assert row.tolist() == wanted, (engine, name)


def test_selection_of_scalars_and_elements() -> None:
    body = """
  %p = getelementptr <4 x i32>, ptr addrspace(1) %a, i64 %i
  %x = load <4 x i32>, ptr addrspace(1) %p, align 16
  %c = icmp sgt <4 x i32> %x, <i32 0, i32 0, i32 0, i32 0>
  %y = select <4 x i1> %c, <4 x i32> %x, <4 x i32> splat (i32 -7)
  %d = trunc i64 %i to i1
  %z = select i1 %d, <4 x i32> %y, <4 x i32> zeroinitializer
  store <4 x i32> %z, ptr addrspace(1) %p, align 16"""
    kernel = compiled(body, "ptr addrspace(1) %a")
    data = np.random.default_rng(2).integers(-9, 9, (THREADS, 4), dtype=np.int32)
    wanted = np.where(data > 0, data, -7)
    wanted[::2] = 0
    for engine in ENGINES:
        out = data.copy()
        run(kernel, engine, THREADS, out)
        assert np.array_equal(out, wanted), engine
