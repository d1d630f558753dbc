"""The figures of a real OpenCL CPU device against the same loops in C, timed in turn."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.drivers import opencl_device
from kernelcast.opencl_bench.measurement import Curve, Measurement
from kernelcast.opencl_bench.memory import MEMORY_BENCHMARKS
from kernelcast.opencl_bench.memory.sizes import array_bytes
from kernelcast.opencl_bench.opencl_target import OpenClTarget

BY_NAME = {benchmark.name: benchmark for benchmark in MEMORY_BENCHMARKS}
ROUNDS = 3
WITHIN = 0.25

STREAM_C = """
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { COPY, TRIAD };
static float *a, *b, *c;
static size_t count;
static int threads, operation;

static void *part(void *number)
{
    const size_t first = count / threads * (size_t)number, end = first + count / threads;
    if (operation == COPY)
        for (size_t i = first; i < end; ++i)
            c[i] = a[i];
    else
        for (size_t i = first; i < end; ++i)
            c[i] = a[i] + 3.0f * b[i];
    return 0;
}

static void run(void)
{
    pthread_t others[64];
    for (int i = 1; i < threads; ++i)
        pthread_create(&others[i], 0, part, (void *)(size_t)i);
    part(0);
    for (int i = 1; i < threads; ++i)
        pthread_join(others[i], 0);
}

int prepare(size_t size, int n)
{
    count = size / sizeof(float), threads = n;
    a = malloc(size), b = malloc(size), c = malloc(size);
    if (!a || !b || !c || n > 64)
        return 1;
    for (size_t i = 0; i < count; ++i)
        a[i] = i & 7, b[i] = i & 3, c[i] = 0;
    return 0;
}

double seconds(int which)
{
    struct timespec start, end;
    operation = which;
    clock_gettime(CLOCK_MONOTONIC, &start);
    run();
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}

double checksum(void)
{
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += c[i];
    return sum;
}
"""


@pytest.fixture(scope="module")
def target() -> OpenClTarget:
    try:
        device = opencl_device(None)
    except BenchmarkError as error:
        pytest.skip(str(error))
    if not OpenClTarget(device).facts.is_cpu:
        pytest.skip("the first OpenCL device is no CPU")
    return OpenClTarget(device)


@pytest.fixture(scope="module")
def stream(
    target: OpenClTarget, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], float]:
    """("copy" or "triad") -> bytes/s of C on as many threads, in arrays as large."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("stream")
    source, library = folder / "stream.c", folder / "stream.so"
    source.write_text(STREAM_C)
    # without that option the copy becomes a call of memcpy, which goes around the caches
    options = ["-O3", "-march=native", "-fno-tree-loop-distribute-patterns", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-pthread", source, "-o", library], check=True)
    return _bandwidths(ctypes.CDLL(str(library)), library, target)


def _bandwidths(code: ctypes.CDLL, library: Path, target: OpenClTarget) -> Callable[[str], float]:
    size = array_bytes(target.facts, Effort.QUICK, arrays=3, caches=4)
    code.seconds.restype = code.checksum.restype = ctypes.c_double
    threads = min(target.facts.compute_units, len(os.sched_getaffinity(0)))
    assert code.prepare(ctypes.c_size_t(size), ctypes.c_int(threads)) == 0

    def measure(name: str) -> float:
        which, arrays, mean = {"copy": (0, 2, 3.5), "triad": (1, 3, 3.5 + 3 * 1.5)}[name]
        times = [code.seconds(ctypes.c_int(which)) for _ in range(4)][1:]
        count = size // 4 // threads * threads
        assert code.checksum() == pytest.approx(mean * count, rel=1e-6)
        return float(arrays * size / np.median(times))

    return measure


def test_copy_and_triad_agree_with_c(target: OpenClTarget, stream: Callable[[str], float]) -> None:
    """In turn, so that what else runs here slows down both; a C that varies judges nothing."""
    ours: dict[str, list[float]] = {"copy": [], "triad": []}
    reference: dict[str, list[float]] = {"copy": [], "triad": []}
    for _ in range(ROUNDS):
        found = BY_NAME["global_bandwidth"].measure(target, Effort.QUICK)
        measured = {item.name: item.value for item in found if isinstance(item, Measurement)}
        for name in ours:
            ours[name].append(measured[f"global_{name}_bandwidth"])
            reference[name].append(stream(name))
    for name in ours:
        ratio = float(np.median(np.array(ours[name]) / reference[name]))
        is_busy = max(reference[name]) > (1 + WITHIN) * min(reference[name])
        if abs(ratio - 1) > WITHIN and is_busy:
            pytest.skip(f"{name}: the machine is busy, C alone varies: {reference[name]}")
        assert abs(ratio - 1) <= WITHIN, f"{name}: OpenCL over C is {ratio:.2f}"


def test_latency_and_bandwidth_tell_cache_from_memory(target: OpenClTarget) -> None:
    """Between the first cache and memory lies much more than the noise of a busy machine."""
    (latency,) = BY_NAME["pointer_chase"].measure(target, Effort.QUICK)
    assert isinstance(latency, Curve)
    assert latency.y[-1] > 5 * latency.y[:4].min()
    found = {item.name: item for item in BY_NAME["cache_bandwidth"].measure(target, Effort.QUICK)}
    read = found["read_bandwidth_over_footprint"]
    assert isinstance(read, Curve)
    assert read.y[:5].max() > 2 * read.y[-1]


@pytest.mark.parametrize("name", sorted(BY_NAME.keys() - {"global_bandwidth", "cache_bandwidth"}))
def test_every_kernel_computes_what_numpy_computes(target: OpenClTarget, name: str) -> None:
    if BY_NAME[name].needs - target.facts.features:
        pytest.skip("the device cannot do that")
    for item in BY_NAME[name].measure(target, Effort.QUICK):
        values = [item.value] if isinstance(item, Measurement) else item.y
        assert np.all(np.isfinite(values))
        assert np.all(np.array(values) > 0)
