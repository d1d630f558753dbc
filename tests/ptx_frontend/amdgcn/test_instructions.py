"""Instructions of AMD's code, each in a kernel of its own, against NumPy on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.execution.runnable import RunnableKernel
from tests.ptx_frontend.amdgcn.assembly import LANES, NARROW, lowered, lowered_for_rdna

Words = npt.NDArray[np.uint32]
X = np.random.default_rng(7).integers(0, 1 << 32, LANES).astype(np.uint32)
LANE = np.arange(LANES, dtype=np.uint32)
FLOATS = np.random.default_rng(8).normal(size=LANES).astype(np.float32)


def by_both_engines(kernel: RunnableKernel, lanes: int, x: npt.NDArray[Any]) -> Words:
    """What one wavefront of so many lanes leaves."""
    found = []
    for engine in ("jit", "reference"):
        out = np.zeros(lanes, np.uint32)
        kernel.run(grid=1, block=lanes, args=[out, x], engine=engine, warp_width=lanes)
        found.append(out)
    assert np.array_equal(found[0], found[1])
    return found[0]


def executed(tmp_path: Path, body: str, x: npt.NDArray[Any]) -> Words:
    return by_both_engines(lowered(tmp_path, body), LANES, x)


def executed_narrow(tmp_path: Path, body: str, x: npt.NDArray[Any]) -> Words:
    """What a kernel of RDNA leaves, whose wavefronts have 32 lanes."""
    return by_both_engines(lowered_for_rdna(tmp_path, body), NARROW, x)


def bits(values: npt.NDArray[Any]) -> Words:
    return values.astype(np.float32).view(np.uint32)


def wide(x: Words) -> npt.NDArray[np.uint64]:
    return x.astype(np.uint64)


def byte(x: Words, number: int) -> Words:
    return x >> np.uint32(8 * number) & np.uint32(0xFF)


def reversed_bits(value: np.uint32) -> int:
    return int(f"{int(value):032b}"[::-1], 2)


def leading_zeros(value: int) -> int:
    return 32 - value.bit_length() if value else 0xFFFFFFFF


def trailing_zeros(value: int) -> int:
    kept = value & 0xFFFFFFFF
    return (kept & -kept).bit_length() - 1 if kept else 0xFFFFFFFF


CASES: dict[str, tuple[str, Callable[[Words], Any]]] = {
    "shift by more than 31": ("v_lshlrev_b32_e32 v2, 35, v1", lambda x: x << 3),
    "arithmetic shift": (
        "v_ashrrev_i32_e32 v2, 5, v1",
        lambda x: (x.view(np.int32) >> 5).view(np.uint32),
    ),
    "bit field": ("v_bfe_u32 v2, v1, 7, 9", lambda x: x >> 7 & 0x1FF),
    "insertion": (
        "v_bfi_b32 v2, 0xff00ff, v1, v3",
        lambda x: x & 0xFF00FF | LANE & np.uint32(0xFF00FF00),
    ),
    "permutation of bytes": (
        "s_mov_b32 s6, 0x0c040703; v_perm_b32 v2, v1, v3, s6",
        lambda x: byte(LANE, 3) | byte(x, 3) << 8 | byte(x, 0) << 16,
    ),
    "part of a register": (
        "v_mov_b32_e32 v4, 2; v_lshlrev_b32_sdwa v2, v4, v1 dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:DWORD src1_sel:BYTE_2",
        lambda x: byte(x, 2) << 2,
    ),
    "sum with carry": (
        "v_add_co_u32_e32 v4, vcc, v1, v1; v_addc_co_u32_e32 v2, vcc, 0, v3, vcc",
        lambda x: LANE + (x >> 31),
    ),
    "difference with borrow": (
        "v_sub_co_u32_e32 v4, vcc, v3, v1; v_subbrev_co_u32_e32 v2, vcc, 0, v3, vcc",
        lambda x: LANE - (x > LANE),
    ),
    "product of 64 bits": (
        "v_mov_b32_e32 v4, 5; v_mov_b32_e32 v5, 1; v_mad_u64_u32 v[6:7], s[6:7], v1, v1, v[4:5]; "
        "v_mov_b32_e32 v2, v7",
        lambda x: (wide(x) * wide(x) + np.uint64(5 + (1 << 32)) >> np.uint64(32)).astype(np.uint32),
    ),
    "product of 24 bits": (
        "v_mul_u32_u24_e32 v2, v1, v1",
        lambda x: ((wide(x) & 0xFFFFFF) ** 2).astype(np.uint32),
    ),
    "choice": (
        "v_cmp_gt_i32_e32 vcc, 0, v1; v_cndmask_b32_e32 v2, v3, v1, vcc",
        lambda x: np.where(x.view(np.int32) < 0, x, LANE),
    ),
    "lanes that do not take part": (
        "v_cmp_gt_u32_e32 vcc, 20, v3; s_and_saveexec_b64 s[6:7], vcc; v_mov_b32_e32 v2, v1; "
        "s_xor_b64 exec, exec, s[6:7]; v_mov_b32_e32 v2, 7; s_or_b64 exec, exec, s[6:7]",
        lambda x: np.where(LANE < 20, x, 7),
    ),
    "mask as a number": (
        "v_cmp_lt_u32_e64 s[6:7], v3, 40; s_bcnt1_i32_b64 s8, s[6:7]; v_mov_b32_e32 v2, s8",
        lambda x: np.full(LANES, 40),
    ),
    "number as a mask": (
        "s_mov_b32 s6, 0x0f0f; s_mov_b32 s7, 1; v_cndmask_b32_e64 v2, v3, v1, s[6:7]",
        lambda x: np.where(0x1_0000_0F0F >> LANE.astype(np.int64) & 1, x, LANE),
    ),
    "reversed bits": ("v_bfrev_b32_e32 v2, v1", lambda x: np.array([reversed_bits(v) for v in x])),
    "first one from the top": (
        "v_lshrrev_b32_e32 v4, v3, v1; v_ffbh_u32_e32 v2, v4",
        lambda x: np.array([leading_zeros(int(v) >> (n % 32)) for n, v in enumerate(x)]),
    ),
    "first one from below": (
        "v_lshlrev_b32_e32 v4, v3, v1; v_ffbl_b32_e32 v2, v4",
        lambda x: np.array([trailing_zeros(int(v) << (n % 32)) for n, v in enumerate(x)]),
    ),
    "least of three": (
        "v_mov_b32_e32 v4, 7; v_min3_i32 v2, v1, v3, v4",
        lambda x: np.minimum(np.minimum(x.view(np.int32), LANE), 7).astype(np.uint32),
    ),
    "first lane of those that take part": (
        "v_cmp_lt_u32_e32 vcc, 40, v3; s_and_saveexec_b64 s[6:7], vcc; "
        "v_readfirstlane_b32 s8, v1; s_or_b64 exec, exec, s[6:7]; v_mov_b32_e32 v2, s8",
        lambda x: np.full(LANES, x[41]),
    ),
    "lane by number": (
        "v_readlane_b32 s8, v1, 9; v_mov_b32_e32 v2, s8",
        lambda x: np.full(64, x[9]),
    ),
    "value of another lane": (
        "v_xor_b32_e32 v4, 33, v3; v_lshlrev_b32_e32 v4, 2, v4; ds_bpermute_b32 v2, v4, v1",
        lambda x: x[LANE ^ 33],
    ),
    "local memory in pairs": (
        "v_lshlrev_b32_e32 v4, 3, v3; v_mov_b32_e32 v5, v1; v_mov_b32_e32 v6, v3; "
        "ds_write2_b32 v4, v5, v6 offset1:1; s_barrier; ds_read2_b32 v[6:7], v4 offset0:1; "
        "v_xor_b32_e32 v2, v6, v7",
        lambda x: x ^ LANE,
    ),
    "atomics of local memory": (
        "v_mov_b32_e32 v4, 0; v_mov_b32_e32 v5, 0; ds_write_b32 v4, v5; s_barrier; "
        "ds_add_u32 v4, v3; s_barrier; ds_read_b32 v2, v4",
        lambda x: np.full(LANES, 2016),
    ),
    "memory of the work-item": (
        "buffer_store_dword v1, off, s[0:3], 0 offset:8; v_mov_b32_e32 v4, 8; "
        "buffer_load_dword v2, v4, s[0:3], 0 offen",
        lambda x: x,
    ),
    "loop by the scalar condition": (
        "s_mov_b32 s6, 0;.LBB0_1:; v_add_u32_e32 v2, v2, v1; s_add_i32 s6, s6, 1; "
        "s_cmp_lt_u32 s6, 5; s_cbranch_scc1 .LBB0_1",
        lambda x: x * 5,
    ),
    "branch where no lane is left": (
        "v_cmp_gt_u32_e32 vcc, 0, v3; s_and_saveexec_b64 s[6:7], vcc; s_cbranch_execz .LBB0_2; "
        "s_mov_b32 s9, 1;.LBB0_2:; s_or_b64 exec, exec, s[6:7]; v_mov_b32_e32 v2, 3",
        lambda x: np.full(LANES, 3),
    ),
    "scalars shifted and added": (
        "s_mov_b32 s6, 0x40000001; s_lshl2_add_u32 s6, s6, 3; s_addc_u32 s6, s6, 0; "
        "v_mov_b32_e32 v2, s6",
        lambda x: np.full(LANES, 8),
    ),
    "scalar product with a constant": (
        "s_mov_b32 s6, 7; s_mulk_i32 s6, 0x64; v_mov_b32_e32 v2, s6",
        lambda x: np.full(LANES, 700),
    ),
    "field of 64 bits": (
        "s_mov_b32 s6, 0x10; s_mov_b32 s7, 0x5; s_bfe_i64 s[6:7], s[6:7], 0x230000; "
        "v_mov_b32_e32 v2, s7",
        lambda x: np.full(LANES, 0xFFFFFFFD),
    ),
    "signed product of 24 bits": (
        "v_mov_b32_e32 v4, 0xfffffffb; v_mad_i32_i24 v2, v3, v4, 2",
        lambda x: 2 - 5 * LANE.astype(np.int64) & 0xFFFFFFFF,
    ),
    "negated bits": ("v_not_b32_e32 v2, v1", lambda x: ~x),
    "comparison of 64 bits": (
        "v_mov_b32_e32 v4, v1; v_mov_b32_e32 v5, 0; v_mov_b32_e32 v6, 0; v_mov_b32_e32 v7, v3; "
        "v_cmp_gt_u64_e32 vcc, v[6:7], v[4:5]; v_cndmask_b32_e32 v2, v3, v1, vcc",
        lambda x: np.where(LANE > 0, x, LANE),
    ),
    "exchange where it compares": (
        "v_mov_b32_e32 v4, v3; v_mov_b32_e32 v5, v1; "
        "global_atomic_cmpswap v0, v[4:5], s[2:3]; s_waitcnt vmcnt(0); "
        "global_load_dword v2, v0, s[2:3]",
        lambda x: LANE,
    ),
    "carry of scalars": (
        "s_mov_b32 s6, -1; s_mov_b32 s7, 4; s_add_u32 s6, s6, 2; s_addc_u32 s7, s7, 0; "
        "v_mov_b32_e32 v2, s7",
        lambda x: np.full(LANES, 5),
    ),
    "pair of scalars shifted": (
        "s_mov_b32 s6, 0x80000001; s_mov_b32 s7, 1; s_lshl_b64 s[6:7], s[6:7], 1; "
        "v_mov_b32_e32 v2, s7",
        lambda x: np.full(LANES, 3),
    ),
}


def half_of(x: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return x.astype(np.float16).astype(np.float64)


NUMBERS: dict[str, tuple[str, Callable[[npt.NDArray[np.float32]], Any]]] = {
    "signs of operands": ("v_mul_f32_e64 v2, -v1, |v1|", lambda x: -x * np.abs(x)),
    "constant added": (
        "v_fmaak_f32 v2, v1, v1, 0x40200000",
        lambda x: x.astype(np.float64) ** 2 + 2.5,
    ),
    "constant multiplied": (
        "v_fmamk_f32 v2, v1, 0x40200000, v1",
        lambda x: x.astype(np.float64) * 2.5 + x,
    ),
    "sum of doubles": (
        "v_cvt_f64_f32_e32 v[4:5], v1; v_mul_f64 v[6:7], v[4:5], -v[4:5]; "
        "v_add_f64 v[6:7], v[6:7], 1.0; v_cvt_f32_f64_e32 v2, v[6:7]",
        lambda x: 1 - x.astype(np.float64) ** 2,
    ),
    "quotient of doubles": (
        "v_cvt_f64_f32_e32 v[4:5], v1; v_mov_b32_e32 v6, 0; v_mov_b32_e32 v7, 0x40080000; "
        "v_div_scale_f64 v[8:9], vcc, v[4:5], v[4:5], v[6:7]; "
        "v_div_fixup_f64 v[8:9], v[8:9], v[4:5], v[6:7]; v_cvt_f32_f64_e32 v2, v[8:9]",
        lambda x: 3.0 / x.astype(np.float64),
    ),
    "scaled double": (
        "v_cvt_f64_f32_e32 v[4:5], v1; v_ldexp_f64 v[4:5], v[4:5], 3; v_cvt_f32_f64_e32 v2, v[4:5]",
        lambda x: x * 8,
    ),
    "halves mixed with singles": (
        "v_cvt_f16_f32_e32 v4, v1; v_lshlrev_b32_e32 v4, 16, v4; "
        "v_fma_mixlo_f16 v4, v1, v4, v1 op_sel:[0,1,0] op_sel_hi:[0,1,0]; "
        "v_fma_mix_f32 v2, v4, 1.0, v4 op_sel:[0,0,1] op_sel_hi:[1,0,1]",
        lambda x: half_of((x * half_of(x) + x).astype(np.float32)) + half_of(x),
    ),
    "halves": (
        "v_cvt_f16_f32_e32 v4, v1; v_fma_f16 v4, v4, v4, v4; v_cvt_f32_f16_e32 v2, v4",
        lambda x: half_of(half_of(x) * half_of(x) + half_of(x)),
    ),
    "fused": (
        "v_mov_b32_e32 v2, 1.0; v_fmac_f32_e32 v2, v1, v1",
        lambda x: x.astype(np.float64) ** 2 + 1,
    ),
    "two at once": (
        "v_mov_b32_e32 v4, v1; v_mov_b32_e32 v5, 2.0; v_mov_b32_e32 v6, 4.0; v_mov_b32_e32 v7, v1; "
        "v_pk_mul_f32 v[8:9], v[4:5], v[6:7] op_sel:[0,0] op_sel_hi:[1,1]; "
        "v_add_f32_e32 v2, v8, v9",
        lambda x: 4 * x + 2 * x,
    ),
    "quotient": (
        "v_div_scale_f32 v4, s[6:7], v1, v1, 1.0; v_div_fixup_f32 v2, v4, v1, 1.0",
        lambda x: 1 / x,
    ),
    "clamped": ("v_max_f32_e64 v2, v1, v1 clamp", lambda x: np.clip(x, 0, 1)),
    "clamped sum that stays": (
        "v_mov_b32_e32 v2, 0.5; v_fmac_f32_e64 v2, v1, v1 clamp",
        lambda x: np.clip(x.astype(np.float64) ** 2 + 0.5, 0, 1),
    ),
    "clamped quotient": (
        "v_div_fixup_f32 v2, v4, 2.0, v1 clamp",
        lambda x: np.clip(x / 2, 0, 1),
    ),
    "largest of three": ("v_max3_f32 v2, v1, -v1, 0.5", lambda x: np.maximum(np.abs(x), 0.5)),
    "not less, or not a number": (
        "v_cmp_nlt_f32_e32 vcc, 0, v1; v_cndmask_b32_e64 v2, 0, 1.0, vcc",
        lambda x: (x <= 0).astype(np.float32),
    ),
    "integer and back": (
        "v_cvt_i32_f32_e32 v4, v1; v_cvt_f32_i32_e32 v2, v4",
        np.trunc,
    ),
    "half": (
        "v_ldexp_f32 v2, v1, -1; v_rndne_f32_e32 v4, v2; v_sub_f32_e32 v2, v2, v4",
        lambda x: x / 2 - np.rint(x / 2),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_instructions(tmp_path: Path, name: str) -> None:
    body, wanted = CASES[name]
    assert np.array_equal(executed(tmp_path, body, X), np.asarray(wanted(X)).astype(np.uint32))


@pytest.mark.parametrize("name", NUMBERS)
def test_instructions_of_single_precision(tmp_path: Path, name: str) -> None:
    body, wanted = NUMBERS[name]
    assert np.array_equal(executed(tmp_path, body, FLOATS), bits(wanted(FLOATS) + 0.0))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("v_cvt_pk_fp8_f32 v2, v1, v1", "instruction 'v_cvt_pk_fp8_f32' .*: it is not executed"),
        ("v_max_f32_e64 v2, v1, v1 mul:2", "'v_max_f32_e64' of AMD's code: output modifiers"),
        ("v_dot4_i32_i8 v2, v1, v1, v1 clamp", "'v_dot4_i32_i8' of AMD's code: output modifiers"),
        ("buffer_load_dword v2, off, s[8:11], 0", "a buffer that is not the memory of the work-i"),
        ("v_add_u32_e32 v2, src_lds_direct, v1", "operand 'src_lds_direct'"),
    ],
)
def test_what_is_not_executed_is_refused_by_name(tmp_path: Path, body: str, why: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=why):
        lowered(tmp_path, body)
