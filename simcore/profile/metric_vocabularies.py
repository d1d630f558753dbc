"""Which profiler metrics make which field of a KernelProfile, one table a tool.

nvprof: CUDA Profiler User's Guide, metrics reference. ncu: the metric comparison table of the
Nsight Compute CLI guide. rocprof: AMD's tables of MI200/MI300 performance counters, which count
wavefronts' instructions where the others count threads' instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["NCU", "NVPROF", "REQUIRED", "ROCPROF", "Derivation", "Vocabulary"]

_SECTOR_BYTES = 32
_KIB = 1024

REQUIRED = (
    "warp_instructions",
    "fp64",
    "fma64",
    "fp32",
    "fma32",
    "integer",
    "load_store",
    "dram_read_transactions",
    "dram_write_transactions",
)


@dataclass(frozen=True, slots=True)
class Derivation:
    """factor x (sum of `metrics`, all needed, and of those of `optional` that are there).

    `per_wave`: the metrics count wavefronts' instructions but the field counts threads'.
    """

    metrics: tuple[str, ...]
    factor: float = 1.0
    optional: tuple[str, ...] = ()
    per_wave: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """`fields` maps a profile's field to the ways to derive it, best first."""

    tool: str
    fields: Mapping[str, tuple[Derivation, ...]]
    warp_width: int

    @property
    def metrics(self) -> frozenset[str]:
        """Names of all metrics that some field can be derived from."""
        return frozenset(
            name
            for derivations in self.fields.values()
            for derivation in derivations
            for name in (*derivation.metrics, *derivation.optional)
        )


def _one(*metrics: str, factor: float = 1.0) -> tuple[Derivation, ...]:
    """Alternatives of one metric each."""
    return tuple(Derivation((metric,), factor) for metric in metrics)


def _executed(operation: str) -> tuple[Derivation, ...]:
    return _one(f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum")


NVPROF = Vocabulary(
    tool="nvprof",
    warp_width=32,
    fields={
        "warp_instructions": _one("inst_executed"),
        "fp64": _one("inst_fp_64"),
        "fma64": _one("flop_count_dp_fma"),
        "fp32": _one("inst_fp_32"),
        "fma32": _one("flop_count_sp_fma"),
        "integer": _one("inst_integer"),
        "load_store": _one("inst_compute_ld_st"),
        "dram_read_transactions": (
            *_one("dram_read_transactions"),
            *_one("dram_read_bytes", factor=1 / _SECTOR_BYTES),
        ),
        "dram_write_transactions": (
            *_one("dram_write_transactions"),
            *_one("dram_write_bytes", factor=1 / _SECTOR_BYTES),
        ),
        "thread_instructions": _one("thread_inst_executed"),
        "conversion": _one("inst_bit_convert"),
        "control": _one("inst_control"),
        "special_function": _one("flop_count_sp_special"),
        "global_load_requests": _one("inst_executed_global_loads", "global_load_requests"),
        "global_store_requests": _one("inst_executed_global_stores", "global_store_requests"),
        "global_load_sectors": _one("gld_transactions"),
        "global_store_sectors": _one("gst_transactions"),
        "l2_read_sectors": _one("l2_read_transactions"),
        "l2_write_sectors": _one("l2_write_transactions"),
        "shared_load_requests": _one("inst_executed_shared_loads"),
        "shared_load_wavefronts": _one("shared_load_transactions"),
        "shared_store_requests": _one("inst_executed_shared_stores"),
        "shared_store_wavefronts": _one("shared_store_transactions"),
        "divergence": _one("warp_execution_efficiency"),
    },
)

NCU = Vocabulary(
    tool="ncu",
    warp_width=32,
    fields={
        "warp_instructions": _one("smsp__inst_executed.sum", "sm__inst_executed.sum"),
        "fp64": _executed("fp64"),
        "fma64": _executed("dfma"),
        "fp32": _executed("fp32"),
        "fma32": _executed("ffma"),
        "integer": _executed("integer"),
        "load_store": _executed("memory"),
        "dram_read_transactions": (
            *_one("dram__sectors_read.sum"),
            *_one("dram__bytes_read.sum", factor=1 / _SECTOR_BYTES),
        ),
        "dram_write_transactions": (
            *_one("dram__sectors_write.sum"),
            *_one("dram__bytes_write.sum", factor=1 / _SECTOR_BYTES),
        ),
        "thread_instructions": _one("smsp__thread_inst_executed.sum"),
        "conversion": _executed("conversion"),
        "control": _executed("control"),
        "global_load_requests": _one("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        "global_store_requests": _one("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
        "global_load_sectors": _one("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
        "global_store_sectors": _one("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
        "l2_read_sectors": _one(
            "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_op_read.sum"
        ),
        "l2_write_sectors": _one(
            "lts__t_sectors_srcunit_tex_op_write.sum", "lts__t_sectors_op_write.sum"
        ),
        "shared_load_requests": _one("smsp__inst_executed_op_shared_ld.sum"),
        "shared_load_wavefronts": _one("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
        "shared_store_requests": _one("smsp__inst_executed_op_shared_st.sum"),
        "shared_store_wavefronts": _one("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
        "divergence": _one("smsp__thread_inst_executed_per_inst_executed.ratio", factor=1 / 32),
    },
)


def _valu(*operations: str, precision: str) -> tuple[Derivation, ...]:
    names = tuple(f"SQ_INSTS_VALU_{operation}_{precision}" for operation in operations)
    return (Derivation(names, per_wave=True),)


_VECTOR_MEMORY = (("SQ_INSTS_VMEM",), ("SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR"))

ROCPROF = Vocabulary(
    tool="rocprof",
    warp_width=64,
    fields={
        "warp_instructions": tuple(
            Derivation(
                ("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", *memory, "SQ_INSTS_LDS"),
                optional=("SQ_INSTS_BRANCH", "SQ_INSTS_SENDMSG", "SQ_INSTS_GDS"),
            )
            for memory in _VECTOR_MEMORY
        ),
        "fp64": _valu("ADD", "MUL", "FMA", "TRANS", precision="F64"),
        "fma64": _valu("FMA", precision="F64"),
        "fp32": _valu("ADD", "MUL", "FMA", "TRANS", precision="F32"),
        "fma32": _valu("FMA", precision="F32"),
        "integer": (Derivation(("SQ_INSTS_VALU_INT32", "SQ_INSTS_VALU_INT64"), per_wave=True),),
        "load_store": tuple(
            Derivation((*memory, "SQ_INSTS_LDS"), per_wave=True) for memory in _VECTOR_MEMORY
        ),
        "dram_read_transactions": _one("FETCH_SIZE", "FetchSize", factor=_KIB / _SECTOR_BYTES),
        "dram_write_transactions": _one("WRITE_SIZE", "WriteSize", factor=_KIB / _SECTOR_BYTES),
        "conversion": (Derivation(("SQ_INSTS_VALU_CVT",), per_wave=True),),
        "special_function": _valu("TRANS", precision="F32"),
        "divergence": _one("VALUUtilization", factor=0.01),
    },
)
