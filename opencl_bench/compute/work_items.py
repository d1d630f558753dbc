"""Throughput of plain work-items on processors: scalars in work-groups, as kernels for GPUs are.

The thesis's figures (Konstantinidis 2017, section 4.2.3 and appendix A.2) are of such kernels. On a
GPU all throughputs here are; on a processor they are of explicit vectors, and what work-items of
scalars reach depends on whether the runtime makes vectors of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.arithmetic import throughput_of
from kernelcast.opencl_bench.compute.chains import ChainSetting
from kernelcast.opencl_bench.compute.float_operations import basic
from kernelcast.opencl_bench.compute.integer_operations import INT32
from kernelcast.opencl_bench.measurement import WORK_ITEM_PREFIX, Measurement
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["WORK_ITEM_BENCHMARKS"]

_SCALAR_BYTES = 2
"""Vectors so small have one component, whatever the type."""
_STEPS = 4
_SHAPES = {Effort.QUICK: ((12, 64),), Effort.FULL: ((12, 64), (12, 256), (8, 64), (4, 256))}
"""Chains of a work-item and work-items of a work-group."""
_OPERATIONS = (basic("fp32")[0], basic("fp64")[0], INT32[0], INT32[1])


def _settings(facts: DeviceFacts, effort: Effort) -> list[ChainSetting]:
    return [
        ChainSetting(_SCALAR_BYTES, chains, _STEPS, min(group, facts.max_work_group))
        for chains, group in _SHAPES[effort]
    ]


def _work_items(target: Target, effort: Effort) -> Sequence[Measurement]:
    """Nothing on a GPU, whose other throughputs are of work-items already."""
    if not target.facts.is_cpu:
        return ()
    found = []
    for operation in _OPERATIONS:
        if operation.needs <= target.facts.features:
            best = throughput_of(target, operation, _settings(target.facts, effort), effort)
            found.append(replace(best, name=WORK_ITEM_PREFIX + best.name))
    return found


WORK_ITEM_BENCHMARKS = (Benchmark("work_items", "throughput of plain work-items", _work_items),)
