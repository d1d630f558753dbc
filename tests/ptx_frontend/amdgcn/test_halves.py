"""Instructions of half precision, and the extrema of three numbers, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.ptx_frontend.amdgcn.assembly import NARROW
from tests.ptx_frontend.amdgcn.test_instructions import (
    FLOATS,
    LANE,
    X,
    executed,
    executed_narrow,
    half_of,
)

Half = npt.NDArray[np.float16]
TO_HALF = "v_cvt_f16_f32_e32 v4, v1; "
FROM_HALF = "; v_cvt_f32_f16_e32 v2, v2"
OF_HALVES: dict[str, tuple[str, Callable[[Half], Any]]] = {
    "magnitudes and signs": ("v_add_f16_e64 v2, -v4, |v4|", lambda h: np.abs(h) - h),
    "constants": ("v_mul_f16_e32 v2, 0.5, v4", lambda h: h * np.float16(0.5)),
    "difference the other way": ("v_subrev_f16_e32 v2, v4, v4", lambda h: h - h),
    "root": (
        "v_sqrt_f16_e64 v2, |v4|",
        lambda h: np.sqrt(np.abs(h).astype(np.float64)).astype(np.float16),
    ),
    "reciprocal": ("v_rcp_f16_e32 v2, v4", lambda h: (1 / h.astype(np.float64)).astype(np.float16)),
    "next lower integer": ("v_floor_f16_e32 v2, v4", np.floor),
    "power of two": (
        "v_mov_b32_e32 v5, -3; v_ldexp_f16_e32 v2, v4, v5",
        lambda h: h * np.float16(0.125),
    ),
    "integer and back": ("v_cvt_i16_f16_e32 v5, v4; v_cvt_f16_i16_e32 v2, v5", np.trunc),
    "middle one": (
        "v_med3_f16 v2, v4, 0.5, -0.5",
        lambda h: np.clip(h, np.float16(-0.5), np.float16(0.5)),
    ),
    "least": ("v_min3_f16 v2, v4, -v4, 0.5", lambda h: np.minimum(-np.abs(h), np.float16(0.5))),
    "added up": (
        "v_mov_b32_e32 v2, v4; v_fmac_f16_e32 v2, v4, v4",
        lambda h: (h.astype(np.float64) ** 2 + h).astype(np.float16),
    ),
    "comparison": (
        "v_cmp_lt_f16_e64 vcc, |v4|, 1.0; v_cndmask_b32_e32 v2, 0, v4, vcc",
        lambda h: np.where(np.abs(h) < 1, h, 0),
    ),
}


@pytest.mark.parametrize("name", OF_HALVES)
def test_halves(tmp_path: Path, name: str) -> None:
    body, wanted = OF_HALVES[name]
    found = executed(tmp_path, f"{TO_HALF}{body}{FROM_HALF}", FLOATS)
    expected = np.asarray(wanted(half_of(FLOATS).astype(np.float16)))
    assert np.array_equal(found.view(np.float32), expected.astype(np.float32))


def test_halves_stop_at_what_integers_hold(tmp_path: Path) -> None:
    x = np.resize(np.array([4e4, -4e4, 7e4, np.nan], np.float32), FLOATS.size)
    body = f"{TO_HALF}v_cvt_i16_f16_e32 v5, v4; v_bfe_i32 v2, v5, 0, 16"
    expected = np.resize([0x7FFF, -0x8000, 0x7FFF, 0], x.size)
    assert np.array_equal(executed(tmp_path, body, x).view(np.int32), expected)


def signed(x: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    return x.view(np.int32).astype(np.int64)


OF_WORDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "v_maxmin_i32": ("v_maxmin_i32 v2, v1, -9, s6", lambda x: np.clip(signed(x), -9, 1000)),
    "v_minmax_u32": ("v_minmax_u32 v2, v1, s6, 5", lambda x: np.maximum(np.minimum(x, 1000), 5)),
    "v_med3_u32": ("v_med3_u32 v2, s6, v1, 5", lambda x: np.clip(x, 5, 1000)),
    "v_min3_i16": (
        "v_min3_i16 v2, v1, s6, 7",
        lambda x: np.minimum((x & 0xFFFF).astype(np.uint16).view(np.int16).astype(int), 7) & 0xFFFF,
    ),
    "v_xor3_b32": ("v_xor3_b32 v2, v1, v3, s6", lambda x: x ^ LANE[:NARROW] ^ 1000),
    "v_xnor_b32": ("v_xnor_b32_e32 v2, v1, v3", lambda x: ~(x ^ LANE[:NARROW])),
    "v_bfm_b32": ("v_bfm_b32 v2, 5, v3", lambda x: 31 << LANE[:NARROW].astype(int)),
}


@pytest.mark.parametrize("name", OF_WORDS)
def test_words_of_rdna(tmp_path: Path, name: str) -> None:
    body, wanted = OF_WORDS[name]
    x = X[:NARROW] % np.uint32(3000) - np.uint32(1000)
    found = executed_narrow(tmp_path, f"s_movk_i32 s6, 0x3e8; {body}", x)
    assert np.array_equal(found, (np.asarray(wanted(x)).astype(np.int64) & 0xFFFFFFFF))


def test_the_middle_one_of_what_is_no_number(tmp_path: Path) -> None:
    """The least of the others, whichever it is."""
    x = np.resize(np.array([np.nan, 3, -3, 0], np.float32), FLOATS.size)
    for places in ("v1, v4, v5", "v4, v1, v5", "v4, v5, v1"):
        body = f"v_mov_b32_e32 v4, 2.0; v_mov_b32_e32 v5, 1.0; v_med3_f32 v2, {places}"
        expected = np.where(np.isnan(x), 1, np.clip(x, 1, 2))
        assert np.array_equal(executed(tmp_path, body, x).view(np.float32), expected)


def test_angles_in_turns_and_fractions(tmp_path: Path) -> None:
    x = FLOATS.astype(np.float64)
    for name, function in (("sin", np.sin), ("cos", np.cos)):
        found = executed(tmp_path, f"v_{name}_f32_e32 v2, v1", FLOATS).view(np.float32)
        np.testing.assert_allclose(found, function(2 * np.pi * x), rtol=0, atol=1e-6)
    found = executed(tmp_path, "v_fract_f32_e32 v2, v1", FLOATS).view(np.float32)
    assert np.array_equal(found, FLOATS - np.floor(FLOATS))
    tiny = np.full(FLOATS.size, -1e-30, np.float32)
    below_one = executed(tmp_path, "v_fract_f32_e32 v2, v1", tiny).view(np.float32)
    assert set(below_one) == {np.nextafter(np.float32(1), np.float32(0))}
    wide = "v_cvt_f64_f32_e32 v[4:5], v1; v_fract_f64_e32 v[4:5], v[4:5]; "
    found = executed(tmp_path, f"{wide}v_cvt_f32_f64_e32 v2, v[4:5]", FLOATS).view(np.float32)
    assert np.array_equal(found, (x - np.floor(x)).astype(np.float32))
