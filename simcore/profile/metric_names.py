"""A simulated profile under the names that profilers give its quantities.

nvprof: CUDA Profiler User's Guide, metrics reference. ncu: Nsight Compute CLI guide, metric
comparison table. Memory transactions are 32 bytes there whatever the device's sectors are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kernelcast.simcore.isa.tensor_types import SPARSE, TensorType
from kernelcast.simcore.profile.metric_values import (
    Getter,
    active_lanes,
    active_lanes_percent,
    bank_efficiency,
    hit_rate,
    instruction_count,
    machine_count,
    occupancy_percent,
    registers,
    shared_count,
    shared_instructions,
    shared_passes,
    thread_instructions,
    traffic_count,
    traffic_transactions,
    used_share,
    warp_instructions,
    without_atomics,
)
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.rocprof_metrics import rocprof_metrics

__all__ = ["METRICS", "Metric", "MetricValue", "Naming", "metrics"]


class Naming(Enum):
    """The profiler whose names to use."""

    NVPROF = "nvprof"
    NCU = "ncu"
    ROCPROF = "rocprof"


@dataclass(frozen=True, slots=True)
class Metric:
    """One quantity of a profile; a name is empty where the profiler has none for it."""

    nvprof: str
    ncu: str
    description: str
    unit: str
    value: Getter

    def name(self, naming: Naming) -> str:
        """The metric's name in that profiler; empty where it has none."""
        return self.nvprof if naming is Naming.NVPROF else self.ncu


@dataclass(frozen=True, slots=True)
class MetricValue:
    """The value of one metric, with its unit and a description."""

    name: str
    value: float
    unit: str
    description: str


def metrics(profile: KernelProfile, naming: Naming) -> tuple[MetricValue, ...]:
    """All metrics that the profile knows, per launch."""
    if naming is Naming.ROCPROF:
        return tuple(MetricValue(*item) for item in rocprof_metrics(profile))
    usual = (
        MetricValue(metric.name(naming), value, metric.unit, metric.description)
        for metric in METRICS
        if metric.name(naming) and (value := metric.value(profile)) is not None
    )
    return (*usual, *_tensor_metrics(profile), *_machine_metrics(profile, naming))


def _tensor_metrics(profile: KernelProfile) -> Iterator[MetricValue]:
    """Operations of tensor units by type, which only ncu has names for."""
    for name, operations in (profile.instructions.tensor_operations or {}).items():
        type_, is_sparse = TensorType(name.removesuffix(SPARSE)), name.endswith(SPARSE)
        sparsity = "_sparsity_on" if is_sparse else ""
        yield MetricValue(
            f"sm__ops_path_tensor_{type_.metric}{sparsity}.sum",
            operations,
            "operations",
            f"tensor operations on {name}, two for each multiply-add",
        )


def _machine_metrics(profile: KernelProfile, naming: Naming) -> Iterator[MetricValue]:
    """Instructions of machine code by pipe and by opcode, which only ncu has names for."""
    counts = profile.machine
    if counts is None or naming is not Naming.NCU:
        return
    for pipe, count in counts.by_pipe.items():
        what = f"warp instructions that the pipe {pipe} executes"
        yield MetricValue(f"smsp__inst_executed_pipe_{pipe}.sum", count, "instructions", what)
    for opcode, count in counts.by_opcode.items():
        name = f"sass__inst_executed_per_opcode_with_modifier_all.{opcode}"
        yield MetricValue(name, count, "instructions", f"warp instructions {opcode}")


_SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_L1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_BANKS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_USED_BYTES = "smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.pct"

METRICS: tuple[Metric, ...] = (
    Metric(
        "flop_count_sp_fma",
        _SASS.format("ffma"),
        "single-precision multiply-adds of active threads, one each",
        "instructions",
        instruction_count(lambda at: at.fma32),
    ),
    Metric(
        "flop_count_dp_fma",
        _SASS.format("dfma"),
        "double-precision multiply-adds of active threads, one each",
        "instructions",
        instruction_count(lambda at: at.fma64),
    ),
    Metric(
        "inst_compute_ld_st",
        _SASS.format("memory"),
        "loads, stores and atomics of global, local and shared memory by active threads",
        "instructions",
        instruction_count(lambda at: at.load_store, "memory"),
    ),
    Metric(
        "inst_executed",
        "smsp__inst_executed.sum",
        "instructions executed, per warp",
        "instructions",
        warp_instructions,
    ),
    Metric(
        "inst_fp_32",
        _SASS.format("fp32"),
        "single-precision instructions of active threads",
        "instructions",
        instruction_count(lambda at: at.fp32, "fp32"),
    ),
    Metric(
        "inst_fp_64",
        _SASS.format("fp64"),
        "double-precision instructions of active threads",
        "instructions",
        instruction_count(lambda at: at.fp64),
    ),
    Metric(
        "inst_integer",
        _SASS.format("integer"),
        "integer instructions of active threads",
        "instructions",
        instruction_count(lambda at: at.integer, "integer"),
    ),
    Metric(
        "inst_bit_convert",
        _SASS.format("conversion"),
        "conversions of active threads",
        "instructions",
        instruction_count(lambda at: at.conversion),
    ),
    Metric(
        "inst_control",
        _SASS.format("control"),
        "branches, returns and jumps of active threads",
        "instructions",
        instruction_count(lambda at: at.control),
    ),
    Metric(
        "flop_count_sp_special",
        "",
        "special functions of active threads",
        "instructions",
        instruction_count(lambda at: at.special_function),
    ),
    Metric(
        "thread_inst_executed",
        "smsp__thread_inst_executed.sum",
        "instructions executed, per active thread",
        "instructions",
        thread_instructions,
    ),
    Metric(
        "dram_read_transactions",
        "dram__sectors_read.sum",
        "32-byte reads of device memory",
        "transactions",
        traffic_transactions(lambda at: at.dram_read_transactions),
    ),
    Metric(
        "dram_write_transactions",
        "dram__sectors_write.sum",
        "32-byte writes of device memory",
        "transactions",
        traffic_transactions(lambda at: at.dram_write_transactions),
    ),
    Metric(
        "l2_read_transactions",
        "lts__t_sectors_op_read.sum",
        "32-byte reads of the L2",
        "transactions",
        without_atomics(lambda at: at.l2_read_sectors),
    ),
    Metric(
        "l2_tex_read_transactions",
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "32-byte reads of the L2 by the first level; another partition's are left out",
        "transactions",
        without_atomics(lambda at: at.l2_read_sectors),
    ),
    Metric(
        "l2_write_transactions",
        "lts__t_sectors_op_write.sum",
        "32-byte writes of the L2",
        "transactions",
        without_atomics(lambda at: at.l2_write_sectors),
    ),
    Metric(
        "l2_tex_write_transactions",
        "lts__t_sectors_srcunit_tex_op_write.sum",
        "32-byte writes of the L2 by the first level; another partition's are left out",
        "transactions",
        without_atomics(lambda at: at.l2_write_sectors),
    ),
    Metric(
        "l2_tex_hit_rate",
        "lts__t_sector_op_read_hit_rate.pct",
        "share of L2 reads that hit",
        "%",
        hit_rate(lambda at: at.l2_read_hit_sectors, lambda at: at.l2_read_sectors),
    ),
    Metric(
        "global_hit_rate",
        "l1tex__t_sector_hit_rate.pct",
        "share of L1 reads that hit",
        "%",
        hit_rate(lambda at: at.l1_hit_sectors, lambda at: at.l1_read_sectors),
    ),
    Metric(
        "global_load_requests",
        _L1.format("requests", "ld"),
        "global loads, per warp",
        "requests",
        traffic_count(lambda at: at.global_load_requests),
    ),
    Metric(
        "global_store_requests",
        _L1.format("requests", "st"),
        "global stores, per warp",
        "requests",
        traffic_count(lambda at: at.global_store_requests),
    ),
    Metric(
        "gld_transactions",
        _L1.format("sectors", "ld"),
        "32-byte sectors that global loads ask for",
        "transactions",
        traffic_transactions(lambda at: at.global_load_sectors),
    ),
    Metric(
        "gst_transactions",
        _L1.format("sectors", "st"),
        "32-byte sectors that global stores write",
        "transactions",
        traffic_transactions(lambda at: at.global_store_sectors),
    ),
    Metric(
        "gld_efficiency",
        _USED_BYTES.format("ld"),
        "bytes that threads load as a share of bytes moved",
        "%",
        used_share(
            lambda at: at.requested_load_bytes,
            lambda at: at.global_load_sectors,
        ),
    ),
    Metric(
        "gst_efficiency",
        _USED_BYTES.format("st"),
        "bytes that threads store as a share of bytes moved",
        "%",
        used_share(
            lambda at: at.requested_store_bytes,
            lambda at: at.global_store_sectors,
        ),
    ),
    Metric(
        "inst_executed_shared_loads",
        "smsp__inst_executed_op_shared_ld.sum",
        "shared-memory loads, per warp",
        "requests",
        shared_instructions(lambda at: at.load_requests, lambda at: at.shared_loads),
    ),
    Metric(
        "inst_executed_shared_stores",
        "smsp__inst_executed_op_shared_st.sum",
        "shared-memory stores, per warp",
        "requests",
        shared_instructions(lambda at: at.store_requests, lambda at: at.shared_stores),
    ),
    Metric(
        "inst_executed_local_loads",
        "smsp__inst_executed_op_local_ld.sum",
        "loads of local memory, where spilled registers are, per warp",
        "requests",
        machine_count(lambda at: at.local_loads),
    ),
    Metric(
        "inst_executed_local_stores",
        "smsp__inst_executed_op_local_st.sum",
        "stores to local memory, where spilled registers are, per warp",
        "requests",
        machine_count(lambda at: at.local_stores),
    ),
    Metric(
        "shared_load_transactions",
        _BANKS.format("ld"),
        "passes of shared-memory loads, conflicts included",
        "wavefronts",
        shared_passes(lambda at: at.load_wavefronts),
    ),
    Metric(
        "shared_store_transactions",
        _BANKS.format("st"),
        "passes of shared-memory stores, conflicts included",
        "wavefronts",
        shared_passes(lambda at: at.store_wavefronts),
    ),
    Metric(
        "",
        _CONFLICTS.format("ld"),
        "passes of shared-memory loads that are lost to conflicts",
        "wavefronts",
        shared_count(lambda at: at.load_conflicts),
    ),
    Metric(
        "",
        _CONFLICTS.format("st"),
        "passes of shared-memory stores that are lost to conflicts",
        "wavefronts",
        shared_count(lambda at: at.store_conflicts),
    ),
    Metric(
        "shared_efficiency",
        "",
        "fewest passes for the same words as a share of the passes taken",
        "%",
        bank_efficiency,
    ),
    Metric(
        "warp_execution_efficiency",
        "",
        "mean share of active threads in a warp",
        "%",
        active_lanes_percent,
    ),
    Metric(
        "",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "mean number of active threads in a warp",
        "threads",
        active_lanes,
    ),
    Metric(
        "theoretical_occupancy",
        "sm__maximum_warps_per_active_cycle_pct",
        "resident warps as a share of what an SM can hold; not measured, a bound",
        "%",
        occupancy_percent,
    ),
    Metric(
        "registers_per_thread",
        "launch__registers_per_thread",
        "registers per thread",
        "registers",
        registers,
    ),
)
