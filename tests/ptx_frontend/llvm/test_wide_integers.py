"""Integers of widths that registers have not, against Python's integers."""

from __future__ import annotations

import random
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
kernels: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "llvm_kernels.py")))

Function = Callable[[int, int, int], int]
"""(first, second, width) -> the value, as an integer without a sign."""
COUNT = 128
SLOT = 16


def signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number


def quotient(a: int, b: int, n: int) -> int:
    """The quotient, rounded towards zero."""
    x, y = signed(a, n), signed(b, n)
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


ARITHMETIC: dict[str, Function] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
}
DIVISION: dict[str, Function] = {
    "udiv": lambda a, b, _: a // b,
    "urem": lambda a, b, _: a % b,
    "sdiv": quotient,
    "srem": lambda a, b, n: signed(a, n) - quotient(a, b, n) * signed(b, n),
}
SHIFTS: dict[str, Function] = {
    "shl": lambda a, b, _: a << b,
    "lshr": lambda a, b, _: a >> b,
    "ashr": lambda a, b, n: signed(a, n) >> b,
}
COMPARISONS: dict[str, Function] = {
    "eq": lambda a, b, _: a == b,
    "ne": lambda a, b, _: a != b,
    "ult": lambda a, b, _: a < b,
    "uge": lambda a, b, _: a >= b,
    "ugt": lambda a, b, _: a > b,
    "slt": lambda a, b, n: signed(a, n) < signed(b, n),
    "sle": lambda a, b, n: signed(a, n) <= signed(b, n),
    "sge": lambda a, b, n: signed(a, n) >= signed(b, n),
}


def operands(bits: int, seed: int) -> list[int]:
    random_ = random.Random(seed)
    hard = [1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    return [
        (random_.getrandbits(bits) if i % 3 else random_.choice(hard)) or 1 for i in range(COUNT)
    ]


def in_memory(numbers: list[int]) -> Any:
    return np.frombuffer(b"".join(x.to_bytes(SLOT, "little") for x in numbers), np.uint8).copy()


@pytest.mark.parametrize(
    ("bits", "engine"),
    [
        *((3, "reference"), (24, "jit"), (33, "reference"), (63, "reference"), (65, "jit")),
        *((96, "reference"), (128, "reference")),
    ],
)
def test_operations(bits: int, engine: str) -> None:
    """Loads and stores touch no more bytes than the integer has."""
    kind = f"i{bits}"
    cast = "zext" if bits > 64 else "trunc"
    body = [f"  %shift = urem i64 %i, {bits}\n  %s = {cast} i64 %shift to {kind}"]
    for name, align in (("x", 1), ("y", 8)):
        body.append(
            f"  %p{name} = getelementptr [{SLOT} x i8], ptr addrspace(1) %a{name}, i64 %i\n"
            f"  %{name} = load {kind}, ptr addrspace(1) %p{name}, align {align}"
        )
    functions = {**ARITHMETIC, **SHIFTS, **({} if bits > 64 else DIVISION)}
    body += [f"  %r{x} = {x} {kind} %x, %{'s' if x in SHIFTS else 'y'}" for x in functions]
    for name in COMPARISONS:
        body.append(f"  %c{name} = icmp {name} {kind} %x, %y")
        body.append(f"  %r{name} = select i1 %c{name}, {kind} %x, {kind} 2")
    names = [*functions, *COMPARISONS]
    for number, name in enumerate(names):
        body.append(
            f"  %k{name} = add i64 %i, {number * COUNT}\n"
            f"  %q{name} = getelementptr [{SLOT} x i8], ptr addrspace(1) %o, i64 %k{name}\n"
            f"  store {kind} %r{name}, ptr addrspace(1) %q{name}, align 1"
        )
    parameters = "ptr addrspace(1) %ax, ptr addrspace(1) %ay, ptr addrspace(1) %o"
    kernel = operations.compiled("\n".join(body), parameters)
    xs, ys = operands(bits, 1), operands(bits, 2)
    mask = (1 << bits) - 1
    out = np.zeros(SLOT * COUNT * len(names), np.uint8)
    operations.run(kernel, engine, COUNT, in_memory(xs), in_memory(ys), out)
    slots = [int.from_bytes(x.tobytes(), "little") for x in out.reshape(-1, SLOT)]
    for number, name in enumerate(names):
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if name in functions:
                wanted = functions[name](x, i % bits & mask if name in SHIFTS else y, bits)
            else:
                wanted = x if COMPARISONS[name](x, y, bits) else 2
            if name == "sdiv" and x == 1 << (bits - 1) and y == mask:
                continue  # has no meaning
            assert slots[number * COUNT + i] == wanted & mask, (name, engine, x, y)


def test_casts_and_reinterpretations() -> None:
    kernel = kernels.with_index(
        """  %w = sext i32 %n to i128
  %m = sub i128 %w, 7
  %b = bitcast i128 %m to <4 x i32>
  %e = extractelement <4 x i32> %b, i32 3
  %t = zext i64 %i to i65
  %tt = mul i65 %t, 3
  %t2 = lshr i65 %tt, 1
  %t3 = trunc i65 %t2 to i32
  %f = sitofp i32 %n to float
  %g = fptosi float %f to i7
  %h = sext i7 %g to i32
  %u = uitofp i7 %g to double
  %v = fptoui double %u to i32
  %s = add i32 %t3, %e
  %s2 = add i32 %s, %h
  %r = add i32 %s2, %v
  store i32 %r, ptr addrspace(1) %p
  ret void"""
    )
    i = np.arange(32)
    wanted = i * 3 // 2 + np.where(i < 7, -1, 0) + i + i
    assert np.array_equal(kernels.results(kernel), wanted)


def test_closed_forms_that_optimisers_write() -> None:
    """n (n + 1) / 2 in 33 bits, and phis of wide integers."""
    kernel = kernels.with_index(
        """  %w = zext i32 %n to i33
  %w1 = add nuw i33 %w, 1
  %m = mul i33 %w, %w1
  %h = lshr i33 %m, 1
  %c = icmp ugt i32 %n, 3
  br i1 %c, label %large, label %end
large:
  br label %end
end:
  %f = phi i33 [ %h, %large ], [ -1, %entry ]
  %r = trunc i33 %f to i32
  store i32 %r, ptr addrspace(1) %p
  ret void"""
    )
    i = np.arange(32)
    assert np.array_equal(kernels.results(kernel), np.where(i > 3, i * (i + 1) // 2, -1))


@pytest.mark.parametrize(
    "line", ["%x = udiv i128 %w, 3", "%x = uitofp i128 %w to float", "%x = fptoui float 1.0 to i96"]
)
def test_what_is_refused_by_name(line: str) -> None:
    made = kernels.module(
        "define spir_kernel void @k(ptr addrspace(1) %o) {\n"
        "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n"
        f"  %w = zext i64 %i to i128\n  {line}\n  ret void\n}}\n"
    )
    assert "not supported" in str(made.rejected["k"][0])
