"""Integer instructions, constants and atomics of AMD's code against NumPy, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ptx_frontend.amdgcn.test_instructions import LANE, Words, X, executed

WIDE = np.uint64


def halves_joined(low: Words, high: Words) -> Words:
    return low & np.uint32(0xFFFF) | high << np.uint32(16)


def signed_24(x: Words) -> Any:
    return (x << np.uint32(8)).view(np.int32).astype(np.int64) >> 8


CASES: dict[str, tuple[str, Callable[[Words], Any]]] = {
    "constant of 16 bits": ("s_movk_i32 s6, 0xe2d1; v_add_u32_e32 v2, s6, v1", lambda x: x - 7471),
    "sum with a constant of 16 bits": (
        "s_mov_b32 s6, 5; s_addk_i32 s6, 0xffff; v_add_u32_e32 v2, s6, v1",
        lambda x: x + 4,
    ),
    "comparison with a constant of 16 bits": (
        "s_mov_b32 s6, -2; s_cmpk_eq_i32 s6, 0xfffe; s_cselect_b32 s7, 3, 4; v_mov_b32_e32 v2, s7",
        lambda x: np.full_like(x, 3),
    ),
    "overflow": (
        "s_brev_b32 s6, 1; s_add_i32 s7, s6, -1; s_cselect_b32 s8, 3, 4; v_mov_b32_e32 v2, s8",
        lambda x: np.full_like(x, 3),
    ),
    "number of 64 bits in 32": (
        "s_mov_b64 s[6:7], 0xffffffff; v_add_u32_e32 v2, s7, v1",
        lambda x: x,
    ),
    "double as a number of 64 bits": (
        "v_mov_b32_e32 v4, v3; v_mov_b32_e32 v5, v1; v_cmp_gt_u64_e32 vcc, 2.0, v[4:5]; "
        "v_cndmask_b32_e64 v2, 7, 9, vcc",
        lambda x: np.where(x < 1 << 30, 9, 7),
    ),
    "bits that are set": (
        "s_mov_b32 s6, 0; s_bitset1_b32 s6, 5; s_bitset1_b32 s6, 9; s_bitset0_b32 s6, 5; "
        "v_xor_b32_e32 v2, s6, v1",
        lambda x: x ^ 512,
    ),
    "sign of a byte": (
        "s_movk_i32 s6, 0xf0; s_sext_i32_i8 s6, s6; v_add_u32_e32 v2, s6, v1",
        lambda x: x - 16,
    ),
    "search in 64 bits": (
        "s_mov_b32 s6, 0; s_mov_b32 s7, 0x50; s_ff1_i32_b64 s8, s[6:7]; "
        "s_flbit_i32_b64 s9, s[6:7]; s_lshl_b32 s8, s8, 8; s_add_i32 s8, s8, s9; "
        "v_mov_b32_e32 v2, s8",
        lambda x: np.full_like(x, 36 * 256 + 25),
    ),
    "halves in one": (
        "s_mov_b32 s6, 0x12345678; s_mov_b32 s7, 0x9abcdef0; s_pack_lh_b32_b16 s8, s6, s7; "
        "v_xor_b32_e32 v2, s8, v1",
        lambda x: x ^ np.uint32(0x9ABC5678),
    ),
    "bits of a pair": (
        "v_alignbit_b32 v2, v3, v1, 12",
        lambda x: (x.astype(WIDE) | LANE.astype(WIDE) << WIDE(32)) >> WIDE(12),
    ),
    "bytes of a pair": (
        "v_alignbyte_b32 v2, v3, v1, 3",
        lambda x: (x.astype(WIDE) | LANE.astype(WIDE) << WIDE(32)) >> WIDE(24),
    ),
    "median": (
        "v_med3_i32 v2, v1, -5, 1000",
        lambda x: np.clip(x.view(np.int32), -5, 1000).view(np.uint32),
    ),
    "distance": (
        "v_sad_u32 v2, v1, v3, v3",
        lambda x: np.abs(x.astype(np.int64) - LANE.astype(np.int64)) + LANE,
    ),
    "upper half of a product of 24 bits": (
        "v_mul_hi_i32_i24_e32 v2, v1, v1",
        lambda x: signed_24(x) * signed_24(x) >> 32,
    ),
    "clamped difference": (
        "v_sub_u32_e64 v2, v1, 0x7fffffff clamp",
        lambda x: np.where(x < 0x7FFFFFFF, 0, x - np.uint32(0x7FFFFFFF)),
    ),
    "clamped sum": (
        "v_add_u32_e64 v2, v1, v1 clamp",
        lambda x: np.minimum(x.astype(WIDE) * WIDE(2), 0xFFFFFFFF),
    ),
    "half of a result": (
        "v_or_b32_sdwa v2, v1, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_3 "
        "src1_sel:DWORD",
        lambda x: ((x >> np.uint32(24)) | LANE) << np.uint32(16),
    ),
    "byte with its sign": (
        "v_add_u32_sdwa v2, sext(v1), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
        "src1_sel:DWORD",
        lambda x: ((x << np.uint32(16)).view(np.int32) >> 24) + LANE,
    ),
    "pairs of 16 bits": (
        "v_pk_add_u16 v2, v1, v3",
        lambda x: halves_joined(x + LANE, (x >> np.uint32(16)) + (LANE >> np.uint32(16))),
    ),
    "chosen halves": (
        "v_pk_mul_lo_u16 v2, v1, v3 op_sel:[1,0] op_sel_hi:[0,0]",
        lambda x: halves_joined((x >> np.uint32(16)) * LANE, x * LANE),
    ),
    "byte as a number": (
        "v_cvt_f32_ubyte2_e32 v2, v1",
        lambda x: (x >> np.uint32(16) & np.uint32(255)).astype(np.float32).view(np.uint32),
    ),
    "lane of a register": (
        "v_mov_b32_e32 v2, v1; v_writelane_b32 v2, 77, 9",
        lambda x: np.where(LANE == 9, 77, x),
    ),
    "atomics of 64 bits": (
        "v_lshlrev_b32_e32 v4, 3, v3; v_mov_b32_e32 v5, 0; ds_write_b64 v4, v[0:1]; "
        "v_mov_b32_e32 v6, 0; v_mov_b32_e32 v7, 3; s_waitcnt lgkmcnt(0); "
        "ds_add_rtn_u64 v[8:9], v4, v[6:7]; s_waitcnt lgkmcnt(0); ds_read_b64 v[10:11], v4; "
        "s_waitcnt lgkmcnt(0); v_sub_u32_e32 v9, v11, v9; v_add_u32_e32 v2, v9, v1",
        lambda x: x + 3,
    ),
    "exchange and wrap": (
        "v_lshlrev_b32_e32 v4, 3, v3; ds_write_b32 v4, v1; ds_inc_rtn_u32 v5, v4, v3; "
        "ds_wrxchg_rtn_b32 v2, v4, v3; s_waitcnt lgkmcnt(0)",
        lambda x: np.where(x >= LANE, 0, x + 1),
    ),
    "half of a loaded byte": (
        "v_lshlrev_b32_e32 v4, 3, v3; ds_write_b32 v4, v1; v_mov_b32_e32 v2, v3; "
        "ds_read_u8_d16_hi v2, v4 offset:3; s_waitcnt lgkmcnt(0)",
        lambda x: LANE | (x >> np.uint32(24)) << np.uint32(16),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_numpy(name: str, tmp_path: Path) -> None:
    body, meaning = CASES[name]
    expected = np.asarray(meaning(X)).astype(np.int64).astype(np.uint32)
    assert np.array_equal(executed(tmp_path, body, X), expected)
