"""Compute benchmarks on a real OpenCL device: right results, and the throughput of a loop in C."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.compute import COMPUTE_BENCHMARKS
from kernelcast.opencl_bench.compute.arithmetic import throughput
from kernelcast.opencl_bench.compute.chains import FILE, ChainLaunch, chain_settings
from kernelcast.opencl_bench.compute.float_operations import basic, functions, native_functions
from kernelcast.opencl_bench.compute.integer_operations import CONVERSIONS, INT32, INT64
from kernelcast.opencl_bench.compute.operations import Operation
from kernelcast.opencl_bench.drivers import opencl_device
from kernelcast.opencl_bench.measurement import Measurement
from kernelcast.opencl_bench.opencl_target import OpenClTarget

OPERATIONS = (
    *(operation for precision in ("fp16", "fp32", "fp64") for operation in basic(precision)),
    *functions("fp32"),
    *functions("fp64"),
    *native_functions(),
    *INT32,
    *INT64,
    *CONVERSIONS,
)
OTHERS = (
    "fp32_over_chains",
    "fp32_over_divergence",
    "local_load_store",
    "local_over_stride",
    "atomics",
    "barriers",
    "launches",
)
WITHIN = 0.25
QUIET = 0.9
"""Share of the threads' time from which they count as having had the cores for themselves."""
ROUNDS, TRIES = 3, 4
C_CHAINS, C_ITERATIONS = 12, 1_500_000

MULTIPLY_ADDS_C = """
#include <pthread.h>
#include <time.h>

typedef SCALAR vector __attribute__((vector_size(BYTES)));
enum { LANES = BYTES / sizeof(SCALAR) };

static volatile SCALAR operands[2] = {-1, 3};
static volatile SCALAR ends[64];
static long count;

static void *chains(void *number)
{
    vector a, b, x[CHAINS];
    for (int i = 0; i < LANES; ++i)
        a[i] = operands[0], b[i] = operands[1];
    for (int i = 0; i < CHAINS; ++i)
        x[i] = b * (SCALAR)i;
    for (long n = 0; n < count; ++n)
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; ++i)
            x[i] = x[i] * a + b;
    SCALAR sum = 0;
    for (int i = 0; i < CHAINS; ++i)
        for (int j = 0; j < LANES; ++j)
            sum += x[i][j];
    ends[(long)number] = sum;
    return 0;
}

double seconds(int threads, long iterations)
{
    struct timespec start, end;
    pthread_t others[64];
    count = iterations;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 1; i < threads; ++i)
        pthread_create(&others[i], 0, chains, (void *)i);
    chains(0);
    for (long i = 1; i < threads; ++i)
        pthread_join(others[i], 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}

double checksum(int thread) { return ends[thread]; }
"""


@pytest.fixture(scope="module")
def target() -> OpenClTarget:
    try:
        return OpenClTarget(opencl_device(None))
    except BenchmarkError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def c_throughput(
    target: OpenClTarget, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[float, float]]:
    """(C type) -> operations per second of C on as many threads, in vectors as wide; and the share
    of the time in which these threads ran."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("multiply_adds")
    source = folder / "multiply_adds.c"
    source.write_text(MULTIPLY_ADDS_C)
    vector = 4 * max(4, target.facts.native_float_width)
    threads = min(target.facts.compute_units, len(os.sched_getaffinity(0)), 64)

    def build(scalar: str) -> ctypes.CDLL:
        library = folder / f"{scalar}.so"
        macros = [f"-DSCALAR={scalar}", f"-DBYTES={vector}", f"-DCHAINS={C_CHAINS}"]
        flags = ["-O3", "-march=native", "-shared", "-fPIC", "-pthread", *macros]
        subprocess.run([compiler, *flags, source, "-o", library], check=True)
        code = ctypes.CDLL(str(library))
        code.seconds.restype = code.checksum.restype = ctypes.c_double
        return code

    built = {scalar: build(scalar) for scalar in ("float", "double")}

    def measure(scalar: str) -> tuple[float, float]:
        code, lanes = built[scalar], vector // {"float": 4, "double": 8}[scalar]
        code.seconds(threads, ctypes.c_long(C_ITERATIONS))
        busy = time.process_time()
        times = [code.seconds(threads, ctypes.c_long(C_ITERATIONS)) for _ in range(3)]
        busy = time.process_time() - busy
        starts = 3 * lanes * sum(range(C_CHAINS))
        assert code.checksum(threads - 1) == starts  # an even number of steps
        operations = 2 * C_ITERATIONS * C_CHAINS * lanes * threads
        return float(operations / np.median(times)), busy / (threads * sum(times))

    return measure


def verify(target: OpenClTarget, launch: ChainLaunch, iterations: int) -> None:
    operation = launch.operation
    kernel = target.kernel(FILE, launch.kernel, launch.defines)
    shape = np.zeros((launch.work_items, launch.lanes), operation.seeds.dtype)
    sums = target.buffer(shape)
    inputs = target.buffer(operation.seeds), target.buffer(operation.operands)
    arguments = (*inputs, sums, np.uint32(iterations))
    target.seconds(kernel, (launch.work_items,), (launch.work_group,), arguments, 1)
    launch.verify(target.read(sums, shape), iterations)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda item: item.name)
def test_chains_end_where_numpys_do(target: OpenClTarget, operation: Operation) -> None:
    if operation.needs - target.facts.features:
        pytest.skip("the device cannot do that")
    setting = chain_settings(target.facts, Effort.QUICK)[0]
    group = min(setting.work_group, target.facts.max_work_group)
    verify(target, ChainLaunch.latency(operation, setting, target.facts, group, 3), 7)


@pytest.mark.parametrize("is_cpu", [True, False])
@pytest.mark.parametrize("operation", [basic("fp32")[0], INT32[1]], ids=lambda item: item.name)
def test_many_chains_end_where_numpys_do(
    target: OpenClTarget, operation: Operation, is_cpu: bool
) -> None:
    """With the settings for CPUs and with those for GPUs, whichever the device is."""
    facts = replace(target.facts, is_cpu=is_cpu)
    setting = chain_settings(facts, Effort.QUICK)[0]
    verify(target, ChainLaunch.throughput(operation, setting, facts, 5), 3)


@pytest.mark.parametrize("name", OTHERS)
def test_other_kernels_compute_what_numpy_computes(target: OpenClTarget, name: str) -> None:
    benchmark = next(item for item in COMPUTE_BENCHMARKS if item.name == name)
    for item in benchmark.measure(target, Effort.QUICK):
        values = [item.value] if isinstance(item, Measurement) else item.y
        assert np.all(np.isfinite(values))
        assert np.all(np.array(values) > 0)


@pytest.mark.parametrize(("precision", "scalar"), [("fp32", "float"), ("fp64", "double")])
def test_multiply_adds_are_as_fast_as_in_c(
    target: OpenClTarget,
    c_throughput: Callable[[str], tuple[float, float]],
    precision: str,
    scalar: str,
) -> None:
    """In turn and the best of each, so that what else runs here slows down both. Where C did not
    get its cores for itself, a difference says nothing."""
    operation = basic(precision)[0]
    if not target.facts.is_cpu or operation.needs - target.facts.features:
        pytest.skip("no CPU device of that precision")
    ratios, is_quiet = [], True
    for _ in range(TRIES):
        in_c, in_opencl = [], []
        for _ in range(ROUNDS):
            in_c.append(c_throughput(scalar))
            in_opencl.append(throughput(target, operation, Effort.QUICK).value)
        fastest, share = max(in_c)
        ratios.append(max(in_opencl) / fastest)
        if abs(ratios[-1] - 1) <= WITHIN:
            return
        is_quiet &= share >= QUIET
    if not is_quiet:
        pytest.skip(f"other work on this machine: OpenCL over C {ratios}")
    pytest.fail(f"OpenCL over C: {ratios}")
