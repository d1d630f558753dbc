"""Counters that machine code predicts beside those that ncu measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.execution.code import Code
from kernelcast.inputs.native.tools import toolset
from kernelcast.validation.measured import validate_measured
from kernelcast.validation.measured_times import (
    Api,
    DeviceFacts,
    MeasuredDevice,
    MeasuredRow,
    MeasuredTime,
)
from kernelcast.validation.report import ValidationReport

needs_assembler = pytest.mark.skipif(toolset(80) is None, reason="no assembler; CI has it")
BY_OPCODE = "sass__inst_executed_per_opcode_with_modifier_all"
BUSY = 313  # of 10000 threads
FACTS = DeviceFacts("A100", "8.0", 108, None, None, None, None, None, None, "2026-01-01")
MEASURED = {
    f"{BY_OPCODE}.FFMA": float(BUSY),
    f"{BY_OPCODE}.DFMA": 7.0,
    f"{BY_OPCODE}.STG.E": float(BUSY),
    "smsp__inst_executed_pipe_fma.sum": 1000.0,
    "smsp__inst_executed_pipe_tex.sum": 5.0,
    "smsp__inst_executed_op_local_ld.sum": 0.0,
    "launch__registers_per_thread": 10.0,
}


def compared(folder: Path, code: Code) -> ValidationReport:
    """saxpy as an A100 would have counted it."""
    row = MeasuredRow(
        workload="examples/saxpy/saxpy",
        size="small",
        kernel="saxpy",
        grid=(40, 1, 1),
        block=(256, 1, 1),
        registers=None,
        shared_bytes=0,
        local_bytes=0,
        time_s=MeasuredTime(1e-5, 1e-5, 0.0, 1e-5, 20),
        check=None,
        metrics=MEASURED,
    )
    text = MeasuredDevice(Api.CUDA, FACTS, 1e-6, (row,)).to_json()
    (folder / "a100-40gb.json").write_text(text)
    return validate_measured(["roofline"], folder, code=code)


@needs_assembler
def test_counts_of_machine_code_stand_beside_the_measured_ones(tmp_path: Path) -> None:
    report = compared(tmp_path, Code.NATIVE)
    assert not report.notes
    found = {item.metric: item for item in report.counters}
    assert set(found) == set(MEASURED)
    assert found[f"{BY_OPCODE}.FFMA"].simulated == BUSY
    assert found[f"{BY_OPCODE}.STG.E"].error == 0
    assert found["smsp__inst_executed_op_local_ld.sum"].error == 0
    assert found["launch__registers_per_thread"].simulated > 0
    assert found["smsp__inst_executed_pipe_fma.sum"].simulated >= BUSY


@needs_assembler
def test_what_the_gpu_executed_and_the_machine_code_does_not_have_is_told(tmp_path: Path) -> None:
    found = {item.metric: item for item in compared(tmp_path, Code.NATIVE).counters}
    for name in (f"{BY_OPCODE}.DFMA", "smsp__inst_executed_pipe_tex.sum"):
        assert (found[name].simulated, found[name].error) == (0, -1)


def test_the_source_predicts_none_of_them(tmp_path: Path) -> None:
    found = {item.metric for item in compared(tmp_path, Code.SOURCE).counters}
    assert found == {"launch__registers_per_thread"}
