"""Throughput and latency of arithmetic, a benchmark for each family of operations.

The method is that of the appendix A.2 of Konstantinidis' thesis (Athens, 2017): independent chains
of dependent operations in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.chains import (
    ChainLaunch,
    ChainSetting,
    chain_settings,
    settings_for,
)
from kernelcast.opencl_bench.compute.float_operations import basic, functions, native_functions
from kernelcast.opencl_bench.compute.integer_operations import CONVERSIONS, INT32, INT64
from kernelcast.opencl_bench.compute.operations import Operation
from kernelcast.opencl_bench.measurement import Finding, Measurement, Unit, measurement
from kernelcast.opencl_bench.target import Feature, Target

__all__ = ["ARITHMETIC_BENCHMARKS", "latency", "throughput", "throughput_of"]


def throughput(target: Target, operation: Operation, effort: Effort) -> Measurement:
    """Operations per second, by the best of the settings for that device."""
    return throughput_of(target, operation, settings_for(operation, target.facts, effort), effort)


def throughput_of(
    target: Target, operation: Operation, settings: Sequence[ChainSetting], effort: Effort
) -> Measurement:
    """The best of the settings, operations per second."""
    found = []
    for setting in settings:
        launch = ChainLaunch.throughput(operation, setting, target.facts)
        method = (
            f"{operation.what}; {launch.work_groups} work-groups of {launch.work_group}, "
            f"{launch.chains} chains of {launch.lanes} lanes in each work-item"
        )
        samples = launch.throughputs(target, effort)
        name = f"{operation.name}_throughput"
        found.append(measurement(name, samples, Unit.OPERATIONS_PER_S, method))
    return max(found, key=lambda item: item.value)


def latency(target: Target, operation: Operation, effort: Effort) -> Measurement:
    """Seconds until the next operation of a chain can start."""
    setting = chain_settings(target.facts, effort)[0]
    launch = ChainLaunch.latency(operation, setting, target.facts)
    return measurement(
        f"{operation.name}_latency",
        launch.latencies(target, effort),
        Unit.SECONDS,
        f"{operation.what}; one chain of one work-item",
    )


def _figures(
    operation: Operation, effort: Effort
) -> Sequence[Callable[[Target, Operation, Effort], Measurement]]:
    if effort is Effort.FULL or not operation.is_function:
        return (throughput, latency)
    return (throughput,) if operation.is_typical else ()


def _family(
    name: str, title: str, operations: tuple[Operation, ...], needs: Sequence[Feature] = ()
) -> Benchmark:
    """`needs`: what all operations need; those that need more are left out without it."""

    def measure(target: Target, effort: Effort) -> Sequence[Finding]:
        return [
            find(target, operation, effort)
            for operation in operations
            if operation.needs <= target.facts.features
            for find in _figures(operation, effort)
        ]

    return Benchmark(name, title, measure, frozenset(needs))


ARITHMETIC_BENCHMARKS = (
    _family("fp32", "fp32 multiply-add, add, multiply", basic("fp32")),
    _family("fp64", "fp64 multiply-add, add, multiply", basic("fp64"), (Feature.FP64,)),
    _family("fp16", "fp16 multiply-add, add, multiply", basic("fp16"), (Feature.FP16,)),
    _family("int32", "32-bit integers", INT32),
    _family("int64", "64-bit integers", INT64),
    _family("fp32_functions", "fp32 division, roots, functions", functions("fp32")),
    _family("fp32_native", "fp32 native functions", native_functions()),
    _family(
        "fp64_functions", "fp64 division, roots, functions", functions("fp64"), (Feature.FP64,)
    ),
    _family("conversion", "conversions", CONVERSIONS),
)
