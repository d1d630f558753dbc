"""The memory benchmarks, and what each finds (bandwidths in bytes/s; an L marks a curve).

Each is a module and a row here. Imports `opencl_bench`; no other top-level folder.

=================  =================================================================================
global_bandwidth   global_read_bandwidth, global_write_bandwidth, global_copy_bandwidth,
                   global_triad_bandwidth, the same of plain work-items (CPU only),
                   work_item_int_index_copy_bandwidth (CPU only, full effort only)
parallelism        L read_bandwidth_over_work_groups, L read_bandwidth_over_work_group_size,
                   L read_bandwidth_over_loads_per_item
cache_bandwidth    L read_bandwidth_over_footprint (all read the same data),
                   L private_read_bandwidth_over_footprint (each compute unit its own part),
                   L update_bandwidth_over_footprint (own part; loads and stores),
                   L work_item_bandwidth_over_footprint (own part, plain work-items; CPU only)
write_share        L cache_bandwidth_over_write_share, L global_bandwidth_over_write_share
                   (full effort only)
pointer_chase      L chase_latency_over_footprint (s)
clock              clock_under_load (Hz; CPU devices only)
constant_memory    constant_broadcast_bandwidth, constant_serialised_bandwidth
stride             L read_bandwidth_over_stride, L read_bandwidth_over_misalignment (useful bytes)
gather             L gather_bandwidth_over_spread (useful bytes)
mixed_fp32         L fp32_throughput_over_intensity (operations/s), L fp32_bandwidth_over_intensity
mixed_fp64         L fp64_throughput_over_intensity (operations/s), L fp64_bandwidth_over_intensity
transfer           host_to_device_bandwidth, L host_to_device_bandwidth_over_size,
                   device_to_host_bandwidth, L device_to_host_bandwidth_over_size
=================  =================================================================================
"""

from __future__ import annotations

from kernelcast.opencl_bench.benchmark import Benchmark
from kernelcast.opencl_bench.memory.access_pattern import (
    measure_gather,
    measure_strides,
)
from kernelcast.opencl_bench.memory.constant_memory import measure_constant_memory
from kernelcast.opencl_bench.memory.footprints import measure_footprints, measure_write_shares
from kernelcast.opencl_bench.memory.intensity import (
    measure_fp32_intensity,
    measure_fp64_intensity,
)
from kernelcast.opencl_bench.memory.parallelism import measure_parallelism
from kernelcast.opencl_bench.memory.pointer_chase import measure_clock, measure_latency
from kernelcast.opencl_bench.memory.streams import measure_streams
from kernelcast.opencl_bench.memory.transfers import measure_transfers
from kernelcast.opencl_bench.target import Feature

__all__ = ["MEMORY_BENCHMARKS"]

_FP64 = frozenset({Feature.FP64})

MEMORY_BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark("clock", "clock under load", measure_clock),
    Benchmark("global_bandwidth", "global memory: read, write, copy, triad", measure_streams),
    Benchmark("pointer_chase", "latency of a load over footprint", measure_latency),
    Benchmark("cache_bandwidth", "caches: bandwidth over footprint", measure_footprints),
    Benchmark("mixed_fp32", "fp32 throughput over intensity", measure_fp32_intensity),
    Benchmark("mixed_fp64", "fp64 throughput over intensity", measure_fp64_intensity, _FP64),
    Benchmark("constant_memory", "constant memory", measure_constant_memory),
    Benchmark("stride", "global memory: bandwidth over stride and offset", measure_strides),
    Benchmark("gather", "global memory: bandwidth over spread", measure_gather),
    Benchmark("parallelism", "global memory: bandwidth over work-items", measure_parallelism),
    Benchmark("write_share", "bandwidth over share of writes", measure_write_shares),
    Benchmark("transfer", "copies between host and device", measure_transfers),
)
