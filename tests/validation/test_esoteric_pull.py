"""Steps in place against an ordinary lattice Boltzmann method with two arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc

LBM = Path(__file__).parents[2] / "validation" / "workloads" / "lbm"
PAIRS = [
    (1, 0, 0), (0, 1, 0), (0, 0, 1),
    (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1),
]  # fmt: skip
SHAPE = (5, 4, 64)
RATE = 1.4
Lattice = npt.NDArray[np.float64]


def moved(field: npt.NDArray[Any], direction: tuple[int, int, int]) -> npt.NDArray[Any]:
    """What lies at n afterwards was at n - direction."""
    return np.roll(field, direction[::-1], (0, 1, 2))


def weight(i: int) -> float:
    if i == 0:
        return 1 / 3
    return 1 / 18 if i < 7 else 1 / 36


def velocity(i: int) -> tuple[int, int, int]:
    if i == 0:
        return (0, 0, 0)
    x, y, z = PAIRS[(i - 1) // 2]
    return (x, y, z) if i % 2 else (-x, -y, -z)


def ordinary_step(f: Lattice, is_solid: npt.NDArray[np.bool_]) -> Lattice:
    """Collision, or in solid cells reversal, then streaming of whole populations."""
    density = f.sum(axis=0)
    flow = [sum(velocity(i)[axis] * f[i] for i in range(19)) / density for axis in range(3)]
    after = np.empty_like(f)
    for i in range(19):
        c = velocity(i)
        along = sum(c[axis] * flow[axis] for axis in range(3))
        square = sum(part**2 for part in flow)
        rest = weight(i) * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * square)
        opposite = 0 if i == 0 else i + 1 if i % 2 else i - 1
        after[i] = np.where(is_solid, f[opposite], f[i] + RATE * (rest - f[i]))
    return np.stack([moved(after[i], velocity(i)) for i in range(19)])


def places_of(f: Lattice) -> Lattice:
    """The array that an even step finds for these populations, less their weights."""
    stored = np.empty_like(f)
    stored[0] = f[0] - weight(0)
    for first in range(1, 19, 2):
        stored[first + 1] = f[first] - weight(first)
        stored[first] = moved(f[first + 1], velocity(first)) - weight(first)
    return stored


@pytest.mark.parametrize(
    ("name", "stored", "found", "tolerance"),
    [
        ("fp32", lambda x: x.astype(np.float32), lambda x: x, 3e-7),
        (
            "fp16s",
            lambda x: (x * 2**15).astype(np.float16),
            lambda x: x.astype(np.float64) / 2**15,
            3e-5,
        ),
    ],
)
def test_four_steps_in_place_are_four_ordinary_steps(
    name: str, stored: Any, found: Any, tolerance: float
) -> None:
    generator = np.random.default_rng(3)
    f = generator.uniform(0.9, 1.1, (19, *SHAPE))
    f *= np.array([weight(i) for i in range(19)])[:, None, None, None]
    is_solid = generator.uniform(size=SHAPE) < 0.1
    kernel = kc.load(LBM / "esoteric_pull.ptx")[f"step_{name}"]
    array = stored(places_of(f))
    depth, height, width = SHAPE
    for time in range(4):
        arguments = [array, is_solid.astype(np.uint8), np.float32(RATE), width, height, depth]
        kernel.run(grid=(1, height, depth), block=(64,), args=[*arguments, time % 2])
        f = ordinary_step(f, is_solid)
    assert np.abs(found(array) - places_of(f)).max() < tolerance


def test_every_code_of_the_half_format_survives() -> None:
    """A step that relaxes nothing moves populations and rewrites each code."""
    codes = np.arange(1 << 16, dtype=np.uint16)
    codes = codes[codes != 1 << 15]  # the negative zero
    depth, height, width = 8, 9, 64
    array = np.resize(codes, (19, depth, height, width))
    before = array.copy()
    kernel = kc.load(LBM / "esoteric_pull.ptx")["step_fp16c"]
    is_solid = np.zeros((depth, height, width), np.uint8)
    kernel.run(
        grid=(1, height, depth),
        block=(64,),
        args=[array, is_solid, np.float32(0), width, height, depth, 0],
    )
    assert set(before[1:].ravel()) == set(codes)
    for first in range(1, 19, 2):
        back = velocity(first + 1)
        assert (moved(array[first], back) == before[first + 1]).all()
        assert (array[first + 1] == moved(before[first], back)).all()
    assert (array[0] == before[0]).all()
