"""DPP of AMD's code: which lane each lane reads, and which lanes write, by the manual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import UnsupportedInstruction
from tests.ptx_frontend.amdgcn.assembly import LANES, NARROW, lowered
from tests.ptx_frontend.amdgcn.test_instructions import LANE, Words, X, executed, executed_narrow


def from_lanes(x: Words, lanes: npt.NDArray[Any], otherwise: Any) -> Words:
    """The value of each of the lanes, the other where the number of one is negative."""
    found: Words = np.where(lanes >= 0, x[np.maximum(lanes, 0)], otherwise).astype(np.uint32)
    return found


PLACE = np.arange(LANES) % 16
ROW = np.arange(LANES) - PLACE
PATTERNS = {
    "quad_perm:[1,0,3,3]": np.arange(LANES) // 4 * 4 + np.array([1, 0, 3, 3] * 16),
    "row_shl:3": np.where(PLACE + 3 < 16, ROW + PLACE + 3, -1),
    "row_shr:5": np.where(PLACE >= 5, ROW + PLACE - 5, -1),
    "row_ror:4": ROW + (PLACE - 4) % 16,
    "row_mirror": ROW + 15 - PLACE,
    "row_half_mirror": np.arange(LANES) // 8 * 8 + 7 - np.arange(LANES) % 8,
    "row_bcast:15": np.where(ROW > 0, ROW - 1, -1),
    "row_bcast:31": np.where(np.arange(LANES) > 31, 31, -1),
    "row_newbcast:6": ROW + 6,
    "wave_shr:1": np.arange(LANES) - 1,
    "wave_shl:1": np.where(np.arange(LANES) < 63, np.arange(LANES) + 1, -1),
    "wave_ror:1": (np.arange(LANES) - 1) % LANES,
    "wave_rol:1": (np.arange(LANES) + 1) % LANES,
}
"""Patterns of DPP, and the lane that each lane reads, -1 for none (MI200 ISA, 6.3)."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_lanes_that_are_read(tmp_path: Path, pattern: str) -> None:
    lanes = PATTERNS[pattern]
    body = f"v_mov_b32_e32 v2, 7; v_mov_b32_dpp v2, v1 {pattern} row_mask:0xf bank_mask:0xf"
    assert np.array_equal(executed(tmp_path, body, X), from_lanes(X, lanes, 7))
    found = executed(tmp_path, f"{body} bound_ctrl:1", X)
    assert np.array_equal(found, from_lanes(X, lanes, 0))


NARROW_PATTERNS = {
    "row_share:9": (ROW + 9)[:NARROW],
    "row_xmask:5": (np.arange(NARROW) ^ 5),
    "row_shr:5": PATTERNS["row_shr:5"][:NARROW],
    "dpp8:[7,0,6,1,5,2,4,3]": np.arange(NARROW) // 8 * 8 + np.array([7, 0, 6, 1, 5, 2, 4, 3] * 4),
}
"""Patterns of RDNA, and the lane that each lane reads (RDNA 3 ISA, 7.4)."""


@pytest.mark.parametrize("pattern", NARROW_PATTERNS)
def test_lanes_that_are_read_of_rdna(tmp_path: Path, pattern: str) -> None:
    masks = "" if pattern.startswith("dpp8") else " row_mask:0xf bank_mask:0xf"
    body = f"v_mov_b32_e32 v2, 7; v_mov_b32_dpp v2, v1 {pattern}{masks}"
    expected = from_lanes(X[:NARROW], NARROW_PATTERNS[pattern], 7)
    assert np.array_equal(executed_narrow(tmp_path, body, X[:NARROW]), expected)


def test_lanes_without_part_are_read_where_it_says_so(tmp_path: Path) -> None:
    """Twenty lanes take part, and read lane 15 - n, or of the upper row 47 - n."""
    begin = (
        "v_mov_b32_e32 v2, 7; v_cmp_gt_u32_e32 vcc_lo, 20, v3; s_and_b32 exec_lo, exec_lo, vcc_lo; "
    )
    body = f"{begin}v_mov_b32_dpp v2, v1 row_mirror row_mask:0xf bank_mask:0xf"
    lane = np.arange(NARROW)
    lanes = PATTERNS["row_mirror"][:NARROW]
    expected = np.where((lane < 20) & (lanes < 20), X[lanes], 7)
    assert np.array_equal(executed_narrow(tmp_path, body, X[:NARROW]), expected)
    fetched = np.where(lane < 20, X[lanes], 7)
    assert np.array_equal(executed_narrow(tmp_path, f"{body} fi:1", X[:NARROW]), fetched)


def test_masks_that_every_lane_writes(tmp_path: Path) -> None:
    """A comparison, and a sum with its carries, with zero from lanes that are not there."""
    where = "row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"
    before = from_lanes(X, PATTERNS["row_shr:5"], 0)
    where = where.replace("shr:1", "shr:5")
    body = f"v_cmp_gt_u32_dpp vcc, v1, v1 {where}; v_cndmask_b32_e32 v2, v3, v1, vcc"
    assert np.array_equal(executed(tmp_path, body, X), np.where(before > X, X, LANE))
    left_out = body.replace(" bound_ctrl:1", "").replace("v_cmp_gt", "v_cmp_ne")
    expected = np.where((PLACE >= 5) & (before != X), X, LANE)
    assert np.array_equal(executed(tmp_path, left_out, X), expected)
    body = f"v_add_co_u32_dpp v2, vcc, v1, v1 {where}; v_addc_co_u32_e32 v2, vcc, 0, v2, vcc"
    total = before.astype(np.uint64) + X
    expected = (total + (total >> np.uint64(32))).astype(np.uint32)
    assert np.array_equal(executed(tmp_path, body, X), expected)


def test_masks_of_rows_and_banks_say_who_writes(tmp_path: Path) -> None:
    body = "v_mov_b32_e32 v2, 7; v_mov_b32_dpp v2, v1 row_mirror row_mask:0xa bank_mask:0x5"
    writes = (ROW // 16 % 2 == 1) & (PLACE // 4 % 2 == 0)
    expected = np.where(writes, X[PATTERNS["row_mirror"]], 7)
    assert np.array_equal(executed(tmp_path, body, X), expected)


def test_lanes_without_part_are_not_read(tmp_path: Path) -> None:
    """The lower 20 lanes take part: lane 19 reads lane 28, which does not."""
    begin = "v_mov_b32_e32 v2, 7; v_cmp_gt_u32_e32 vcc, 20, v3; s_and_saveexec_b64 s[6:7], vcc; "
    body = f"{begin}v_add_u32_dpp v2, v1, v3 row_mirror row_mask:0xf bank_mask:0xf"
    lanes = PATTERNS["row_mirror"]
    reads, inside = lanes < 20, np.arange(LANES) < 20
    expected = np.where(inside & reads, X[lanes] + LANE, 7)
    assert np.array_equal(executed(tmp_path, body, X), expected)
    zero = np.where(inside, np.where(reads, X[lanes], 0) + LANE, 7)
    assert np.array_equal(executed(tmp_path, f"{body} bound_ctrl:1", X), zero)


def test_a_sum_of_a_row_as_reductions_make_it(tmp_path: Path) -> None:
    """Each step adds what is 1, 2, 4 and 8 lanes before: the sums up to each lane of a row."""
    steps = "; ".join(
        f"v_add_u32_dpp v2, v2, v2 row_shr:{step} row_mask:0xf bank_mask:0xf"
        for step in (1, 2, 4, 8)
    )
    found = executed(tmp_path, f"v_mov_b32_e32 v2, v1; {steps}", X)
    assert np.array_equal(found, np.cumsum(X.reshape(4, 16), axis=1, dtype=np.uint32).ravel())


def test_other_patterns_are_refused(tmp_path: Path) -> None:
    body = "v_mov_b32_dpp v2, v1 row_sideways:1 row_mask:0xf bank_mask:0xf"
    with pytest.raises(UnsupportedInstruction, match="its DPP control"):
        lowered(tmp_path, body)
