"""LLVM IR: casts against Python's and NumPy's own."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

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
hard_integers = shared.hard_integers
same = shared.same


@pytest.mark.parametrize("source", INTEGERS)
def test_integer_casts(source: str) -> None:
    values = hard_integers(source)
    width = BITS[source]
    names: list[tuple[str, str]] = []
    for target, bits in BITS.items():
        names += [(kind, target) for kind in ("zext", "sext") if bits > width]
        names += [("trunc", target)] if bits < width else []
    operations = []
    for kind, target in names:
        last = "" if target == "i64" else f"\n  %r = zext {target} %r.c to i64"
        made = "%r" if target == "i64" else "%r.c"
        operations.append(f"  {made} = {kind} {source} %x0 to {target}{last}")
    found = evaluated(operations, [(source, values)], "i64", np.uint64)
    for engine in ENGINES:
        for (kind, target), row in zip(names, found[engine], strict=True):
            mask = (1 << BITS[target]) - 1
            numbers = [x & (1 << width) - 1 if kind == "zext" else x for x in values.tolist()]
            assert row.tolist() == [x & mask for x in numbers], (engine, kind, target)


@pytest.mark.parametrize("type_", FLOATS)
def test_casts_between_integers_and_floats(type_: str) -> None:
    dtype = FLOATS[type_]
    integers = np.array([0, 1, 5, 100, -1, -100, 127, -128], np.int64)
    for source in INTEGERS:
        mask = (1 << BITS[source]) - 1
        cut = f"  %r.c = trunc i64 %x0 to {source}\n" if source != "i64" else ""
        operand = "%r.c" if cut else "%x0"
        operations = [
            f"{cut}  %r = {kind} {source} {operand} to {type_}" for kind in ("sitofp", "uitofp")
        ]
        found = evaluated(operations, [("i64", integers)], type_, dtype)
        with np.errstate(over="ignore"):
            wanted = [integers.astype(dtype), np.array([x & mask for x in integers.tolist()])]
            wanted[1] = wanted[1].astype(np.float64).astype(dtype)
        for engine in ENGINES:
            assert same(found[engine][0], wanted[0]), (engine, source)
            assert same(found[engine][1], wanted[1]), (engine, source)


@pytest.mark.parametrize("type_", FLOATS)
def test_casts_of_floats_to_integers(type_: str) -> None:
    values = np.array([0.0, -0.9, 1.5, 99.9, -100.75, 127.0], FLOATS[type_])
    names = [(kind, target) for target in INTEGERS for kind in ("fptosi", "fptoui")]
    operations = []
    for kind, target in names:
        number = "%x0" if kind == "fptosi" else "%r.a"
        start = (
            ""
            if kind == "fptosi"
            else f"  %r.a = call {type_} @llvm.fabs.{_short(type_)}({type_} %x0)\n"
        )
        made = "%r" if target == "i64" else "%r.c"
        last = "" if target == "i64" else f"\n  %r = sext {target} %r.c to i64"
        operations.append(f"{start}  {made} = {kind} {type_} {number} to {target}{last}")
    found = evaluated(operations, [(type_, values)], "i64", np.int64)
    for engine in ENGINES:
        for (kind, target), row in zip(names, found[engine], strict=True):
            numbers = values if kind == "fptosi" else np.abs(values)
            assert row.tolist() == np.trunc(numbers).astype(np.int64).tolist(), (engine, target)


def _short(type_: str) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}[type_]


@pytest.mark.parametrize(
    ("narrow", "wide"), [("half", "float"), ("half", "double"), ("float", "double")]
)
def test_casts_between_floats(narrow: str, wide: str) -> None:
    values = np.array([0.0, -0.0, 1.1, -2.7, 65504.0, 1e-7, 1e30, np.inf, np.nan], FLOATS[wide])
    found = evaluated(
        [f"  %r = fptrunc {wide} %x0 to {narrow}"], [(wide, values)], narrow, FLOATS[narrow]
    )
    with np.errstate(over="ignore"):
        cut = values.astype(FLOATS[narrow])
    back = evaluated([f"  %r = fpext {narrow} %x0 to {wide}"], [(narrow, cut)], wide, FLOATS[wide])
    for engine in ENGINES:
        assert same(found[engine][0], cut)
        assert same(back[engine][0], cut.astype(FLOATS[wide]))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("i32", "float"),
        ("double", "i64"),
        ("<4 x i8>", "i32"),
        ("i32", "<4 x i8>"),
        ("<2 x i16>", "float"),
        ("<4 x half>", "<2 x i32>"),
        ("<2 x double>", "<4 x float>"),
        ("<16 x i8>", "<2 x i64>"),
        ("<8 x i16>", "<16 x i8>"),
    ],
)
def test_bitcast_keeps_the_bits(source: str, target: str) -> None:
    """Memory holds the first element lowest, so equal bytes are equal bits."""
    body = f"""
  %p = getelementptr {source}, ptr addrspace(1) %a, i64 %i
  %q = getelementptr {target}, ptr addrspace(1) %o, i64 %i
  %x = load {source}, ptr addrspace(1) %p, align 4
  %y = bitcast {source} %x to {target}
  store {target} %y, ptr addrspace(1) %q, align 4"""
    kernel = compiled(body, "ptr addrspace(1) %a, ptr addrspace(1) %o")
    data = np.random.default_rng(1).integers(0, 256, THREADS * 16, dtype=np.uint8)
    size = {"i32": 4, "double": 8, "<4 x i8>": 4, "<2 x i16>": 4, "<4 x half>": 8}.get(source, 16)
    for engine in ENGINES:
        out = np.zeros_like(data)
        run(kernel, engine, THREADS, data, out)
        assert np.array_equal(out[: THREADS * size], data[: THREADS * size]), engine
