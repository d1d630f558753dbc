"""Accel-Sim kernel traces, written by hand and expected by hand."""

from __future__ import annotations

import lzma
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profiler import profile
from kernelcast.traces import collected_paths
from kernelcast.traces.accelsim.reader import read_accelsim_trace
from kernelcast.traces.trace import Trace

texts: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("accelsim_texts.py"))))
HEADER: str = texts.HEADER
FIRST: str = texts.FIRST
SECOND: str = texts.SECOND

ReadText = Callable[[str], Trace]


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    """(content of a file) -> Trace."""

    def read(text: str) -> Trace:
        path = tmp_path / "kernel-1.traceg"
        path.write_text(text)
        return read_accelsim_trace(path)

    return read


def test_launch_and_resources(read_text: ReadText) -> None:
    trace = read_text(HEADER + FIRST + SECOND)
    assert (trace.kernel, trace.grid, trace.thread_block) == ("vecadd", (2, 1, 1), (40, 1, 1))
    assert trace.warp_width == 32
    assert (trace.resources.registers, trace.resources.shared_bytes) == (12, 256)


def test_static_instructions_are_in_the_order_of_addresses(read_text: ReadText) -> None:
    trace = read_text(HEADER + FIRST + SECOND)
    assert [row.mnemonic for row in trace.instructions] == [
        *("IMAD.MOV.U32", "LDG.E.SYS", "STS", "BAR.SYNC", "FFMA", "STG.E.SYS", "EXIT")
    ]
    assert [row.kind for row in trace.instructions] == [
        *("compute", "load", "store", "barrier", "compute", "store", "exit")
    ]
    assert all(row.is_counted_natively for row in trace.instructions)
    # Warp 0 steps over STG, warp 1 over FFMA: both begin a basic block, and so does EXIT.
    assert [row.basic_block for row in trace.instructions] == [0, 0, 0, 0, 1, 2, 3]
    assert (trace.instructions[1].file, trace.instructions[1].line) == ("kernel-1.traceg", 24)


def test_counts_by_class_and_stage(read_text: ReadText) -> None:
    trace = read_text(HEADER + FIRST + SECOND)
    assert trace.classes.of_thread_block.tolist() == [0, 1]
    assert trace.classes.warp_issues.tolist() == [[2, 2, 2, 2, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1]]
    assert trace.classes.lane_executions.tolist() == [
        [40, 40, 40, 40, 4, 8, 40],
        [0, 0, 0, 0, 0, 0, 32],
    ]
    assert trace.stage_warp_issues.tolist() == [[2, 2, 2, 2, 0, 0, 1], [0, 0, 0, 0, 1, 1, 2]]
    assert trace.warp_time.tolist() == [6, 6, 1, 0]


@pytest.mark.parametrize(
    ("third", "agree"), [("0020", True), ("0030", False)], ids=["same", "other"]
)
def test_neighbours_agree_when_they_issue_the_same(
    read_text: ReadText, third: str, agree: bool
) -> None:
    """40 threads are two warps; the second thread block's agree anyway."""

    def warp(number: int, pc: str) -> str:
        lines = "".join(f"{at} ffffffff 1 R1 MOV 1 R2 0\n" for at in ("0000", "0010", pc))
        return f"warp = {number}\ninsts = 3\n{lines}"

    text = HEADER
    for thread_block, last in ((0, third), (1, "0020")):
        warps = warp(0, "0020") + warp(1, last)
        text += f"#BEGIN_TB\nthread block = {thread_block},0,0\n{warps}#END_TB\n"
    assert read_text(text).pairs_agree is agree


def test_the_profile_says_where_the_trace_comes_from(read_text: ReadText) -> None:
    found = profile(read_text(HEADER + FIRST + SECOND), load_device("gtx-480"))
    assert found.origin == "recorded by Accel-Sim's tracer on a GPU, simulated memory"


def test_accesses_are_rows_with_time_and_stage(read_text: ReadText) -> None:
    table = read_text(HEADER + FIRST + SECOND).accesses
    rows = zip(table.pc, table.warp, table.time, table.stage, table.address, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [
        (1, 0, 1, 0, 0x7F0000000000),
        (1, 1, 1, 0, 0x7F0000000080),
        (5, 1, 4, 1, 0x7F0000001080),
    ]
    assert table.pattern.tolist() == [0, 2, 2]


def test_shared_accesses_are_counted_by_pattern(read_text: ReadText) -> None:
    trace = read_text(HEADER + FIRST + SECOND)
    counts = trace.pattern_counts
    assert counts.pc.tolist() == [2, 2]
    assert counts.start.tolist() == [0, 4]
    assert counts.count.tolist() == [1, 1]
    assert trace.patterns.offsets[counts.pattern[1]].tolist() == list(range(0, 256, 8))


def test_thread_blocks_of_equal_counts_share_a_class(read_text: ReadText) -> None:
    third = SECOND.replace("1,0,0", "2,0,0")
    trace = read_text(HEADER.replace("(2,1,1)", "(3,1,1)") + SECOND + FIRST + third)
    assert trace.classes.of_thread_block.tolist() == [1, 0, 0]
    assert trace.classes.warp_issues.tolist() == [[0] * 6 + [1], [2, 2, 2, 2, 1, 1, 2]]
    assert trace.warp_time.tolist() == [6, 6, 1, 0, 1, 0]


def test_the_profile_counts_what_the_lines_say(read_text: ReadText) -> None:
    found = profile(read_text(HEADER + FIRST + SECOND), load_device("gtx-480"))
    assert found.instructions.warp_instructions == 13
    assert found.instructions.fma32 == 4
    assert found.instructions.integer == 40
    assert found.instructions.load_store == 40 + 40 + 8
    assert found.traffic.requested_load_bytes == 160
    assert found.traffic.requested_store_bytes == 32
    assert found.shared is not None
    # Stride 8 needs each of the 32 banks twice; 8 lanes in a row need one pass.
    assert (found.shared.store_requests, found.shared.store_wavefronts) == (2, 3)
    assert found.occupancy is not None
    assert found.occupancy.registers_per_thread == 12
    assert not found.occupancy.registers_assumed


def test_xz_gives_the_same_trace(read_text: ReadText, tmp_path: Path) -> None:
    text = HEADER + FIRST + SECOND
    plain, path = read_text(text), tmp_path / "kernel-1.traceg.xz"
    path.write_bytes(lzma.compress(text.encode()))
    packed = read_accelsim_trace(path)
    assert np.array_equal(packed.accesses.address, plain.accesses.address)
    assert np.array_equal(packed.classes.warp_issues, plain.classes.warp_issues)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TraceFormatError, match="damaged xz file"):
        read_accelsim_trace(path)


def changed(old: str, new: str) -> str:
    text = HEADER + FIRST + SECOND
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no #BEGIN_TB: no Accel-Sim kernel trace"),
        (changed("-nregs = 12\n", ""), "no `-nregs = ...` before"),
        (changed("-nregs = 12", "-nregs = many"), ":6: 'many' is no number"),
        (changed("(40,1,1)", "(40,0,1)"), r":4: '\(40,0,1\)' is not"),
        (changed("version = 3", "version = 2"), ":12: traces of version 2"),
        (changed("base_addr = 0x", "base_addr = zz"), ":9: 'zz.*' is no address"),
        (changed("(2,1,1)", "(99999999,99,1)"), ":3: the launch has"),
        (changed("#traces", "traces"), ":14: expected `-key = value`"),
        (changed("thread block = 0,0,0", "warp = 0"), ":19: expected `thread block = x,y,z`"),
        (changed("= 0,0,0", "= 2,0,0"), ":19: thread block 2,0,0 is outside"),
        (changed("= 1,0,0", "= 0,0,0"), ":43: thread block 0,0,0 appears twice"),
        (changed("warp = 1", "warp = 2"), ":30: warp 2 of a thread block that has 2"),
        (changed("warp = 1", "warp = 0"), ":30: warp 0 appears twice"),
        (changed("insts = 6", "insts = six"), ":22: expected `insts = n`"),
        (changed("insts = 6", "insts = 5"), ":28: expected `warp = w` or `#END_TB`, found '0060"),
        (changed("insts = 6", "insts = 7"), ":29: no instruction"),
        (changed("FFMA", "FFNA"), r":27: unknown opcode FFNA \(did you mean FFMA"),
        (changed("FFMA 3 R2 R2 R2 0", "FFMA 3 R2 R2 R2 4 1 0x0 4"), ":27: FFMA does not access"),
        (changed("0000000f", "0000000g"), ":27: no instruction of a trace"),
        (changed("0000000f", "10000000f"), ":27: no instruction .*more than 32 lanes"),
        (changed("4 1 0x7f0000000000 4", "4 3 0x7f0000000000 4"), ":24: .*unknown address mode 3"),
        (changed("4 1 0x7f0000000000 4", "4 1 0x7f0000000000"), ":24: .*takes 2 numbers"),
        (changed("4 1 0x7f0000000000 4", "4 2 0x7f0000000000 4"), ":24: .*takes 32 numbers"),
        (changed("4 1 0x7f0000000000 4", "3 1 0x7f0000000000 4"), ":24: an access of 3 bytes"),
        (changed("0x7f0000000000 4", "0x7fffffffffffffff 4"), ":24: .*is no address"),
        (changed("0x7f0000000000 4", "0x10 -4"), ":24: .*beyond the address space"),
        (HEADER + FIRST, "1 of 2 thread blocks are missing"),
        (
            HEADER + FIRST + SECOND.replace("warp = 1\ninsts = 0", ""),
            ":.*: 1 warps of thread block",
        ),
        (
            HEADER + FIRST.partition("#END_TB")[0],
            "ends inside of a thread block: the file is truncated",
        ),
        (HEADER + FIRST.partition("0050 ")[0], "ends inside of a warp: the file is truncated"),
        (HEADER + FIRST + "garbage", ":40: expected #BEGIN_TB, found 'garbage'"),
    ],
)
def test_errors_name_the_line(read_text: ReadText, text: str, message: str) -> None:
    with pytest.raises(TraceFormatError, match=message) as caught:
        read_text(text)
    assert "kernel-1.traceg" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="No such file"):
        read_accelsim_trace(tmp_path / "none.traceg")
    (tmp_path / "binary.traceg").write_bytes(bytes(range(256)))
    with pytest.raises(TraceFormatError, match="is no text"):
        read_accelsim_trace(tmp_path / "binary.traceg")


def test_registers_are_numbered_as_they_turn_up(read_text: ReadText) -> None:
    """R1 0, R2 1, R4 2; R255 is always zero."""
    rows = read_text(HEADER + FIRST + SECOND).instructions
    assert [(row.writes, row.reads) for row in rows] == [
        ((0,), ()),
        ((1,), (2,)),
        ((), (0, 1)),
        ((), ()),
        ((1,), (1,)),
        ((), (2, 1)),
        ((), ()),
    ]


def test_paths_are_the_warps_of_the_file(read_text: ReadText) -> None:
    trace = read_text(HEADER + FIRST + SECOND)
    paths = trace.paths
    assert paths is not None
    assert paths.thread_blocks.tolist() == [0, 1]
    assert paths.start.tolist() == [0, 6, 12, 13, 13]
    assert paths.pc.tolist() == [0, 1, 2, 3, 4, 6, 0, 1, 2, 3, 5, 6, 6]
    assert paths.lanes.tolist() == [32, 32, 32, 32, 4, 32, *[8] * 6, 32]
    assert np.flatnonzero(paths.pattern >= 0).tolist() == [1, 2, 7, 8, 10]
    loads = [0x7F0000000000, 0x7F0000000080, 0x7F0000001080]
    assert paths.address[[1, 7, 10]].tolist() == loads
    assert paths.address[[2, 8]].tolist() == [4, 0x80]
    assert paths.patterns.offsets[paths.pattern[2]].tolist() == list(range(0, 256, 8))
    assert paths.is_complete


def test_long_paths_are_cut(read_text: ReadText, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four warps, twelve events: three each."""
    monkeypatch.setattr(collected_paths, "MOST_EVENTS", 12)
    paths = read_text(HEADER + FIRST + SECOND).paths
    assert paths is not None
    assert paths.pc.tolist() == [0, 1, 2, 0, 1, 2, 6]
    assert np.flatnonzero(paths.pattern >= 0).tolist() == [1, 2, 4, 5]
    assert not paths.is_complete
