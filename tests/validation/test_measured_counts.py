"""Counts of machine code against those of an H100 that executed the very same code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.execution.code import Code
from kernelcast.inputs.native.tools import toolset
from kernelcast.validation.comparison import CounterComparison
from kernelcast.validation.measured import MEASURED, validate_measured
from kernelcast.validation.measured_times import read_measured
from tests.drawn_cases import drawn

needs_assembler = pytest.mark.skipif(toolset(90) is None, reason="no assembler; CI has it")
CHEAP = drawn(
    (
        "luo_suda/linear",  # divisions by a constant
        "luo_suda/matrix",
        "memory/strided_read_32",
        "rodinia/hotspot3d",  # generic accesses, a fence of the system
        "rodinia/lud_internal",  # broadcasts of 16 bytes
        "rodinia/needle",
        "sparse_formats/spmv_bell_im_texture",
        "vector_operators/divide_scalar",
    ),
    4,
)
LOADS_AND_STORES = ("ld", "st")
KINDS = ("fp32", "fp64", "ffma", "integer", "memory", "conversion")
EXACT = {
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "launch__registers_per_thread",
    *(f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum" for kind in KINDS),
    *(
        name.format(access)
        for access in LOADS_AND_STORES
        for name in (
            "smsp__inst_executed_op_shared_{}.sum",
            "smsp__inst_executed_op_local_{}.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
        )
    ),
}
BY_OPCODE = "sass__inst_executed_per_opcode_with_modifier_all."
BY_PIPE = "smsp__inst_executed_pipe_"


def is_exact(item: CounterComparison) -> bool:
    return item.metric in EXACT or item.metric.startswith((BY_OPCODE, BY_PIPE))


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> tuple[CounterComparison, ...]:
    measured = read_measured(MEASURED / "h100-sxm.json")
    rows = tuple(row for row in measured.rows if row.workload in CHEAP and row.metrics)
    folder: Path = tmp_path_factory.mktemp("measured")
    text = replace(measured, rows=rows, latencies=None).to_json()
    (folder / "h100-sxm.json").write_text(text)
    report = validate_measured(["roofline"], folder, code=Code.NATIVE)
    assert not report.notes
    return report.counters


@needs_assembler
def test_instructions_and_requests_are_those_of_an_h100(
    counters: tuple[CounterComparison, ...],
) -> None:
    chosen = [item for item in counters if is_exact(item)]
    assert len({item.kernel for item in chosen}) == len(CHEAP)
    assert {item.metric for item in chosen} > EXACT
    different = [
        (item.kernel, item.metric, item.simulated, item.measured)
        for item in chosen
        if item.simulated != item.measured
    ]
    assert not different
