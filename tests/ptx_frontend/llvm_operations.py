"""Operations of LLVM IR on many values at once, for the tests of what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]

ENGINES = ("reference", "jit")

INTEGERS: dict[str, Any] = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}

FLOATS: dict[str, Any] = {"half": np.float16, "float": np.float32, "double": np.float64}

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


def signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> (width - 1) else number
