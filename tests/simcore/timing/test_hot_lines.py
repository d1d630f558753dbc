"""Hot lines: which lines of the source lose most issue slots, and to what."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, REASON_COUNT, StallReason
from kernelcast.simcore.timing.launch.hot_lines import hot_lines
from kernelcast.traces.trace import InstructionRow


def row(pc: int, mnemonic: str, line: int, origin: int = 0) -> InstructionRow:
    return InstructionRow(
        pc=pc,
        opcode=mnemonic,
        mnemonic=mnemonic,
        unit="fp32",
        flops=0,
        kind="compute",
        basic_block=0,
        file="k.ptx",
        line=line,
        origin_file="k.cu" if origin else "",
        origin_line=origin,
    )


def test_lines_are_ordered_by_the_slots_that_they_lose() -> None:
    rows = [row(0, "ld", 10), row(1, "fma", 11, origin=3), row(2, "add", 12, origin=3)]
    slots = np.zeros((4, REASON_COUNT), np.int64)  # the last row is of no instruction
    slots[:3, ISSUED] = 10
    slots[0, StallReason.DRAM_LATENCY.code] = 30
    slots[1, StallReason.FP32_PIPE.code] = 5
    slots[2, StallReason.DRAM_LATENCY.code] = 25
    slots[2, StallReason.BARRIER.code] = 8
    slots[3, StallReason.IDLE.code] = 2
    first, second = hot_lines(rows, slots)
    assert (first.place, first.mnemonic) == ("k.cu:3", "add")
    assert first.reason is StallReason.DRAM_LATENCY
    assert first.percent == 100 * 38 / 100
    assert (second.place, second.percent) == ("k.ptx:10", 30.0)


def test_nothing_lost_is_no_line() -> None:
    slots = np.zeros((2, REASON_COUNT), np.int64)
    slots[0, ISSUED] = 7
    assert hot_lines([row(0, "add", 1)], slots) == ()


def test_ten_lines_at_most() -> None:
    slots = np.ones((21, REASON_COUNT), np.int64)
    assert len(hot_lines([row(pc, "add", pc + 1) for pc in range(20)], slots)) == 10


def test_lines_for_some_reasons_only() -> None:
    """What else is lost there neither counts nor names the instruction."""
    slots = np.zeros((3, REASON_COUNT), np.int64)
    slots[0, StallReason.DRAM_LATENCY.code] = 50
    slots[0, StallReason.BARRIER.code] = 10
    slots[1, StallReason.BARRIER.code] = 40
    rows = [row(0, "ld", 1), row(1, "bar", 2)]
    found = hot_lines(rows, slots, (StallReason.BARRIER,))
    assert [(line.place, line.percent) for line in found] == [("k.ptx:2", 40.0), ("k.ptx:1", 10.0)]
    assert {line.reason for line in found} == {StallReason.BARRIER}
