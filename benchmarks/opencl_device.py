"""Figures of `kernelcast bench` beside the same loops in C, on the OpenCL CPU device of a machine.

`python benchmarks/opencl_device.py`: multiply-adds in registers, and copy and triad as in STREAM,
each in turn with C on as many threads, so that what else runs slows down both.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from kernel_cases import KERNELS
from targets import Target, target_table
from timing import table

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.compute.arithmetic import throughput
from kernelcast.opencl_bench.compute.float_operations import basic
from kernelcast.opencl_bench.drivers import opencl_device
from kernelcast.opencl_bench.measurement import Measurement
from kernelcast.opencl_bench.memory.sizes import array_bytes
from kernelcast.opencl_bench.memory.streams import measure_streams
from kernelcast.opencl_bench.opencl_target import OpenClTarget

_ROUNDS = 5
_WITHIN = 0.25
_CHAINS, _ITERATIONS = 12, 1_500_000
_SCALAR_BYTES = {"float": 4, "double": 8}
_PRECISIONS = {"fp32": "float", "fp64": "double"}
_STREAMS = {"copy": (0, 2), "triad": (1, 3)}
"""What the C code calls them, and how many arrays they move."""


def _library(name: str, folder: Path, *options: str) -> ctypes.CDLL:
    compiler = shutil.which("gcc")
    if compiler is None:
        raise BenchmarkError("gcc is not installed: it compiles what is compared with")
    made = folder / f"{name}{len(list(folder.iterdir()))}.so"
    # without the third option the copy becomes a call of memcpy, which goes around the caches
    flags = ("-O3", "-march=native", "-fno-tree-loop-distribute-patterns", "-shared", "-fPIC")
    source = KERNELS / f"{name}.c"
    subprocess.run([compiler, *flags, "-pthread", *options, source, "-o", made], check=True)
    code = ctypes.CDLL(str(made))
    code.seconds.restype = code.checksum.restype = ctypes.c_double
    return code


def _threads(target: OpenClTarget) -> int:
    return min(target.facts.compute_units, len(os.sched_getaffinity(0)), 64)


def _c_multiply_adds(target: OpenClTarget, scalar: str, folder: Path) -> Callable[[], float]:
    """Operations per second, in vectors as wide as the device's."""
    vector, threads = 4 * max(4, target.facts.llvm_float_width), _threads(target)
    macros = (f"-DSCALAR={scalar}", f"-DBYTES={vector}", f"-DCHAINS={_CHAINS}")
    code = _library("multiply_adds", folder, *macros)
    operations = 2 * _ITERATIONS * _CHAINS * (vector // _SCALAR_BYTES[scalar]) * threads

    def measure() -> float:
        times = [code.seconds(threads, ctypes.c_long(_ITERATIONS)) for _ in range(3)]
        return float(operations / median(times))

    return measure


def _c_streams(target: OpenClTarget, folder: Path) -> Callable[[str], float]:
    """("copy" or "triad") -> bytes per second, in arrays as large as the benchmark's."""
    code, threads = _library("stream", folder), _threads(target)
    size = array_bytes(target.facts, Effort.QUICK, arrays=3, caches=4)
    if code.prepare(ctypes.c_size_t(size), ctypes.c_int(threads)):
        raise BenchmarkError(f"no memory for three arrays of {size} bytes")

    def measure(name: str) -> float:
        which, arrays = _STREAMS[name]
        times = [code.seconds(ctypes.c_int(which)) for _ in range(4)][1:]
        return float(arrays * size / median(times))

    return measure


def _arithmetic(target: OpenClTarget, folder: Path) -> dict[str, list[tuple[float, float]]]:
    found = {}
    for precision, scalar in _PRECISIONS.items():
        operation = basic(precision)[0]
        if operation.needs <= target.facts.features:
            in_c = _c_multiply_adds(target, scalar, folder)
            found[f"{precision} multiply-add, operations/s"] = [
                (throughput(target, operation, Effort.QUICK).value, in_c()) for _ in range(_ROUNDS)
            ]
    return found


def _memory(target: OpenClTarget, folder: Path) -> dict[str, list[tuple[float, float]]]:
    in_c = _c_streams(target, folder)
    found: dict[str, list[tuple[float, float]]] = {f"{name}, bytes/s": [] for name in _STREAMS}
    for _ in range(_ROUNDS):
        items = measure_streams(target, Effort.QUICK)
        values = {item.name: item.value for item in items if isinstance(item, Measurement)}
        for name in _STREAMS:
            found[f"{name}, bytes/s"].append((values[f"global_{name}_bandwidth"], in_c(name)))
    return found


def main() -> int:
    """Measures and judges all figures; exit status 1 for an error or a missed target."""
    try:
        target = OpenClTarget(opencl_device(None))
        if not target.facts.is_cpu:
            raise BenchmarkError(f"{target.facts.name} is no CPU device")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            found = _arithmetic(target, folder) | _memory(target, folder)
    except BenchmarkError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    rows, judged = [], []
    for name, pairs in found.items():
        ratio = median(ours / in_c for ours, in_c in pairs)
        ours, in_c = (median(column) for column in zip(*pairs, strict=True))
        rows.append((name, f"{ours:.3g}", f"{in_c:.3g}", f"{ratio:.2f}"))
        judged.append(Target(f"{name}: off from C", abs(ratio - 1), _WITHIN))
    shown = (table((target.facts.name, "OpenCL", "C", "ratio"), rows), target_table(judged))
    sys.stdout.write("\n\n".join(shown) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
