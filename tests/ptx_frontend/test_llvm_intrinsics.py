"""LLVM IR: LLVM's own functions on numbers against Python's and NumPy's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.kernel import Kernel
from kernelcast.simcore.launch import Launch

Array = npt.NDArray[Any]

ENGINES = ("reference", "jit")

INTEGERS: dict[str, Any] = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

THREADS = 128

HEADER = """target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
"""


def compiled(body: str, parameters: str) -> Kernel:
    """The kernel `k` with that body; its index is `%i`. Intrinsics are declared by their calls."""
    declared = {
        f"declare {result} @{name}({', '.join(x.split()[0] for x in arguments.split(','))})\n"
        for result, name, arguments in re.findall(r"call (\w+) @(llvm\.[\w.]+)\((.*?)\)", body)
    }
    text = (
        f"{HEADER}{''.join(declared)}\ndefine spir_kernel void @k({parameters}) {{\n"
        f"  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n{body}\n  ret void\n}}\n"
    )
    made = read_llvm(text.encode(), "test.ll", is_text=True)
    assert not made.rejected, made.rejected["k"][0]
    return made.kernels["k"]


def run(kernel: Kernel, engine: str, threads: int, *arguments: Any) -> None:
    blocks = -(-threads // THREADS)
    launch = Launch((blocks, 1, 1), (THREADS, 1, 1), arguments)
    execute(kernel, launch, engine=engine)


def evaluated(
    operations: Sequence[str], inputs: Sequence[tuple[str, Array]], result: str, dtype: Any
) -> dict[str, list[Array]]:
    """What each operation on `%x0`, `%x1`, ... gives for every element, by engine.

    An operation defines `%r` from them; the inputs are padded to whole thread blocks.
    """
    count = len(inputs[0][1])
    padded = -(-count // THREADS) * THREADS
    body = []
    for number, (type_, _) in enumerate(inputs):
        body.append(
            f"  %p{number} = getelementptr {type_}, ptr addrspace(1) %a{number}, i64 %i\n"
            f"  %x{number} = load {type_}, ptr addrspace(1) %p{number}"
        )
    for number, operation in enumerate(operations):
        body.append(
            operation.replace("%r", f"%r{number}_")
            + f"\n  %j{number} = add i64 %i, {number * padded}\n"
            f"  %q{number} = getelementptr {result}, ptr addrspace(1) %o, i64 %j{number}\n"
            f"  store {result} %r{number}_, ptr addrspace(1) %q{number}"
        )
    names = [f"ptr addrspace(1) %a{number}" for number in range(len(inputs))]
    kernel = compiled("\n".join(body), ", ".join([*names, "ptr addrspace(1) %o"]))
    arrays = [np.resize(array, padded) for _, array in inputs]
    found = {}
    for engine in ENGINES:
        out = np.zeros((len(operations), padded), dtype)
        run(kernel, engine, padded, *arrays, out)
        found[engine] = [row[:count] for row in out]
    return found


def pairs(values: Array) -> tuple[Array, Array]:
    first, second = np.meshgrid(values, values)
    return first.reshape(-1).copy(), second.reshape(-1).copy()


def hard_integers(type_: str) -> Array:
    info = np.iinfo(INTEGERS[type_])
    return np.array([0, 1, 2, 3, 7, 100, -1, -2, -7, info.max, info.min, info.min + 5], info.dtype)


def same(found: Array, wanted: Array) -> bool:
    """Equal bit for bit, except that any NaN equals any other."""
    raw = f"u{wanted.itemsize}"
    nans = np.isnan(wanted) & np.isnan(found)
    return bool(np.all(nans | (found.view(raw) == wanted.view(raw))))


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


def signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> (width - 1) else number


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
