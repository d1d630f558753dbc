"""Matrix products of compiled code, bit for bit as the NumPy definition.

They are made where they take a short way and where they must not: exponents near and far, zeros of
both signs, infinities and NaNs.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

oracle: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "matrix_program.py"))
)
Array = npt.NDArray[Any]
SHAPES = [
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", (4, 4, 2, 4), "f16"),
    ("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", (4, 2, 1, 4), "bf16"),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", (4, 4, 2, 4), "bf16"),
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", (4, 4, 2, 4), "tf32"),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", (8, 8, 8, 8), "f16"),
    ("wmma.mma.sync.aligned.col.row.m32n8k16.f32.f32", (8, 8, 8, 8), "f16"),
    ("wmma.mma.sync.aligned.row.row.m8n32k16.f32.f32", (8, 8, 8, 8), "f16"),
]
TARGETS = ["sm_80", "sm_90"]
_EXPONENTS = {"near": 3.0, "far": 14.0}


def words(random: np.random.Generator, kind: str, count: int, spread: float) -> Array:
    """Registers of numbers whose exponents have a standard deviation of `spread`, zeros too."""
    elements = count * (1 if kind in ("tf32", "f32") else 2)
    values = random.standard_normal(elements) * 2.0 ** random.normal(0, spread, elements)
    values[random.random(elements) < 0.1] = 0.0
    if kind == "f16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).view(np.uint32)
    single = values.astype(np.float32).view(np.uint32)
    if kind == "bf16":
        return np.asarray(single >> 16).astype(np.uint16).view(np.uint32)
    return single


def buffers(random: np.random.Generator, counts: tuple[int, ...], kind: str, spread: float) -> Any:
    kinds = (kind, kind, "f32")
    sources = [words(random, k, 32 * n, spread) for k, n in zip(kinds, counts[1:], strict=True)]
    return [np.zeros(32 * counts[0], np.uint32), *sources]


def same_on_both(mnemonic: str, counts: tuple[int, ...], target: str, given: list[Array]) -> Array:
    source = oracle.program(mnemonic, (32,) * 4, counts, target)
    results = []
    for engine in ("reference", "jit"):
        mine = [array.copy() for array in given]
        trace = oracle.run(source, mine, engine)
        assert trace.engine == engine
        results.append(mine[0])
    np.testing.assert_array_equal(results[1], results[0])
    return results[0]


@pytest.mark.drawn(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("mnemonic", "counts", "kind"), SHAPES)
@pytest.mark.parametrize("spread", sorted(_EXPONENTS))
def test_random_numbers(
    mnemonic: str, counts: tuple[int, ...], kind: str, target: str, spread: str
) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        given = buffers(random, counts, kind, _EXPONENTS[spread])
        assert same_on_both(mnemonic, counts, target, given).any()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("code", "place"),
    [
        (0x7C00, 1),  # infinity
        (0xFE01, 2),  # a NaN
        (0x0001, 1),  # the smallest number
        (0x80000000, 3),  # a negative zero
        (0x7F800000, 3),
        (0x00000003, 3),
        (0x7F000001, 3),
        (0x01000001, 3),
    ],
)
def test_one_number_that_is_out_of_the_ordinary(target: str, code: int, place: int) -> None:
    mnemonic, counts, kind = SHAPES[0]
    given = buffers(np.random.default_rng(7), counts, kind, 2.0)
    given[place][5] = code
    same_on_both(mnemonic, counts, target, given)


@pytest.mark.parametrize("zero", [0x0000_0000, 0x8000_8000])
@pytest.mark.parametrize("accumulator", [0x0000_0000, 0x8000_0000, 0x3F80_0001, 0x0080_0000])
def test_zeros_alone_leave_the_accumulator(zero: int, accumulator: int) -> None:
    mnemonic, counts, kind = SHAPES[0]
    given = buffers(np.random.default_rng(8), counts, kind, 2.0)
    given[1][:] = zero
    given[3][:] = accumulator
    found = same_on_both(mnemonic, counts, "sm_80", given)
    assert ((found == accumulator) | (found == 0)).all()


def test_large_sums_of_sixteen_products_at_a_time() -> None:
    """Factors are the largest below a power of two, whose sums exceed 32 bits on sm_90."""
    mnemonic, counts, _ = SHAPES[0]
    given = [np.full(32 * n, 0x3FFF3FFF, np.uint32) for n in counts]
    given[3][:] = np.float32(1.9999).view(np.uint32)
    found = same_on_both(mnemonic, counts, "sm_90", given).view(np.float32)
    exact = 16 * np.float64(np.float16(1.9990234)) ** 2 + np.float64(np.float32(1.9999))
    assert np.abs(found - exact).max() < 2.0**-16
