"""Products of whole matrices by compiled code, bit for bit as the NumPy definition.

They are made where they take a short way and where they must not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.simcore.engine.jit.runtime.tile_products import multiply_compiled
from kernelcast.simcore.isa.matrix.accumulation import WIDE, accumulation_of
from kernelcast.simcore.isa.matrix.block_scales import ScaleFormat, scale_powers, scale_values
from kernelcast.simcore.isa.matrix.formats import ElementFormat as F
from kernelcast.simcore.isa.matrix.products import Factors, MatrixProduct, multiply

Array = npt.NDArray[Any]
ROWS = 32
CASES = [
    (F.F16, F.F16, F.F32, 16, 32),
    (F.BF16, F.F16, F.F32, 16, 8),
    (F.TF32, F.TF32, F.F32, 8, 16),
    (F.E4M3, F.E5M2, F.F32, 32, 16),
    (F.E2M1, F.E3M2, F.F32, 32, 16),
    (F.E2M1_PAIRS, F.E2M1_PAIRS, F.F32, 64, 16),
    (F.F16, F.F16, F.F16, 16, 16),
    (F.S8, F.U8, F.S32, 32, 16),
]


def codes(random: np.random.Generator, format_: F, shape: tuple[int, int], spread: float) -> Array:
    """Codes of numbers whose exponents have a standard deviation of `spread`, zeros too."""
    values = random.standard_normal(shape) * 2.0 ** random.normal(0, spread, shape)
    values[random.random(shape) < 0.1] = 0.0
    with np.errstate(over="ignore"):
        match format_:
            case F.F16:
                return values.astype(np.float16).view(np.uint16)
            case F.BF16:
                return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
            case F.TF32 | F.F32:
                return values.astype(np.float32).view(np.uint32)
    most = {F.E2M1_PAIRS: 16, F.S32: 1 << 32}.get(format_, 256)
    return random.integers(0, most, shape).astype(format_.code_type)


def factors(random: np.random.Generator, product: MatrixProduct, spread: int) -> Factors:
    values, powers = scale_values(ScaleFormat.UE8M0), scale_powers(ScaleFormat.UE8M0)
    a = random.integers(127 - spread, 128 + spread, (product.rows, product.depth))
    b = random.integers(127 - spread, 128 + spread, (product.depth, product.columns))
    return Factors(values[a], values[b], powers[a], powers[b])


@pytest.mark.parametrize("spread", [2.0, 12.0])
@pytest.mark.parametrize(("a", "b", "sums", "depth", "columns"), CASES)
def test_the_same_bits(a: F, b: F, sums: F, depth: int, columns: int, spread: float) -> None:
    random = np.random.default_rng(depth + columns)
    product = MatrixProduct(ROWS, columns, depth, a, b, sums, sums, accumulation_of("sm_100a", a))
    for _ in range(3):
        left, right = codes(random, a, (ROWS, depth), spread), codes(random, b, (columns, depth), 1)
        start = codes(random, sums, (ROWS, columns), spread)
        for scales in (None, factors(random, product, int(4 * spread))):
            if scales is not None and not a.is_float:
                continue
            wanted = multiply(product, left, right.T, start, scales)
            found = multiply_compiled(product, left, right.T, start, scales)
            np.testing.assert_array_equal(found, wanted)


def test_integers_and_wide_sums() -> None:
    random = np.random.default_rng(3)
    for a, sums, rule in ((F.S8, F.S32, accumulation_of("", F.S8)), (F.F16, F.F32, WIDE)):
        product = MatrixProduct(ROWS, 16, 16, a, a, sums, sums, rule)
        left, right = codes(random, a, (ROWS, 16), 5.0), codes(random, a, (16, 16), 5.0)
        start = codes(random, sums, (ROWS, 16), 5.0)
        wanted = multiply(product, left, right.T, start)
        np.testing.assert_array_equal(multiply_compiled(product, left, right.T, start), wanted)


@pytest.mark.parametrize("odd", [0x7C00, 0xFC00, 0x7E00, 0x8000, 0x0001])
def test_what_is_out_of_the_ordinary(odd: int) -> None:
    random = np.random.default_rng(odd)
    product = MatrixProduct(
        ROWS, 16, 16, F.F16, F.F16, F.F32, F.F32, accumulation_of("sm_100a", F.F16)
    )
    left, right = codes(random, F.F16, (ROWS, 16), 2.0), codes(random, F.F16, (16, 16), 2.0)
    left[3, 5] = odd
    start = codes(random, F.F32, (ROWS, 16), 2.0)
    start[7] = 0x8000_0000
    wanted = multiply(product, left, right.T, start)
    np.testing.assert_array_equal(multiply_compiled(product, left, right.T, start), wanted)
