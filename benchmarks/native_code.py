"""Times machine code beside the PTX that it was assembled from, with counters, on one engine.

`python benchmarks/native_code.py [--architecture sm_80] [--repeats 5] [--size full] [KERNEL ...]`
prints a table: medians of launches that take turns, and their ratio.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from kernel_cases import CASES, KernelCase
from timing import geometric_mean, interleaved, table, use_two_threads

from kernelcast.errors import KernelcastError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx

__all__ = ["MOST", "MOST_ON_AVERAGE", "NativeTiming", "measured", "native_kernel"]

MOST, MOST_ON_AVERAGE = 1.5, 1.0
"""How many times as long as PTX a kernel may take, and the geometric mean of all."""


@dataclass(frozen=True, slots=True)
class NativeTiming:
    """Seconds of a launch, and executed thread-instructions; of core time on a busy machine."""

    kernel: str
    source_s: float
    native_s: float
    source_instructions: int
    native_instructions: int

    @property
    def ratio(self) -> float:
        """The time of machine code over that of PTX."""
        return self.native_s / self.source_s


def native_kernel(case: KernelCase, architecture: str) -> RunnableKernel:
    """The machine code of a case; what is not supported in it is raised."""
    text = case.source.read_text(encoding="utf-8")
    name = str(case.source)
    module = assembled_module(text, architecture, name, read_ptx(text, name))
    entry = case.kernel().name
    for reason in module.rejected.get(entry, ()):
        raise reason
    return RunnableKernel(module.kernels[entry])


def measured(
    case: KernelCase,
    architecture: str,
    repeats: int,
    size: str,
    *,
    by_core: bool = False,
    warm_up_s: float = 0.0,
) -> NativeTiming:
    """Times one case; KernelcastError when the machine code computes something else than NumPy."""
    engine = "jit"
    # without its native twin, so that the source itself is executed
    source = replace(case.kernel(), native=None)
    native = native_kernel(case, architecture)
    problem = case.make(getattr(case, size))
    checked = problem.with_fresh_output()
    executed = checked.run(native, engine)
    if not checked.is_solved():
        raise KernelcastError(f"the machine code of {case.name} computes something else than NumPy")
    counts = [
        int(trace.data.classes.totals()[1].sum())
        for trace in (problem.run(source, engine), executed)
    ]
    calls = {
        "source": partial(problem.run, source, engine),
        "native": partial(problem.run, native, engine),
    }
    for call in calls.values():  # long code is optimized once its runs have lasted for a while
        until = time.perf_counter() + warm_up_s
        while time.perf_counter() < until:
            call()
    times = interleaved(calls, repeats)
    source_s, native_s = (
        times[name].core_s if by_core else times[name].wall_s for name in ("source", "native")
    )
    return NativeTiming(case.name, source_s, native_s, *counts)


def _rows(timings: Sequence[NativeTiming]) -> list[tuple[str, ...]]:
    return [
        (
            item.kernel,
            f"{1e3 * item.source_s:.1f}",
            f"{1e3 * item.native_s:.1f}",
            f"{item.ratio:.2f}",
            "" if item.ratio <= MOST else f"> {MOST}",
            f"{item.native_instructions / item.source_instructions:.2f}",
        )
        for item in timings
    ]


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "kernels", nargs="*", metavar="KERNEL", help="all of them when none is named"
    )
    parser.add_argument("--architecture", default="sm_80")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--size", choices=("full", "reference", "small"), default="full")
    parser.add_argument("--core", action="store_true", help="core time, for a busy machine")
    parser.add_argument("--warm-up", type=float, default=5.0, metavar="SECONDS")
    options = parser.parse_args()
    use_two_threads()
    timings = []
    for case in CASES:
        if options.kernels and case.name not in options.kernels:
            continue
        try:
            timings.append(
                measured(
                    case,
                    options.architecture,
                    options.repeats,
                    options.size,
                    by_core=options.core,
                    warm_up_s=options.warm_up,
                )
            )
        except KernelcastError as error:
            sys.stderr.write(f"{case.name}: {error}\n")
    head = ("kernel", "PTX ms", "SASS ms", "ratio", "", "instructions")
    sys.stdout.write(table(head, _rows(timings)) + "\n")
    if timings:
        mean = geometric_mean([item.ratio for item in timings])
        sys.stdout.write(f"geometric mean {mean:.2f}, at most {MOST_ON_AVERAGE}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(_main())
