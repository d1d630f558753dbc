"""Warp paths and registers in Parquet files: what comes back, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import TraceFormatError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.phase_table import PhaseTable
from kernelcast.traces.stored import header as stored_header
from kernelcast.traces.stored import parquet
from kernelcast.traces.stored.parquet import read_trace, write_trace
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import WarpPaths

BODY = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2; setp.gt.u32 %p1, %r1, 40; @%p1 bra END;
    st.global.u32 [%rd1], %r1; END: bar.sync 0; ret;
"""
MEETING = """
    .shared .align 8 .b64 bar; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 64; bar.sync 0; mbarrier.arrive.shared.b64 %rd1, [bar];
    TRY: mbarrier.test_wait.shared.b64 %p2, [bar], %rd1; @!%p2 bra TRY; ret;
"""


@pytest.fixture
def trace(compile_ptx: Callable[..., Kernel]) -> Trace:
    """Three thread blocks of two warps, with their paths."""
    out = np.zeros(64, np.uint32)
    kernel = RunnableKernel(compile_ptx(BODY))
    return kernel.run(grid=3, block=64, args=[out], record_paths=True).data


@pytest.fixture
def meeting(compile_ptx: Callable[..., Kernel]) -> Trace:
    """A thread block whose two warps wait for each other."""
    kernel = RunnableKernel(compile_ptx(MEETING))
    return kernel.run(grid=2, block=64, args=[np.zeros(1, np.uint32)], record_paths=True).data


def paths_of(trace: Trace) -> WarpPaths:
    assert trace.paths is not None
    return trace.paths


def test_paths_come_back(trace: Trace, tmp_path: Path) -> None:
    write_trace(tmp_path / "t.parquet", trace)
    found, expected = paths_of(read_trace(tmp_path / "t.parquet").trace), paths_of(trace)
    for name in (item.name for item in fields(WarpPaths) if item.name not in ("phases", "longest")):
        one, other = getattr(found, name), getattr(expected, name)
        if isinstance(one, PatternTable):
            assert np.array_equal(one.mask, other.mask)
            assert np.array_equal(one.offsets, other.offsets)
            continue
        assert np.array_equal(one, other), name
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype, name


def test_phases_come_back(meeting: Trace, tmp_path: Path) -> None:
    write_trace(tmp_path / "t.parquet", meeting)
    found, expected = paths_of(read_trace(tmp_path / "t.parquet").trace), paths_of(meeting)
    assert expected.phases.is_wait.any()
    assert not expected.phases.is_wait.all()
    for item in fields(PhaseTable):
        one, other = getattr(found.phases, item.name), getattr(expected.phases, item.name)
        assert np.array_equal(one, other), item.name
        assert one.dtype == other.dtype, item.name


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("event", 1 << 30, "event of a phase"),
        ("barrier", -1, "barrier of a phase"),
        ("thread_block", 2, "thread block of a barrier"),
    ],
)
def test_phases_of_what_is_not_there_are_refused(
    meeting: Trace, tmp_path: Path, column: str, value: int, message: str
) -> None:
    paths = paths_of(meeting)
    wrong = replace(paths.phases, **{column: changed(getattr(paths.phases, column), 0, value)})
    write_trace(tmp_path / "t.parquet", replace(meeting, paths=replace(paths, phases=wrong)))
    with pytest.raises(TraceFormatError, match=message):
        read_trace(tmp_path / "t.parquet")


def test_registers_come_back(trace: Trace, tmp_path: Path) -> None:
    write_trace(tmp_path / "t.parquet", trace)
    assert read_trace(tmp_path / "t.parquet").trace.instructions == trace.instructions
    assert any(row.reads and row.writes for row in trace.instructions)


@pytest.mark.parametrize("is_complete", [False, True])
def test_whether_paths_are_complete_comes_back(
    trace: Trace, tmp_path: Path, is_complete: bool
) -> None:
    changed = replace(trace, paths=replace(paths_of(trace), is_complete=is_complete))
    write_trace(tmp_path / "t.parquet", changed)
    assert paths_of(read_trace(tmp_path / "t.parquet").trace).is_complete is is_complete


def test_why_there_are_none_comes_back(trace: Trace, tmp_path: Path) -> None:
    write_trace(tmp_path / "t.parquet", replace(trace, paths=None, no_paths="they wait"))
    found = read_trace(tmp_path / "t.parquet").trace
    assert found.paths is None
    assert found.no_paths == "they wait"


def test_files_of_the_first_version_have_no_registers(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_version(header: stored_header.StoredHeader) -> str:
        old = json.loads(stored_header.header_json(header))
        del old["no_paths"], old["paths_are_complete"]
        for row in old["instructions"]:
            del row["reads"], row["writes"]
        return json.dumps(old | {"version": 1})

    with monkeypatch.context() as patch:
        patch.setattr(parquet, "header_json", first_version)
        write_trace(tmp_path / "t.parquet", replace(trace, paths=None))
    found = read_trace(tmp_path / "t.parquet").trace
    assert found.paths is None
    assert not any(row.reads or row.writes for row in found.instructions)


@pytest.mark.parametrize("registers", [[-1], ["r1"], "12", None])
def test_wrong_registers_are_refused(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registers: Any
) -> None:
    def wrong(header: stored_header.StoredHeader) -> str:
        found = json.loads(stored_header.header_json(header))
        found["instructions"][0]["reads"] = registers
        return json.dumps(found)

    with monkeypatch.context() as patch:
        patch.setattr(parquet, "header_json", wrong)
        write_trace(tmp_path / "t.parquet", trace)
    with pytest.raises(TraceFormatError, match="the header cannot be read: registers"):
        read_trace(tmp_path / "t.parquet")


def changed(column: Any, place: int, value: int) -> Any:
    found = column.copy()
    found[place] = value
    return found


@pytest.mark.parametrize(
    ("column", "place", "value", "message"),
    [
        ("pc", 0, 99, "pc of a path"),
        ("pc", 0, -1, "pc of a path"),
        ("lanes", 3, 33, "number of lanes of a path"),
        ("pattern", 0, 7, "pattern of a path"),
        ("pattern", 0, -2, "pattern of a path"),
        ("thread_blocks", 2, 3, "thread block of a path"),
        ("start", 1, 1 << 40, "the paths do not begin where others end"),
        ("start", 0, 1, "the paths do not begin where others end"),
        ("start", -1, 5, "the paths do not begin where others end"),
    ],
)
def test_paths_to_what_is_not_there_are_refused(
    trace: Trace, tmp_path: Path, column: str, place: int, value: int, message: str
) -> None:
    paths = paths_of(trace)
    wrong = replace(paths, **{column: changed(getattr(paths, column), place, value)})
    write_trace(tmp_path / "t.parquet", replace(trace, paths=wrong))
    with pytest.raises(TraceFormatError, match=message):
        read_trace(tmp_path / "t.parquet")


def test_columns_of_different_lengths_are_refused(trace: Trace, tmp_path: Path) -> None:
    paths = paths_of(trace)
    write_trace(tmp_path / "t.parquet", replace(trace, paths=replace(paths, start=paths.start[1:])))
    with pytest.raises(TraceFormatError, match=r"path_warps\.start has 6 rows, not 7"):
        read_trace(tmp_path / "t.parquet")
