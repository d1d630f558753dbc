"""Accel-Sim kernel traces: what single lines of a warp say."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.traces.accelsim.reader import read_accelsim_trace
from kernelcast.traces.trace import Trace

texts: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("accelsim_texts.py"))))
SHARED_WINDOW, LOCAL_WINDOW = texts.SHARED_WINDOW, texts.LOCAL_WINDOW
ONE_WARP: str = texts.HEADER.replace("(2,1,1)", "(1,1,1)").replace("(40,1,1)", "(32,1,1)")

ReadLines = Callable[..., Trace]


@pytest.fixture
def read_lines(tmp_path: Path) -> ReadLines:
    """(instruction lines of the only warp, header=...) -> Trace."""

    def read(*lines: str, header: str = ONE_WARP) -> Trace:
        body = "\n".join(lines)
        path = tmp_path / "kernel-1.traceg"
        path.write_text(
            f"{header}#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = {len(lines)}\n{body}\n"
            "#END_TB\n"
        )
        return read_accelsim_trace(path)

    return read


def lane_addresses(trace: Trace, row: int = 0) -> dict[int, int]:
    """Addresses of one access by active lane."""
    pattern = trace.accesses.pattern[row]
    mask, offsets = int(trace.patterns.mask[pattern]), trace.patterns.offsets[pattern]
    return {
        lane: int(trace.accesses.address[row] + offsets[lane])
        for lane in range(32)
        if mask >> lane & 1
    }


@pytest.mark.parametrize(
    "addresses",
    ["0 0x1000 0x1010 0x1008 0x2000", "0 0x1000 0x1010 0x1008 0x2000 17", "2 0x1000 16 -8 4088"],
)
def test_address_modes_list_and_differences(read_lines: ReadLines, addresses: str) -> None:
    trace = read_lines(f"0 0000c012 1 R1 LDG.E.64 1 R2 8 {addresses}")
    assert lane_addresses(trace) == {1: 0x1000, 4: 0x1010, 14: 0x1008, 15: 0x2000}
    assert trace.accesses.address[0] == 0x1000
    assert trace.instructions[0].access_bytes == 8


def test_address_mode_stride_may_descend(read_lines: ReadLines) -> None:
    trace = read_lines("0 000000f0 1 R1 LDG.E.64 1 R2 8 1 0x1000 -8")
    assert lane_addresses(trace) == {4: 0x1000, 5: 0xFF8, 6: 0xFF0, 7: 0xFE8}


def test_equal_patterns_are_one_whatever_their_mode(read_lines: ReadLines) -> None:
    trace = read_lines(
        "00 00000007 1 R1 LDG.E 1 R2 4 0 0x1000 0x1004 0x1008",
        "10 00000007 1 R1 LDG.E 1 R2 4 1 0x2000 4",
        "20 00000007 1 R1 LDG.E 1 R2 4 2 0x3000 4 4",
        "20 00000007 1 R1 LDG.E 1 R2 4 2 0x3000 4 8",
    )
    assert trace.accesses.pattern.tolist() == [0, 0, 0, 1]
    assert lane_addresses(trace, 3)[2] == 0x300C


def test_generic_addresses_go_where_their_window_is(read_lines: ReadLines) -> None:
    trace = read_lines(
        f"0 00000007 1 R1 LD.E 1 R2 4 0 {SHARED_WINDOW + 20:#x} 0x1000 {SHARED_WINDOW + 24:#x}"
    )
    assert lane_addresses(trace) == {1: 0x1000}
    counts = trace.pattern_counts
    assert (counts.start.tolist(), counts.count.tolist()) == ([4], [1])
    assert trace.patterns.mask[counts.pattern[0]] == 0b101
    assert trace.instructions[0].space == "generic"


def test_generic_addresses_without_windows_are_global(read_lines: ReadLines) -> None:
    header = "".join(line for line in ONE_WARP.splitlines(True) if "base_addr" not in line)
    line = f"0 00000003 1 R1 LD.E 1 R2 4 1 {SHARED_WINDOW:#x} 4"
    assert lane_addresses(read_lines(line, header=header))[0] == SHARED_WINDOW


@pytest.mark.parametrize("opcode", ["LDL", "LD.E"])
def test_local_words_of_all_threads_lie_together(read_lines: ReadLines, opcode: str) -> None:
    base = LOCAL_WINDOW + 64 if opcode == "LD.E" else 64
    trace = read_lines(
        f"00 ffffffff 1 R1 {opcode} 1 R2 4 1 {base:#x} 0",
        f"10 ffffffff 1 R1 {opcode} 1 R2 4 1 {base + 4:#x} 0",
    )
    first, second = lane_addresses(trace, 0), lane_addresses(trace, 1)
    assert [first[lane] - first[0] for lane in range(32)] == list(range(0, 128, 4))
    assert second[0] == first[31] + 4


def test_lines_of_the_source_are_kept_where_the_trace_has_them(read_lines: ReadLines) -> None:
    header = ONE_WARP.replace("\n#traces", "-enable lineinfo = 1\n\n#traces")
    trace = read_lines("17 0008 ffffffff 1 R0 MOV 1 R1 0 ", header=header)
    (row,) = trace.instructions
    assert (row.origin_file, row.origin_line) == ("vecadd", 17)


def test_instructions_without_active_lanes_count_as_issues(read_lines: ReadLines) -> None:
    trace = read_lines("0 00000000 1 R1 LDG.E 1 R2 4 2 0x0", "10 ffffffff 0 EXIT 0 0")
    assert trace.classes.warp_issues.tolist() == [[1, 1]]
    assert trace.classes.lane_executions.tolist() == [[0, 32]]
    assert len(trace.accesses) == 0


def test_one_address_with_two_opcodes_is_two_instructions(read_lines: ReadLines) -> None:
    trace = read_lines("0 ffffffff 0 NOP 0 0", "0 ffffffff 0 EXIT 0 0")
    assert [row.mnemonic for row in trace.instructions] == ["EXIT", "NOP"]
