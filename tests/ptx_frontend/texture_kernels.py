"""Kernels of one texture or surface instruction, for the tests of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace

Array = npt.NDArray[Any]

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"


def compiled(text: str) -> Kernel:
    module = read_ptx(text, "test.ptx")
    for refusals in module.rejected.values():
        raise refusals[0]
    (kernel,) = module.kernels.values()
    return kernel


def reading(
    instruction: str, numbers: int, results: int = 4, objects: str = ".param .u64 t", top: str = ""
) -> Kernel:
    """Thread i takes row i of `numbers` numbers as %r0.. (%f0..) and stores %o0.. of 32 bits."""
    taken = "".join(
        f"ld.global.b32 %r{n}, [%in+{4 * n}];\nmov.b32 %f{n}, %r{n};\n" for n in range(numbers)
    )
    stored = "".join(f"st.global.b32 [%out+{4 * n}], %o{n};\n" for n in range(results))
    name = objects.split(",")[0].split(" ")[-1]
    load = "" if "ref" in objects or not objects else f"ld.param.u64 %t, [{name}];\n"
    parameters = f"{objects}," if objects else ""
    return compiled(
        f"{HEAD}{top}.visible .entry k({parameters} .param .u64 i, .param .u64 o) {{\n"
        ".reg .b64 %t, %in, %out, %h;\n.reg .b32 %r<8>, %o<8>, %n;\n.reg .f32 %f<8>;\n"
        ".reg .b16 %s<8>;\n.reg .pred %p<3>;\n"
        f"{load}ld.param.u64 %in, [i];\nld.param.u64 %out, [o];\nmov.u32 %n, %tid.x;\n"
        f"mad.wide.u32 %in, %n, {4 * numbers}, %in;\nmad.wide.u32 %out, %n, {4 * results}, %out;\n"
        f"{taken}{instruction}\n{stored}ret;\n}}\n"
    )


def run(
    kernel: Kernel, *arguments: Any, engine: str = "jit", threads: int = 32, grid: int = 1
) -> Trace:
    return execute(kernel, Launch((grid, 1, 1), (threads, 1, 1), arguments), engine=engine)


def results(
    kernel: Kernel,
    inputs: Array,
    *objects: Any,
    count: int = 4,
    engine: str = "jit",
    after: tuple[Any, ...] = (),
) -> Array:
    """What the threads store, as 32 bits each: (threads, count). `after`: objects by name."""
    out = np.zeros((len(inputs), count), np.uint32)
    run(kernel, *objects, inputs, out, *after, engine=engine, threads=len(inputs))
    return out
