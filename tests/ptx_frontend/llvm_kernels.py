"""Kernels of LLVM IR, compiled and executed, for the tests of what modules may hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.execution.instruction_mix import instruction_mix
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel, Module
from kernelcast.simcore.launch.launch import Launch

ENGINES = ("reference", "jit")

THREADS = 32

HEADER = """target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func void @_Z7barrierj(i32)
"""


def module(text: str) -> Module:
    return read_llvm((HEADER + text).encode(), "test.ll", is_text=True)


def compiled(text: str) -> Kernel:
    """The kernel `k` of a module."""
    made = module(text)
    assert not made.rejected, made.rejected["k"][0]
    return made.kernels["k"]


def with_index(body: str, parameters: str = "ptr addrspace(1) %o", before: str = "") -> Kernel:
    """A kernel of one basic block, or several, whose index is `%i` and `%n` in 32 bits."""
    return compiled(
        f"{before}\ndefine spir_kernel void @k({parameters}) {{\nentry:\n"
        "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n  %n = trunc i64 %i to i32\n"
        f"  %p = getelementptr i32, ptr addrspace(1) %o, i64 %i\n{body}\n}}\n"
    )


def results(kernel: Kernel, *arguments: Any, shared: int = 0) -> npt.NDArray[np.int32]:
    """32 integers that the kernel writes, the same on both engines."""
    outs = []
    for engine in ENGINES:
        out = np.zeros(THREADS, np.int32)
        copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
        launch = Launch((1, 1, 1), (THREADS, 1, 1), (out, *copies), shared)
        execute(kernel, launch, engine=engine)
        outs.append(out)
    assert np.array_equal(outs[0], outs[1])
    return outs[0]


def source_counts(kernel: Kernel, *arguments: Any) -> dict[str, int]:
    """Executions of each instruction of the source, by all lanes together."""
    out = np.zeros(THREADS, np.int32)
    trace = execute(kernel, Launch((1, 1, 1), (THREADS, 1, 1), (out, *arguments)))
    counts: Counter[str] = Counter()
    for row in instruction_mix(trace).rows:
        counts[row.opcode] += row.thread
    return dict(counts)
