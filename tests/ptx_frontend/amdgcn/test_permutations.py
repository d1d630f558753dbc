"""Permutations of lanes of AMD's code against tables made of the manual's formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from tests.ptx_frontend.amdgcn.assembly import LANES, NARROW, lowered
from tests.ptx_frontend.amdgcn.test_instructions import X, executed, executed_narrow

LANE = np.arange(LANES)
QUADS = np.array([2, 0, 3, 1] * 16)
SWIZZLES = {
    "swizzle(SWAP,8)": LANE ^ 8,
    "swizzle(REVERSE,16)": LANE ^ 15,
    "swizzle(BROADCAST,8,5)": LANE // 8 * 8 + 5,
    "swizzle(QUAD_PERM,2,0,3,1)": LANE // 4 * 4 + QUADS,
    "swizzle(ROTATE,0,5)": LANE // 32 * 32 + (LANE + 5) % 32,
    "swizzle(ROTATE,1,5)": LANE // 32 * 32 + (LANE - 5) % 32,
    "0x401f": LANE ^ 16,
    "0xc023": LANE // 32 * 32 + LANE % 4 + (LANE % 32 + 1) % 32 // 4 * 4,
    'swizzle(BITMASK_PERM,"01pi0")': np.array(
        [lane // 32 * 32 + (8 | lane & 4 | (lane & 2 ^ 2)) for lane in range(LANES)]
    ),
}
"""Patterns of `ds_swizzle_b32`, and the lane that each lane reads (RDNA 3 ISA, 16.15)."""


@pytest.mark.parametrize("pattern", SWIZZLES)
def test_patterns_of_swizzles(tmp_path: Path, pattern: str) -> None:
    body = f"ds_swizzle_b32 v2, v1 offset:{pattern}; s_waitcnt lgkmcnt(0)"
    assert np.array_equal(executed(tmp_path, body, X), X[SWIZZLES[pattern]])
    narrow = executed_narrow(tmp_path, body, X[:NARROW])
    assert np.array_equal(narrow, X[SWIZZLES[pattern][:NARROW]])


def test_swizzles_read_zero_of_lanes_without_part(tmp_path: Path) -> None:
    begin = "v_mov_b32_e32 v2, 7; v_cmp_gt_u32_e32 vcc, 20, v3; s_and_saveexec_b64 s[6:7], vcc; "
    found = executed(tmp_path, f"{begin}ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,16)", X)
    reads = LANE ^ 16
    assert np.array_equal(found, np.where(LANE < 20, np.where(reads < 20, X[reads], 0), 7))


def test_other_patterns_of_swizzles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedInstruction, match="the pattern FFT"):
        lowered(tmp_path, "ds_swizzle_b32 v2, v1 offset:swizzle(FFT,3)")


def test_values_that_go_to_another_lane(tmp_path: Path) -> None:
    """Lane n sends to lane n / 2: the higher one of two lasts, and the upper half gets nothing."""
    body = "v_lshlrev_b32_e32 v4, 1, v3; v_and_b32_e32 v4, 0xfc, v4; ds_permute_b32 v2, v4, v1"
    expected = np.where(LANE < 32, X[(2 * LANE + 1) % LANES], 0)
    assert np.array_equal(executed(tmp_path, body, X), expected)


PLACES = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 15, 12])
WORDS = [
    sum(int(place) << 4 * n for n, place in enumerate(half)) for half in (PLACES[:8], PLACES[8:])
]
SELECT = f"s_mov_b32 s6, {WORDS[0]:#x}; s_mov_b32 s7, {WORDS[1]:#x}; v_mov_b32_e32 v2, 7; "
OWN_ROW = np.arange(NARROW) // 16 * 16 + np.resize(PLACES, NARROW)


@pytest.mark.parametrize(("name", "lanes"), [("16", OWN_ROW), ("x16", OWN_ROW ^ 16)])
def test_lanes_by_scalars(tmp_path: Path, name: str, lanes: np.ndarray) -> None:
    x = X[:NARROW]
    instruction = f"v_permlane{name}_b32 v2, v1, s6, s7"
    assert np.array_equal(executed_narrow(tmp_path, SELECT + instruction, x), x[lanes])
    narrow = "v_cmp_gt_u32_e32 vcc_lo, 20, v3; s_and_b32 exec_lo, exec_lo, vcc_lo; "
    lane = np.arange(NARROW)
    for flags, other in (("0,0", 7), ("0,1", 0), ("1,0", x[lanes])):
        body = f"{SELECT}{narrow}{instruction} op_sel:[{flags}]"
        taken = np.where(lanes < 20, x[lanes], other)
        assert np.array_equal(executed_narrow(tmp_path, body, x), np.where(lane < 20, taken, 7))


def test_halves_of_a_wavefront(tmp_path: Path) -> None:
    assert np.array_equal(executed(tmp_path, "v_permlane64_b32 v2, v1", X), X[LANE ^ 32])
    narrow = executed_narrow(tmp_path, "v_permlane64_b32 v2, v1", X[:NARROW])
    assert np.array_equal(narrow, X[:NARROW])
