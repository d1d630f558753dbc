"""Passes through L1 against a count in Python, lane by lane."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.l1_passes import data_passes, tag_passes
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

ROWS = 300
WIDTHS = (1, 2, 4, 8, 16)
LINE_BYTES, BANKS, BANK_BYTES = 128, 32, 4
FOUR_TAG_BANKS = 4


class Accesses:
    """Random lanes and aligned addresses; instruction i moves WIDTHS[i] bytes a lane."""

    def __init__(self, lanes: int, reach: int) -> None:
        random = np.random.default_rng([lanes, reach])
        self.lanes = lanes
        self.pc = random.integers(0, len(WIDTHS), ROWS).astype(np.int32)
        width = np.array(WIDTHS)[self.pc]
        self.mask = random.integers(1, 1 << (lanes - 1), ROWS).astype(np.uint64)
        places = random.integers(0, reach, (ROWS, lanes)) * width[:, None]
        first = np.array([(int(mask) & -int(mask)).bit_length() - 1 for mask in self.mask])
        start = places[np.arange(ROWS), first]
        self.address = start + (1 << 40)
        self.patterns = PatternTable(self.mask, places - start[:, None])
        self.pattern = np.arange(ROWS, dtype=np.int32)
        self.native = NativeAccesses(np.array(WIDTHS, np.int64), np.full(len(WIDTHS), -1, np.int64))

    def touched(self, row: int) -> list[tuple[int, int, int]]:
        """(lane, first byte, bytes) of each active lane."""
        return [
            (
                lane,
                int(self.address[row] + self.patterns.offsets[row, lane]),
                WIDTHS[self.pc[row]],
            )
            for lane in range(self.lanes)
            if int(self.mask[row]) >> lane & 1
        ]


def tag_bank(line: int) -> int:
    """The exclusive or of all digits of base four."""
    bank = 0
    while line:
        bank ^= line % FOUR_TAG_BANKS
        line //= FOUR_TAG_BANKS
    return bank


@pytest.mark.parametrize("reach", [40, 3000, 1 << 20])
@pytest.mark.parametrize("device", ["a100-80gb", "gtx-480"])
def test_tags(device: str, reach: int) -> None:
    found = Accesses(32, reach)
    target = load_device(device)
    passes = tag_passes(
        found.pc, found.address, found.pattern, found.patterns, found.native, target
    )
    for row in range(ROWS):
        lines = {first // LINE_BYTES for _, first, _ in found.touched(row)}
        banks = Counter(map(tag_bank, lines))
        assert passes[row] == (max(banks.values()) if has_banked_l1(target) else len(lines))


@pytest.mark.parametrize("reach", [3, 40, 3000])
def test_data_banks(reach: int) -> None:
    """Lanes together move 128 bytes a pass, or less where words fall to one bank."""
    found = Accesses(32, reach)
    none = np.zeros(ROWS, np.int32)
    start = (found.address % 16).astype(np.int32)
    rows = PatternCounts(found.pc, none, start, found.pattern, np.ones(ROWS, np.int64))
    passes = data_passes(rows, found.patterns, found.native, load_device("a100-80gb"))
    for row in range(ROWS):
        words: dict[int, set[int]] = {}
        for lane, first, size in found.touched(row):
            group = lane * max(size, BANK_BYTES) // (BANKS * BANK_BYTES)
            end = (first + size - 1) // BANK_BYTES
            words.setdefault(group, set()).update(range(first // BANK_BYTES, end + 1))
        expected = sum(max(Counter(w % BANKS for w in group).values()) for group in words.values())
        assert passes[row] == expected


@pytest.mark.parametrize(
    ("device", "banked"),
    [("a100-80gb", True), ("v100-sxm2", True), ("b200", True), ("gtx-1070", False),
     ("gtx-480", False), ("mi210", False), ("arc-b580", False)],
)  # fmt: skip
def test_l1_lies_in_the_banks_of_shared_memory_since_volta(device: str, banked: bool) -> None:
    assert has_banked_l1(load_device(device)) is banked
