"""Two instructions of RDNA 3 in one (VOPD): both read before either writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ptx_frontend.amdgcn.assembly import NARROW, lowered_for_rdna

SWAP = "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4"


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_halves_that_write_what_the_other_reads_swap(tmp_path: Path, engine: str) -> None:
    body = f"v_mov_b32_e32 v4, v1; v_lshlrev_b32_e32 v5, 8, v1; {SWAP}; v_lshl_or_b32 v2, v4, 8, v5"
    given = np.arange(1, NARROW + 1, dtype=np.uint32)
    made = np.zeros(NARROW, np.uint32)
    kernel = lowered_for_rdna(tmp_path, body)
    kernel.run(grid=1, block=NARROW, args=[made, given], engine=engine, warp_width=NARROW)
    # v4 is 256 a, then v5 is: (a << 8) << 8 | a.
    assert np.array_equal(made, given << 16 | given)
