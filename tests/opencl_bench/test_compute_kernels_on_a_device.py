"""Compute benchmarks on a real OpenCL device: their results are those of NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.compute import COMPUTE_BENCHMARKS
from kernelcast.opencl_bench.compute.arithmetic import latency
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


@pytest.fixture(scope="module")
def target() -> OpenClTarget:
    try:
        return OpenClTarget(opencl_device(None))
    except BenchmarkError as error:
        pytest.skip(str(error))


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
    setting = chain_settings(target.facts, Effort.QUICK)[0]
    group = min(setting.work_group, target.facts.max_work_group)
    launch = ChainLaunch.latency(operation, setting, target.facts, group, 3)
    if operation.needs <= target.facts.features:
        verify(target, launch, 7)
        return
    # why sessions leave it out
    with pytest.raises(BenchmarkError, match=r"does not compile|has no kernel"):
        verify(target, launch, 7)


@pytest.mark.parametrize("operation", [*basic("fp32"), *INT64], ids=lambda item: item.name)
def test_no_compiler_folds_a_chain(target: OpenClTarget, operation: Operation) -> None:
    """No operation is done before a cycle has passed; clocks may be up to twice the nominal one."""
    found = latency(target, operation, Effort.QUICK)
    assert found.value > 0.5 / target.facts.clock_hz


@pytest.mark.parametrize("is_cpu", [True, False])
@pytest.mark.parametrize("operation", [basic("fp32")[0], INT32[1]], ids=lambda item: item.name)
def test_many_chains_end_where_numpys_do(
    target: OpenClTarget, operation: Operation, is_cpu: bool
) -> None:
    """Chains run with the settings for CPUs and for GPUs, whichever the device is."""
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
