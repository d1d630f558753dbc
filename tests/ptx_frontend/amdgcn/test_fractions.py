"""Mantissas, exponents and classes of numbers in AMD's code, against C's frexp and chosen bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ptx_frontend.amdgcn.assembly import LANES
from tests.ptx_frontend.amdgcn.test_instructions import FLOATS, X, executed

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, np.inf, -np.inf, 1e-45, -1e-40, 1.5e-38, 3e38, 8.0, -0.1],
    np.float32,
)
FRACTIONAL = np.concatenate([SPECIAL, FLOATS[len(SPECIAL) :] * np.float32(1e20)])


@pytest.mark.parametrize("is_double", [False, True], ids=["f32", "f64"])
def test_mantissas_and_exponents_are_those_of_c(tmp_path: Path, is_double: bool) -> None:
    """C's frexp, by NumPy, but for infinities, whose exponent C leaves open: here it is 0.

    Doubles are made of the singles, and squared, so that they need their own exponents.
    """
    kind = "f64" if is_double else "f32"
    squared = "v_cvt_f64_f32_e32 v[6:7], v1; v_mul_f64 v[6:7], v[6:7], v[6:7]; "
    before = squared if is_double else "v_mov_b32_e32 v6, v1; "
    source = "v[6:7]" if is_double else "v6"
    after = "v_mov_b32_e32 v2, v5" if is_double else "v_mov_b32_e32 v2, v4"
    target = "v[4:5]" if is_double else "v4"
    values = FRACTIONAL.astype(np.float64) ** 2 if is_double else FRACTIONAL
    mantissas, exponents = np.frexp(values)
    exponents[~np.isfinite(values)] = 0
    found = executed(
        tmp_path, f"{before}v_frexp_mant_{kind}_e32 {target}, {source}; {after}", FRACTIONAL
    )
    words = mantissas.view(np.uint32)
    assert np.array_equal(found, words[1::2] if is_double else words)
    found = executed(tmp_path, f"{before}v_frexp_exp_i32_{kind}_e32 v2, {source}", FRACTIONAL)
    assert np.array_equal(found.view(np.int32), exponents)


def test_the_smallest_double_has_an_exponent(tmp_path: Path) -> None:
    body = "v_mov_b32_e32 v6, 1; v_mov_b32_e32 v7, 0; v_frexp_exp_i32_f64_e32 v2, v[6:7]"
    assert set(executed(tmp_path, body, X).view(np.int32)) == {np.frexp(5e-324)[1]}


OF_CLASSES = np.array(
    [
        *(0x7F800001, 0x7FC00000, 0xFF800000, 0xBF800000, 0x80000001),
        *(0x80000000, 0x00000000, 0x00000001, 0x3F800000, 0x7F800000),
    ],
    np.uint32,
)
"""A single of each class in the order of the mask's bits, from signalling NaN to infinity."""


@pytest.mark.parametrize("bit", range(10))
def test_classes_of_numbers(tmp_path: Path, bit: int) -> None:
    x = np.resize(OF_CLASSES, LANES)
    of_mask = f"v_mov_b32_e32 v4, {1 << bit}; "
    chosen = "v_cndmask_b32_e64 v2, 0, 1, vcc"
    found = executed(tmp_path, f"{of_mask}v_cmp_class_f32_e32 vcc, v1, v4; {chosen}", x)
    assert found.tolist() == [int(number % 10 == bit) for number in range(LANES)]
    if bit:  # a conversion makes quiet ones of signalling NaNs, and subnormal numbers normal
        wide = "v_cvt_f64_f32_e32 v[6:7], v1; v_cmp_class_f64_e32 vcc, v[6:7], v4; "
        found = executed(tmp_path, f"{of_mask}{wide}{chosen}", x)
        moved = {0: 1, 4: 3, 7: 8}
        classes = [moved.get(number % 10, number % 10) for number in range(LANES)]
        assert found.tolist() == [int(number == bit) for number in classes]
