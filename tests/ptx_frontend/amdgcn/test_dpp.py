"""DPP of AMD's code: which lane each lane reads, and which lanes write, by the manual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import UnsupportedInstruction
from tests.ptx_frontend.amdgcn.assembly import LANES, lowered
from tests.ptx_frontend.amdgcn.test_instructions import LANE, Words, X, executed


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
}
"""Patterns of DPP, and the lane that each lane reads, -1 for none (MI200 ISA, 6.3)."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_lanes_that_are_read(tmp_path: Path, pattern: str) -> None:
    lanes = PATTERNS[pattern]
    body = f"v_mov_b32_e32 v2, 7; v_mov_b32_dpp v2, v1 {pattern} row_mask:0xf bank_mask:0xf"
    assert np.array_equal(executed(tmp_path, body, X), from_lanes(X, lanes, 7))
    found = executed(tmp_path, f"{body} bound_ctrl:1", X)
    assert np.array_equal(found, from_lanes(X, lanes, 0))


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


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("v_mov_b32_dpp v2, v1 wave_shr:1 row_mask:0xf bank_mask:0xf", "its DPP control"),
        ("v_cmp_eq_u32_dpp vcc, v1, v3 row_mirror row_mask:0xf bank_mask:0xf", "mask of lanes"),
    ],
)
def test_dpp_that_is_not_executed_is_refused(tmp_path: Path, body: str, why: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=why):
        lowered(tmp_path, body)
