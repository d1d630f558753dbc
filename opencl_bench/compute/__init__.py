"""Compute benchmarks: arithmetic, local memory, atomics, barriers, launches.

Measurements. Throughputs are of the whole device in operations per second, a multiply-add being
two; each `<operation>_throughput` has an `<operation>_latency`, seconds until its result is there:

| operation | sessions | notes |
|---|---|---|
| `fp16_`, `fp32_`, `fp64_`, `int32_multiply_add`, `add`, `multiply` | all | |
| `int64_add`, `multiply` | all | |
| `int32_shift`, `logic`, `compare` | all | `logic` is two: and, exclusive or |
| `int32_fp32_conversion`, `fp32_fp64_conversion` | all | each direction counts |
| `fp32_`, `fp64_division`, `sqrt`, `rsqrt`, `sin`, `exp`, `log` | full | quick: some |
| `fp32_native_division`, `recip`, `sqrt`, `rsqrt`, `sin`, `exp`, `log` | full | |
| `int32_division`, `popcount` | full | |

Quick sessions measure the throughput of `fp32_exp`, `fp32_log` and `fp32_sin`, no other function's.

| measurement | what |
|---|---|
| `work_item_..._throughput` | multiply-adds and additions of plain work-items; processors only |
| `local_load_store_throughput` | 32-bit words loaded and stored per second |
| `local_bandwidth_32_bit`, `64_bit`, `128_bit` | bytes per second by width of the access |
| `global_atomic_throughput`, `global_atomic_contended_throughput` | words of their own, one word |
| `local_atomic_throughput`, `local_atomic_contended_throughput` | the same in local memory |
| `barrier_time` | of one work-group of 256, in seconds |
| `launch_overhead`, `launch_rate` | seconds of one awaited launch, launches per second |

| curve | x |
|---|---|
| `fp32_multiply_add_throughput_over_work_groups` | equal work-groups, 1 to many per unit |
| `fp32_multiply_add_throughput_over_warps` | warps on each compute unit, one chain each |
| `fp32_multiply_add_throughput_over_work_group_size` | work-items of one work-group; full only |
| `fp32_multiply_add_throughput_over_chains` | independent chains of a work-item, 1 to 8 |
| `fp32_throughput_over_divergence_run` | neighbouring work-items that branch alike |
| `local_bandwidth_over_warps` | warps of a work-group on each compute unit |
| `local_load_bandwidth_over_stride` | 32-bit words between work-items, 1 to 33 |
| `barrier_time_over_work_group` | work-items of the work-group |

The throughputs of the quantitative roofline (Konstantinidis' thesis, Table 4.3) are
`fp32_multiply_add_throughput` (T_SP), `fp64_multiply_add_throughput` (T_DP),
`int32_multiply_add_throughput` (T_int), `int32_add_throughput` (T_add) and
`local_load_store_throughput` (T_ldst); on processors the `work_item_` figures of the first four.
"""

from __future__ import annotations

from kernelcast.opencl_bench.benchmark import Benchmark
from kernelcast.opencl_bench.compute.arithmetic import ARITHMETIC_BENCHMARKS
from kernelcast.opencl_bench.compute.atomics import ATOMIC_BENCHMARKS
from kernelcast.opencl_bench.compute.local_memory import LOCAL_MEMORY_BENCHMARKS
from kernelcast.opencl_bench.compute.parallelism import PARALLELISM_BENCHMARKS
from kernelcast.opencl_bench.compute.synchronisation import SYNCHRONISATION_BENCHMARKS
from kernelcast.opencl_bench.compute.work_items import WORK_ITEM_BENCHMARKS

__all__ = ["COMPUTE_BENCHMARKS"]

COMPUTE_BENCHMARKS: tuple[Benchmark, ...] = (
    *ARITHMETIC_BENCHMARKS,
    *PARALLELISM_BENCHMARKS,
    *LOCAL_MEMORY_BENCHMARKS,
    *ATOMIC_BENCHMARKS,
    *SYNCHRONISATION_BENCHMARKS,
    *WORK_ITEM_BENCHMARKS,
)
