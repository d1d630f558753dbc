"""What the CUDA measuring tool makes of ncu's output, and the marks on odd rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.measuring import accelerator, ncu, results, sanity
from kernelcast.simcore.profile.machine_counts import pipes_of
from kernelcast.simcore.profile.metric_vocabularies import NCU
from kernelcast.validation.measured_times import (
    Api,
    DeviceFacts,
    MeasuredCheck,
    MeasuredRow,
    MeasuredTime,
)

RAW_PAGE = """==PROF== Connected to process 7
a line of the program
"ID","Process ID","Kernel Name","Block Size","dram__bytes_read.sum","lts__t.pct","sm__x.ratio"
"","","","","byte","%",""
"0","7","triad","(256, 1, 1)","1,234,567","98.5","n/a"
"""


def test_the_raw_page_is_read_as_ncu_writes_it() -> None:
    second = '"1","7","empty","","1","n/a","2"\n'
    assert ncu.read_raw_page(RAW_PAGE + second) == (
        ncu.ProfiledLaunch("triad", {"dram__bytes_read.sum": 1234567.0, "lts__t.pct": 98.5}),
        ncu.ProfiledLaunch("empty", {"dram__bytes_read.sum": 1.0, "sm__x.ratio": 2.0}),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RAW_PAGE[: RAW_PAGE.index('"0"')], "no launch was profiled"),
        ("==PROF== x\n==ERROR== Failed to profile\n", "ncu: Failed to profile"),
        ("", "failed without a message"),
        ('"ID","a__b"\n"0","n/a"\n', "no metric has a value"),
    ],
)
def test_what_is_no_raw_page_is_told(text: str, message: str) -> None:
    with pytest.raises(accelerator.MeasuringError, match=message):
        ncu.read_raw_page(text)


BY_OPCODE = "sass__inst_executed_per_opcode_with_modifier_all"


@pytest.mark.parametrize("separator", ["; ", ", ", " "])
def test_counts_by_opcode_are_read_from_instances(separator: str) -> None:
    counts = separator.join(("IMAD.MOV.U32: 1,234", "LDG.E.64: 7", "EXIT: 12"))
    page = f'"ID","{BY_OPCODE}","a__b"\n"","inst",""\n"0","1,253 ({counts})","5 (1; 4)"\n'
    (launch,) = ncu.read_raw_page(page)
    assert launch.metrics == {
        f"{BY_OPCODE}.IMAD.MOV.U32": 1234.0,
        f"{BY_OPCODE}.LDG.E.64": 7.0,
        f"{BY_OPCODE}.EXIT": 12.0,
        "a__b": 5.0,
    }


def test_instances_are_asked_for_where_opcodes_are_counted() -> None:
    option = "--print-metric-instances"
    assert option in ncu.NcuProfiler(Path("ncu"), (BY_OPCODE,)).prefix()
    assert option not in ncu.NcuProfiler(Path("ncu"), ncu.METRICS[:3]).prefix()
    profiler = ncu.NcuProfiler(Path("ncu"), (BY_OPCODE,))
    assert not profiler.warnings({f"{BY_OPCODE}.FFMA": 1.0})
    assert profiler.warnings({}) == (f"ncu gave no value for {BY_OPCODE}",)


def test_all_that_machine_code_predicts_is_asked_for() -> None:
    for opcode in (
        "FFMA",
        "HADD2",
        "DADD",
        "MUFU",
        "HMMA",
        "LDG",
        "TEX",
        "LDC",
        "EXIT",
        "ULEA",
        "LOP3",
    ):
        for pipe in pipes_of(opcode):
            assert f"smsp__inst_executed_pipe_{pipe}.sum" in ncu.METRICS
    for name in ("launch__registers_per_thread", BY_OPCODE, "smsp__inst_executed_op_local_ld.sum"):
        assert name in ncu.METRICS


def test_estimates_can_start_from_what_is_asked_for() -> None:
    for ways in NCU.fields.values():
        assert any(set(way.metrics) <= set(ncu.METRICS) for way in ways)


def test_a_metric_without_a_value_is_named() -> None:
    profiler = ncu.NcuProfiler(Path("ncu"), ncu.METRICS[:3])
    found = dict.fromkeys(ncu.METRICS[:2], 1.0)
    assert profiler.warnings(found) == (f"ncu gave no value for {ncu.METRICS[2]}",)
    assert profiler.not_counted == ncu.METRICS[3:]


# --- warnings -------------------------------------------------------------------------------------

GPU = DeviceFacts("x", None, 1, None, 1e9, 64, 1000, None, None, "2026-01-01")  # peak 16 GB/s
GOOD = MeasuredRow(
    workload="w",
    size="s",
    kernel="k",
    grid=(1, 1, 1),
    block=(1, 1, 1),
    registers=None,
    shared_bytes=None,
    local_bytes=None,
    time_s=MeasuredTime(1.0, 1.0, 0.05, 0.9, 20),
    check=MeasuredCheck(passed=True, worst=0.0),
    clocks={"sm_hz_before": 1e9, "sm_hz_after": 0.96e9},
    metrics={
        "dram__bytes_read.sum": 1500.0,
        "dram__bytes_write.sum": 500.0,
        "gpu__time_duration.sum": 125.0,  # ns: 16 GB/s
    },
)


def test_a_good_row_has_no_warnings() -> None:
    assert sanity.row_warnings(GOOD, GPU, 2000) == ()
    assert sanity.row_warnings(replace(GOOD, metrics={}), GPU, 10**9) == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (replace(GOOD, check=None), "not compared"),
        (replace(GOOD, check=MeasuredCheck(passed=False, worst=1.0)), "differ"),
        (replace(GOOD, time_s=replace(GOOD.time_s, std=0.051)), "spread of 5.1%"),
        (replace(GOOD, clocks={"sm_hz_before": 1e9, "sm_hz_after": 9.4e8}), "1000 to 940 MHz"),
        (replace(GOOD, metrics={**GOOD.metrics, "dram__bytes_read.sum": 1499.0}), "1999 bytes"),
        (
            replace(GOOD, metrics={**GOOD.metrics, "gpu__time_duration.sum": 124.0}),
            "16.1 GB/s of DRAM traffic exceed the peak 16.0",
        ),
    ],
)
def test_odd_rows_are_marked(row: MeasuredRow, message: str) -> None:
    (warning,) = sanity.row_warnings(row, GPU, 2000)
    assert message in warning


def test_small_buffers_need_not_come_from_dram() -> None:
    row = replace(GOOD, metrics={**GOOD.metrics, "dram__bytes_read.sum": 0.0})
    assert sanity.row_warnings(row, GPU, 1000) == ()


@pytest.mark.parametrize(
    ("name", "file"),
    [("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3.json"), ("(TM) x/y", "tm-x-y.json")],
)
def test_files_are_named_after_the_device(name: str, file: str) -> None:
    assert results.file_name(name, Api.CUDA) == file
    opencl = file.replace(".json", "-opencl.json")
    assert results.file_name(name, Api.OPENCL) == opencl
