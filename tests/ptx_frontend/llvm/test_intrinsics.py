"""LLVM IR: LLVM's own functions on numbers against Python's and NumPy's own."""

from __future__ import annotations

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
BITS = shared.BITS
ENGINES = shared.ENGINES
evaluated = shared.evaluated
pairs = shared.pairs
hard_integers = shared.hard_integers
same = shared.same
signed = shared.signed


INTRINSICS: dict[str, Callable[[int, int, int], int]] = {
    # unsigned number, width, a second unsigned number
    "ctpop": lambda u, w, v: u.bit_count(),
    "ctlz": lambda u, w, v: w - u.bit_length(),
    "cttz": lambda u, w, v: (u & -u).bit_length() - 1 if u else w,
    "bitreverse": lambda u, w, v: int(f"{u:0{w}b}"[::-1], 2),
    "bswap": lambda u, w, v: int.from_bytes(u.to_bytes(w // 8, "little"), "big"),
    "fshl": lambda u, w, v: (((u << w | v) << (v % w)) >> w) & (1 << w) - 1,
    "fshr": lambda u, w, v: ((u << w | v) >> (v % w)) & (1 << w) - 1,
    "uadd.sat": lambda u, w, v: min(u + v, (1 << w) - 1),
    "usub.sat": lambda u, w, v: max(u - v, 0),
    "sadd.sat": lambda u, w, v: clamped(signed(u, w) + signed(v, w), w),
    "ssub.sat": lambda u, w, v: clamped(signed(u, w) - signed(v, w), w),
    "umin": lambda u, w, v: min(u, v),
    "umax": lambda u, w, v: max(u, v),
    "smin": lambda u, w, v: min(signed(u, w), signed(v, w)),
    "smax": lambda u, w, v: max(signed(u, w), signed(v, w)),
    "abs": lambda u, w, v: abs(signed(u, w)),
}


def clamped(number: int, width: int) -> int:
    return max(-(1 << (width - 1)), min(number, (1 << (width - 1)) - 1))


@pytest.mark.parametrize("type_", INTEGERS)
def test_integer_intrinsics(type_: str) -> None:
    first, second = pairs(hard_integers(type_))
    width = BITS[type_]
    mask = (1 << width) - 1
    names = [name for name in INTRINSICS if not (name == "bswap" and width == 8)]
    operations = []
    for name in names:
        extra = {"ctlz": ", i1 false", "cttz": ", i1 false", "abs": ", i1 false"}.get(name, "")
        if name in ("fshl", "fshr"):
            extra = f", {type_} %x1, {type_} %x1"
        elif not extra and name not in ("ctpop", "bitreverse", "bswap"):
            extra = f", {type_} %x1"
        operations.append(f"  %r = call {type_} @llvm.{name}.{type_}({type_} %x0{extra})")
    found = evaluated(operations, [(type_, first), (type_, second)], type_, first.dtype)
    for engine in ENGINES:
        for name, row in zip(names, found[engine], strict=True):
            wanted = [
                INTRINSICS[name](a & mask, width, b & mask) & mask
                for a, b in zip(first.tolist(), second.tolist(), strict=True)
            ]
            assert [value & mask for value in row.tolist()] == wanted, (engine, name)


def test_float_intrinsics() -> None:
    first = np.array([1.5, -2.5, 0.3, -0.0, 7.999, -3.2, 4.0, 2.25], np.float32)
    second = np.array([-1.0, 2.0, 0.3, 5.0, np.nan, -9.0, 4.0, -0.0], np.float32)
    oracles: dict[str, Array] = {
        "fabs": np.abs(first),
        "floor": np.floor(first),
        "ceil": np.ceil(first),
        "trunc": np.trunc(first),
        "rint": np.rint(first),
        "copysign": np.copysign(first, second),
        "minnum": np.fmin(first, second),
        "maximum": np.maximum(first, second),
        "fmuladd": (first.astype(np.float64) * second + second).astype(np.float32),
    }
    extra = {"copysign": 1, "minnum": 1, "maximum": 1, "fmuladd": 2}
    operations = [
        f"  %r = call float @llvm.{name}.f32(float %x0{', float %x1' * extra.get(name, 0)})"
        for name in oracles
    ]
    found = evaluated(operations, [("float", first), ("float", second)], "float", np.float32)
    for engine in ENGINES:
        for (name, wanted), row in zip(oracles.items(), found[engine], strict=True):
            assert same(row, wanted), (engine, name)
