"""Loads of shared memory on their way to the registers: a word of every bank in a pass."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.timing.kernel.from_trace import shared_returns
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

PATTERNS = {
    "uniform": lambda lane: 0 * lane,
    "neighbours": lambda lane: 16 * (lane // 2),
    "after next": lambda lane: 16 * (lane % 2 + lane // 4),
    "single": lambda lane: 16 * lane,
}


def returns(name: str, pattern: str, access_bytes: int, mask: int | None = None) -> int:
    device = load_device(name)
    width = device.architecture.warp_width
    offsets = PATTERNS[pattern](np.arange(width))[None].astype(np.int64)
    active = (1 << width) - 1 if mask is None else mask
    zero = np.zeros(1, np.int32)
    rows = PatternCounts(zero, zero, zero, zero, np.ones(1, np.int64))
    native = NativeAccesses(np.array([access_bytes]), np.array([-1]))
    found = shared_returns(
        rows, PatternTable(np.array([active], np.uint64), offsets), native, device
    )
    return int(found[0])


@pytest.mark.parametrize(
    ("device", "one", "four"),
    [("gtx-480", 1, 4), ("tesla-k20c", 1, 2), ("v100-pcie", 1, 2), ("r9-nano", 2, 8)],
)
def test_a_broadcast_still_fills_the_registers(device: str, one: int, four: int) -> None:
    """128 bytes a pass, 256 on Kepler, half of them needed where lanes are paired."""
    assert returns(device, "uniform", 4) == one
    assert returns(device, "uniform", 16) == four


@pytest.mark.parametrize(
    ("pattern", "passes"), [("neighbours", 2), ("after next", 2), ("single", 4)]
)
def test_pairs_of_lanes_share_what_returns(pattern: str, passes: int) -> None:
    """The two rules of compute capability 7.x; a GPU without pairs needs all four."""
    assert returns("v100-pcie", pattern, 16) == passes
    assert returns("gtx-480", pattern, 16) == 4


def test_lanes_that_are_off_do_not_part_a_pair() -> None:
    assert returns("v100-pcie", "single", 16, mask=0x5555_5555) == 2
    assert returns("v100-pcie", "single", 16, mask=0xFFFF_FFFF) == 4
