"""Memory benchmarks on a real OpenCL device: right results, and caches faster than memory."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.drivers import opencl_device
from kernelcast.opencl_bench.measurement import Curve, Measurement
from kernelcast.opencl_bench.memory import MEMORY_BENCHMARKS
from kernelcast.opencl_bench.opencl_target import OpenClTarget

BY_NAME = {benchmark.name: benchmark for benchmark in MEMORY_BENCHMARKS}


@pytest.fixture(scope="module")
def target() -> OpenClTarget:
    try:
        device = opencl_device(None)
    except BenchmarkError as error:
        pytest.skip(str(error))
    if not OpenClTarget(device).facts.is_cpu:
        pytest.skip("the first OpenCL device is no CPU")
    return OpenClTarget(device)


def test_latency_and_bandwidth_tell_cache_from_memory(target: OpenClTarget) -> None:
    """The latencies of first cache and memory differ by much more than a busy machine's noise."""
    (latency,) = BY_NAME["pointer_chase"].measure(target, Effort.QUICK)
    assert isinstance(latency, Curve)
    assert latency.y[-1] > 5 * latency.y[:4].min()
    found = {item.name: item for item in BY_NAME["cache_bandwidth"].measure(target, Effort.QUICK)}
    read = found["read_bandwidth_over_footprint"]
    assert isinstance(read, Curve)
    assert read.y[:5].max() > 2 * read.y[-1]


@pytest.mark.drawn(6)
@pytest.mark.parametrize("name", sorted(BY_NAME.keys() - {"global_bandwidth", "cache_bandwidth"}))
def test_every_kernel_computes_what_numpy_computes(target: OpenClTarget, name: str) -> None:
    if not BY_NAME[name].needs <= target.facts.features:
        return  # a session leaves it out
    for item in BY_NAME[name].measure(target, Effort.QUICK):
        values = [item.value] if isinstance(item, Measurement) else item.y
        assert np.all(np.isfinite(values))
        assert np.all(np.array(values) > 0)
