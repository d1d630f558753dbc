"""Traces in Parquet files: what comes back, what other programs see, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kernelcast.errors import TraceFormatError
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stored import header as stored_header
from kernelcast.traces.stored import parquet
from kernelcast.traces.stored.parquet import TraceWriter, read_trace, write_trace
from kernelcast.traces.trace import (
    AccessTable,
    InstructionRow,
    PatternCounts,
    ResourceNeeds,
    ThreadBlockClasses,
    Trace,
)

WIDTH = 8


def ints(*values: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(values, np.int32)


def small_trace() -> Trace:
    """Three thread blocks of two warps of 8 lanes; two instructions, no two columns alike."""
    rows = (
        InstructionRow(0, "ld.global", "ld.global.f32", "load/store", 0, "load", 0, "global", 4,
                       "nc", True, 0, "k.ptx", 7, "k.cu", 3),
        InstructionRow(1, "st.shared", "st.shared.f32", "load/store", 0, "store", 1, "shared", 4,
                       merged_into=1),
    )  # fmt: skip
    return Trace(
        kernel="k",
        grid=(3, 1, 1),
        thread_block=(4, 3, 1),
        warp_width=WIDTH,
        resources=ResourceNeeds(11, 1024, 16, registers=None, max_registers=32),
        instructions=rows,
        classes=ThreadBlockClasses(
            ints(0, 1, 0),
            np.array([[2, 2], [2, 1]]),
            np.array([[12, 12], [12, 4]]),
            np.array([[0, 1], [0, 3]]),
        ),
        stage_warp_issues=np.array([[6, 0], [0, 5]]),
        warp_time=ints(2, 2, 2, 1, 2, 2),
        patterns=PatternTable(
            np.array([255, 15], np.uint64), np.arange(2 * WIDTH, dtype=np.int64).reshape(2, WIDTH)
        ),
        accesses=AccessTable(
            pc=ints(0, 0, 0, 0, 0, 0),
            warp=ints(0, 1, 2, 3, 4, 5),
            time=ints(0, 0, 1, 0, 0, 0),
            stage=ints(0, 0, 1, 0, 0, 0),
            address=np.array([2**40 + 32 * i for i in range(6)]),
            pattern=ints(0, 1, 0, 1, 0, 1),
        ),
        pattern_counts=PatternCounts(
            ints(1, 1), ints(0, 1), ints(0, 12), ints(0, 1), np.array([4, 1])
        ),
        engine="reference",
        elapsed_s=0.25,
    )


def assert_same(found: Any, expected: Any, where: str = "trace") -> None:
    """Equality through dataclasses, of arrays with their types."""
    assert type(found) is type(expected), where
    if is_dataclass(found):
        for field in fields(found):
            name = field.name
            assert_same(getattr(found, name), getattr(expected, name), f"{where}.{name}")
    elif isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype, where
        assert found.flags.writeable, where
        assert np.array_equal(found, expected), where
    else:
        assert found == expected, where


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "t.parquet"
    write_trace(path, small_trace(), repeats=4)
    return path


def test_a_trace_comes_back_whole(stored: Path) -> None:
    found = read_trace(stored)
    assert_same(found.trace, small_trace())
    assert found.repeats == 4


@pytest.mark.parametrize("agree", [False, True])
def test_whether_pairs_agree_comes_back(tmp_path: Path, agree: bool) -> None:
    write_trace(tmp_path / "t.parquet", replace(small_trace(), pairs_agree=agree))
    assert read_trace(tmp_path / "t.parquet").trace.pairs_agree is agree


def test_a_trace_without_accesses_comes_back(tmp_path: Path) -> None:
    empty = AccessTable(ints(), ints(), ints(), ints(), np.zeros(0, np.int64), ints())
    no_patterns = PatternTable(np.zeros(0, np.uint64), np.zeros((0, WIDTH), np.int64))
    no_counts = PatternCounts(ints(), ints(), ints(), ints(), np.zeros(0, np.int64))
    trace = replace(small_trace(), accesses=empty, patterns=no_patterns, pattern_counts=no_counts)
    write_trace(tmp_path / "t.parquet", trace)
    assert_same(read_trace(tmp_path / "t.parquet").trace, trace)


def test_an_executed_trace_comes_back_whole(run_ptx: Callable[..., Trace], tmp_path: Path) -> None:
    body = """
        mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;
        st.shared.u32 [%r3], %r1; bar.sync 0; setp.lt.u32 %p1, %r1, 40; @!%p1 bra END;
        ld.param.u64 %rd1, [out]; cvt.u64.u32 %rd2, %r2; add.u64 %rd1, %rd1, %rd2;
        ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1], %r4; END: ret;
    """
    out = np.zeros(64, np.uint32)
    module = ".shared .align 4 .b8 tile[256];"
    trace = run_ptx(body, "u64 out", [out], module=module, grid=3, block=64)
    write_trace(tmp_path / "t.parquet", trace)
    assert_same(read_trace(tmp_path / "t.parquet").trace, trace)


def test_other_programs_see_one_row_an_access(stored: Path) -> None:
    rows = pq.read_table(stored).to_pylist()
    assert len(rows) == 6
    assert rows[2] == {
        "mnemonic": "ld.global.f32",
        "thread_block": 1,
        "pc": 0,
        "warp": 2,
        "time": 1,
        "stage": 1,
        "address": 2**40 + 64,
        "pattern": 0,
    }


def test_batches_become_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_ACCESSES", 2)
    trace, path = small_trace(), tmp_path / "t.parquet"
    table = trace.accesses
    with TraceWriter(path, trace.instructions, trace.warps_per_thread_block) as writer:
        for first, last in ((0, 1), (1, 3), (3, 6)):
            columns = (getattr(table, field.name)[first:last] for field in fields(table))
            writer.write(AccessTable(*columns))
        assert not path.exists()
        writer.finish(trace)
    assert_same(read_trace(path).trace, trace)
    metadata = pq.ParquetFile(path).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [2, 1, 2, 1]
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def fail_while_writing(path: Path) -> None:
    trace = small_trace()
    with TraceWriter(path, trace.instructions, 2) as writer:
        writer.write(trace.accesses)
        raise ZeroDivisionError


def test_a_failed_run_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_while_writing(tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def refusal(path: Path) -> str:
    with pytest.raises(TraceFormatError) as caught:
        read_trace(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


@pytest.mark.parametrize("kept", [0, 3, 100, 0.5, 0.9, -1])
def test_a_truncated_file_is_refused(stored: Path, kept: float) -> None:
    content = stored.read_bytes()
    size = int(len(content) * kept) if isinstance(kept, float) else kept
    stored.write_bytes(content[:size])
    assert "no Parquet file, or it is damaged" in refusal(stored)


def test_damage_anywhere_is_a_trace_error_or_harmless(stored: Path) -> None:
    content = stored.read_bytes()
    refused, positions = 0, range(0, len(content), 13)
    for position in positions:
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        stored.write_bytes(damaged)
        try:
            found = read_trace(stored)
        except TraceFormatError:
            refused += 1
        else:
            assert_same(found.trace, small_trace())
    assert refused > len(positions) / 2


def test_other_parquet_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"pc": [1, 2]}), path)
    assert "no kernelcast trace" in refusal(path)


def test_a_file_that_another_program_rewrote_is_refused(stored: Path) -> None:
    table = pq.read_table(stored)
    metadata = pq.read_metadata(stored).metadata
    pq.write_table(table.replace_schema_metadata(metadata), stored)
    assert "another program rewrote the file" in refusal(stored)


def test_a_newer_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(stored_header, "FORMAT_VERSION", stored_header.FORMAT_VERSION + 1)
        write_trace(tmp_path / "t.parquet", small_trace())
    newer = f"version {stored_header.FORMAT_VERSION + 1} of the format"
    assert newer in refusal(tmp_path / "t.parquet")


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "none.parquet")
    assert "directory" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("pc", 2, "pc is not below 2"),
        ("pattern", 2, "pattern is not below 2"),
        ("stage", -1, "stage is below 0"),
        ("warp", 6, "warp is not below 6"),
        ("time", -1, "time is below 0"),
        ("time", 9, "an access comes after the end of its warp"),
    ],
)
def test_accesses_to_what_is_not_there_are_refused(
    tmp_path: Path, column: str, value: int, message: str
) -> None:
    trace, path = small_trace(), tmp_path / "t.parquet"
    wrong = getattr(trace.accesses, column).copy()
    wrong[3] = value
    with TraceWriter(path, (*trace.instructions, trace.instructions[0]), 2) as writer:
        writer.write(replace(trace.accesses, **{column: wrong}))
        writer.finish(trace)
    assert message in refusal(path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"grid": (4, 1, 1)}, "thread_blocks.class has 3 rows, not 4"),
        ({"thread_block": (17, 1, 1)}, "warps.time has 6 rows, not 9"),
        ({"warp_width": 4, "thread_block": (8, 1, 1)}, "does not have 4 numbers a row"),
        ({"stage_warp_issues": np.zeros((2, 3), np.int64)}, "does not have 2 numbers a row"),
        ({"warp_time": np.zeros(6, np.int64)}, "warps.time is no column of int32"),
        ({"grid": (0, 1, 1)}, "grid is 0"),
        ({"kernel": 5}, "kernel is 5"),
        ({"instructions": ()}, "not numbered by pc"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    trace, path = small_trace(), tmp_path / "t.parquet"
    with TraceWriter(path, trace.instructions, 2) as writer:
        writer.write(trace.accesses)
        writer.finish(replace(trace, **wrong))
    assert message in refusal(path)


def test_lanes_beyond_the_warp_are_refused(tmp_path: Path) -> None:
    trace, path = small_trace(), tmp_path / "t.parquet"
    write_trace(
        path, replace(trace, patterns=replace(trace.patterns, mask=trace.patterns.mask * 2))
    )
    assert "lanes beyond 8" in refusal(path)


def test_a_missing_folder_to_write_to_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "t.parquet"
    with pytest.raises(TraceFormatError, match=r"cannot write .*t\.parquet: No such file"):
        write_trace(path, small_trace())
