"""`atomicrmw` and `cmpxchg` of every operation and width, against one work-item after the other."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

operations: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "llvm_operations.py"))
)
THREADS, CELLS, START = 64, 3, 100
Function = Callable[[int, int], int]
WIDTHS = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}
INTEGERS: dict[str, Function] = {
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "nand": lambda old, x: ~(old & x),
    "xchg": lambda _, x: x,
    "umax": max,
    "umin": min,
    "uinc_wrap": lambda old, x: 0 if old >= x else old + 1,
    "udec_wrap": lambda old, x: x if old == 0 or old > x else old - 1,
    "usub_cond": lambda old, x: old - x if old >= x else old,
    "usub_sat": lambda old, x: max(old - x, 0),
}
FLOATS: dict[str, Any] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "fminimum": np.minimum,
    "fmaximum": np.maximum,
    "xchg": lambda _, x: x,
}


def updated(names: list[str], kind: str, dtype: Any, values: Any, start: int) -> tuple[Any, Any]:
    """(old values, memory in the end), shape (operation, ...), the same on both engines."""
    body = [
        f"  %p = getelementptr {kind}, ptr addrspace(1) %a, i64 %i\n"
        f"  %v = load {kind}, ptr addrspace(1) %p\n  %cell = urem i64 %i, {CELLS}"
    ]
    for number, name in enumerate(names):
        body.append(
            f"  %c{number} = add i64 %cell, {number * CELLS}\n"
            f"  %q{number} = getelementptr {kind}, ptr addrspace(1) %o, i64 %c{number}\n"
            f"  %old{number} = atomicrmw {name} ptr addrspace(1) %q{number}, {kind} %v seq_cst\n"
            f"  %d{number} = add i64 %i, {number * THREADS}\n"
            f"  %r{number} = getelementptr {kind}, ptr addrspace(1) %b, i64 %d{number}\n"
            f"  store {kind} %old{number}, ptr addrspace(1) %r{number}"
        )
    parameters = "ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %o"
    kernel = operations.compiled("\n".join(body), parameters)
    found = []
    for engine in operations.ENGINES:
        old = np.zeros((len(names), THREADS), dtype)
        memory = np.full((len(names), CELLS), start, dtype)
        _run(kernel, engine, values.copy(), old, memory)
        found.append((old, memory))
    assert all(np.array_equal(x, y) for x, y in zip(*found, strict=True))
    return found[0]


def _run(kernel: Any, engine: str, *arguments: Any) -> None:
    launch = operations.Launch((1, 1, 1), (THREADS, 1, 1), arguments)
    operations.execute(kernel, launch, engine=engine)


@pytest.mark.parametrize("kind", WIDTHS)
def test_operations_on_integers(kind: str) -> None:
    dtype = WIDTHS[kind]
    bits = np.dtype(dtype).itemsize * 8

    def signed(x: int) -> int:
        return x - (1 << bits) if x >> (bits - 1) else x

    functions: dict[str, Function] = {
        **INTEGERS,
        "max": lambda old, x: max(signed(old), signed(x)),
        "min": lambda old, x: min(signed(old), signed(x)),
    }
    values = np.random.default_rng(0).integers(0, 200, THREADS).astype(dtype)
    olds, memories = updated(list(functions), kind, dtype, values, START)
    for number, (name, function) in enumerate(functions.items()):
        cells, old = [START] * CELLS, []
        for i, value in enumerate(values.tolist()):
            old.append(cells[i % CELLS])
            cells[i % CELLS] = function(cells[i % CELLS], value) & (1 << bits) - 1
        assert memories[number].tolist() == cells, name
        assert olds[number].tolist() == old, name


@pytest.mark.parametrize(
    ("kind", "dtype"), [("half", np.float16), ("float", np.float32), ("double", np.float64)]
)
def test_operations_on_floats(kind: str, dtype: Any) -> None:
    values = np.random.default_rng(0).integers(-40, 40, THREADS).astype(dtype)
    _, memories = updated(list(FLOATS), kind, dtype, values, 0)
    for number, (name, function) in enumerate(FLOATS.items()):
        cells = np.zeros(CELLS, dtype)
        for i, value in enumerate(values):
            cells[i % CELLS] = function(cells[i % CELLS], value)
        assert np.array_equal(memories[number], cells), name


@pytest.mark.parametrize("kind", WIDTHS)
def test_comparing_exchange(kind: str) -> None:
    """The first work-item of a cell finds what it expects, the others do not."""
    body = f"""  %cell = urem i64 %i, {CELLS}
  %q = getelementptr {kind}, ptr addrspace(1) %o, i64 %cell
  %new = trunc i64 %i to i32
  %n = {"sext i32 %new" if kind == "i64" else "trunc i64 %i"} to {kind}
  %pair = cmpxchg ptr addrspace(1) %q, {kind} {START}, {kind} %n seq_cst seq_cst
  %done = extractvalue {{ {kind}, i1 }} %pair, 1
  %flag = zext i1 %done to i8
  %f = getelementptr i8, ptr addrspace(1) %a, i64 %i
  store i8 %flag, ptr addrspace(1) %f"""
    kernel = operations.compiled(body, "ptr addrspace(1) %a, ptr addrspace(1) %o")
    for engine in operations.ENGINES:
        flags, cells = np.zeros(THREADS, np.uint8), np.full(CELLS, START, WIDTHS[kind])
        _run(kernel, engine, flags, cells)
        assert flags.tolist() == [1] * CELLS + [0] * (THREADS - CELLS)
        assert cells.tolist() == list(range(CELLS))


@pytest.mark.parametrize(
    ("kind", "dtype"), [("half", np.float16), ("float", np.float32), ("double", np.float64)]
)
def test_remainder_of_floats(kind: str, dtype: Any) -> None:
    x = np.array([5.5, -5.5, 1e4, np.inf, 1, -0.0, 3, 2.5], dtype)
    y = np.array([2, 2, 3, 2, np.inf, 1, 0, -1], dtype)
    with np.errstate(all="ignore"):
        wanted = np.fmod(x, y)
    found = operations.evaluated(
        [f"%r = frem {kind} %x0, %x1"], [(kind, x), (kind, y)], kind, dtype
    )
    assert all(operations.same(rows[0], wanted) for rows in found.values())
