"""How many multiply-adds a second the JIT engine does in matrix instructions: two gemm kernels.

`python benchmarks/matrix_speed.py [size]`, with the counters only and with all accesses; a wrong
result ends it. On a machine with other load, processor time tells more than the clock.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from kernelcast.ptx_frontend import read_module
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

_KERNELS = ("wmma_gemm", "mma_gemm")
_TILE, _THREADS, _REPEATS = 64, 128, 5
_LEAST = 2e9


def multiply_adds_per_s(name: str, size: int, *, records: bool) -> tuple[float, float]:
    """Multiply-adds per second, by the clock and by processor time on all processors.

    Medians of five runs after one that compiles; matrices of small integers, so exact. `records`:
    whether accesses are recorded.
    """
    kernel = read_module(Path(__file__).parent / "matrix_kernels" / f"{name}.ptx").kernels[name]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (size, size)).astype(np.float16) for _ in range(2))
    seconds, processor_s = [], []
    for _ in range(_REPEATS + 1):
        c = np.zeros((size, size), np.float32)
        grid = (size // _TILE, size // _TILE, 1)
        launch = Launch(grid, (_THREADS, 1, 1), (a, b, c, np.int32(size)))
        started, used = time.perf_counter(), time.process_time()
        execute(kernel, launch, engine="jit", record_memory=records)
        seconds.append(time.perf_counter() - started)
        processor_s.append(time.process_time() - used)
    if not np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32)):
        raise SystemExit(f"{name}: wrong result")
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    work = float(size**3)
    by_clock = work / statistics.median(seconds[1:])
    return by_clock, processors * work / statistics.median(processor_s[1:])


def main() -> None:
    """Prints the speed of both kernels, without and with recorded accesses."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    for name in _KERNELS:
        for records, what in ((False, "counters only"), (True, "with memory")):
            speed, undisturbed = multiply_adds_per_s(name, size, records=records)
            verdict = "met" if speed >= _LEAST else "missed"
            sys.stdout.write(
                f"{name:12} {what:14} {speed / 1e9:6.2f} G multiply-adds/s, at least 2: {verdict}; "
                f"by processor time {undisturbed / 1e9:.2f}\n"
            )


if __name__ == "__main__":
    main()
