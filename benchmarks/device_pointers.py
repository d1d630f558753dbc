"""What pointers into a device memory cost: each kernel beside itself with arrays as arguments.

Numbers point to allocations that are the very arrays, among a thousand others, so that nothing
differs but how the kernel gets them. One kernel reads its pointers from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from kernel_cases import CASES, KernelCase
from problem import Problem
from targets import Target
from timing import geometric_mean, interleaved, table

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.launch.launch import Argument

__all__ = ["PointerTiming", "measure_pointers", "pointer_table", "pointer_targets"]

_OTHERS = 1000
_TURNS = 3
_MOST = 1.05
_INDIRECT = """.version 8.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 table)
{
    .reg .b32 %r<6>; .reg .b64 %rd<7>; .reg .f32 %f<5>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    ld.param.u32 %r5, [n];
    setp.ge.s32 %p1, %r4, %r5;
    @%p1 bra END;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [table];
    ld.global.u64 %rd2, [%rd1];
    ld.global.u64 %rd3, [%rd1+8];
    mul.wide.s32 %rd4, %r4, 4;
    add.s64 %rd5, %rd2, %rd4;
    add.s64 %rd6, %rd3, %rd4;
    ld.global.f32 %f2, [%rd5];
    ld.global.f32 %f3, [%rd6];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd6], %f4;
END:
    ret;
}
"""
_READ_FROM_MEMORY = "saxpy, pointers read from memory"


@dataclass(frozen=True, slots=True)
class PointerTiming:
    """Seconds of all threads together, counters only: other programs disturb them least."""

    kernel: str
    size: int
    arrays_s: float
    pointers_s: float

    @property
    def ratio(self) -> float:
        """The time with pointers over the time with arrays."""
        return self.pointers_s / self.arrays_s

    def record(self) -> dict[str, Any]:
        """The timing as a record."""
        return asdict(self) | {"ratio": self.ratio}


def measure_pointers(
    cases: Sequence[KernelCase], engine: str, quick: bool, repeats: int
) -> list[PointerTiming]:
    """Medians of three times `repeats` after a warm-up; arrays and pointers take turns.

    KernelcastError when pointers give a wrong result.
    """
    found = []
    for case in cases:
        size = case.reference if quick else case.full
        problem, kernel = case.make(size), case.kernel()
        found.append(_measured(case.name, size, problem, (kernel, kernel), engine, repeats))
    saxpy = next(case for case in CASES if case.name == "saxpy")
    size = saxpy.reference if quick else saxpy.full
    kernels = (saxpy.kernel(), kc.load_ptx(_INDIRECT)["saxpy"])
    problem = saxpy.make(size)
    return [*found, _measured(_READ_FROM_MEMORY, size, problem, kernels, engine, repeats)]


def _measured(
    name: str,
    size: int,
    problem: Problem,
    kernels: tuple[RunnableKernel, RunnableKernel],
    engine: str,
    repeats: int,
) -> PointerTiming:
    """The first kernel with arrays, the second with pointers."""
    checked = problem.with_fresh_output()
    _with_pointers(checked, kernels[1], engine, name)()
    if not checked.is_solved():
        raise kc.KernelcastError(f"{name} computes something else with pointers")
    calls: dict[str, Callable[[], object]] = {
        "arrays": partial(problem.run, kernels[0], engine),
        "pointers": _with_pointers(problem, kernels[1], engine, name),
    }
    timings = interleaved(calls, _TURNS * repeats)
    return PointerTiming(name, size, timings["arrays"].core_s, timings["pointers"].core_s)


def _with_pointers(
    problem: Problem, kernel: RunnableKernel, engine: str, name: str
) -> Callable[[], object]:
    """A launch of the problem whose arrays are allocations."""
    memory = kc.DeviceMemory()
    for _ in range(_OTHERS):
        memory.allocate(256)

    def pointer(argument: Argument) -> Argument:
        if isinstance(argument, np.ndarray):
            return memory.adopt(argument).address
        return argument

    arguments = tuple(map(pointer, problem.arguments))
    if name == _READ_FROM_MEMORY:
        places = memory.allocate(16)
        memory.write(places, np.array(arguments[2:], np.uint64))
        arguments = (*arguments[:2], int(places))
    launched = replace(problem, arguments=arguments)
    return partial(launched.run, kernel, engine, memory=memory)


def pointer_table(timings: Sequence[PointerTiming]) -> str:
    """The timings with arrays and with pointers as a table."""
    rows = [
        (
            item.kernel,
            str(item.size),
            f"{1e3 * item.arrays_s:.1f}",
            f"{1e3 * item.pointers_s:.1f}",
            f"{item.ratio:.3f}",
        )
        for item in timings
    ]
    return table(("kernel", "size", "arrays ms", "pointers ms", "ratio"), rows)


def pointer_targets(timings: Sequence[PointerTiming]) -> list[Target]:
    """Numbers as arguments, and pointers that a kernel reads from memory."""
    ratios = [item.ratio for item in timings if item.kernel != _READ_FROM_MEMORY]
    read = [item.ratio for item in timings if item.kernel == _READ_FROM_MEMORY]
    mean = geometric_mean(ratios) if ratios else None
    return [
        Target("pointers as arguments / arrays, geometric mean", mean, _MOST),
        Target("pointers read from memory / arrays", read[0] if read else None, None),
    ]
