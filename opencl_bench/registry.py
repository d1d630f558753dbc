"""All benchmarks, in the order in which they run."""

from __future__ import annotations

from kernelcast.opencl_bench.benchmark import Benchmark
from kernelcast.opencl_bench.compute import COMPUTE_BENCHMARKS
from kernelcast.opencl_bench.memory import MEMORY_BENCHMARKS
from kernelcast.opencl_bench.parallel_degree import PARALLEL_DEGREE_BENCHMARKS

__all__ = ["BENCHMARKS", "FIRST"]

FIRST = (
    "clock",
    "global_bandwidth",
    "fp32",
    "fp64",
    "int32",
    "work_items",
    "local_load_store",
    "pointer_chase",
    "cache_bandwidth",
)
"""What the device file needs most, in case that time runs out."""


def _rank(benchmark: Benchmark) -> int:
    return FIRST.index(benchmark.name) if benchmark.name in FIRST else len(FIRST)


BENCHMARKS: tuple[Benchmark, ...] = tuple(
    sorted((*COMPUTE_BENCHMARKS, *MEMORY_BENCHMARKS, *PARALLEL_DEGREE_BENCHMARKS), key=_rank)
)
