"""Our definitions of OpenCL C's functions, for PTX and AMD's code, beside the reader of LLVM IR."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.inputs.cuda.nvrtc_library import find_libdevice

Array = npt.NDArray[Any]
FOLDER = Path(__file__).parent
ITEMS = 64
AMD = {"gfx803": 64, "gfx90a": 64, "gfx1100": 32}
PTX = "sm_75"
needs_libdevice = pytest.mark.skipif(find_libdevice() is None, reason="no libdevice")
FORMS = [*AMD, pytest.param(PTX, marks=needs_libdevice)]


def numbers(count: int) -> Array:
    """Numbers around zero, with both zeros."""
    found = np.random.default_rng(count).normal(0, 2, count).astype(np.float32)
    found[:4] = 0, -0.0, 1, -2.5
    return found


def words(count: int) -> Array:
    found = np.random.default_rng(count).integers(-(2**31), 2**31, count).astype(np.int32)
    found[:6] = 0, -1, 1, -(2**31), 2**31 - 1, 5
    return found


def arguments(kernel: str) -> list[Any]:
    """What a kernel is given; results are compared of all arrays."""
    count = 64 * ITEMS
    longs = words(count).astype(np.int64) * words(count)[::-1]
    bytes_ = words(count).view(np.int8)
    made: dict[str, list[Any]] = {
        "conversions": [
            *(numbers(4 * ITEMS), words(4 * ITEMS), np.zeros(8 * ITEMS, np.uint8)),
            *(np.zeros(8 * ITEMS, np.int16), np.zeros(12 * ITEMS, np.int32)),
            np.zeros(4 * ITEMS, np.uint64),
        ],
        "integers": [words(count), words(count).view(np.uint32), longs, bytes_],
        "relations": [
            *(numbers(count), np.zeros(12 * ITEMS, np.int32), np.zeros(4 * ITEMS, np.float32)),
        ],
        "mathematics": [numbers(count) + np.float32(0.01), np.zeros(48 * ITEMS, np.float32)],
        "doubles": [numbers(count).astype(np.float64) + 0.01, np.zeros(32 * ITEMS)],
        "halves": [
            *(numbers(count).astype(np.float16), numbers(count).astype(np.float16)),
            np.zeros(4 * ITEMS, np.float32),
        ],
        "lanes": [
            *(words(count), np.zeros(8 * ITEMS, np.int32), np.zeros(ITEMS, np.float32)),
            np.zeros(ITEMS, np.int64),
        ],
        "copies": [numbers(4 * ITEMS), kc.LocalBytes(16 * 64), numbers(4)],
    }
    return made[kernel]


@cache
def module(path: Path, form: str = "") -> Any:
    standard = "CL2.0" if path.stem == "test_lanes" else "CL1.2"
    return kc.load(path, arch=form if form == PTX else "", options=[f"-cl-std={standard}"])


@cache
def run(path: Path, kernel: str, form: str, width: int = 32) -> list[Array]:
    """Arrays after a run as LLVM IR (form ""), as PTX, or as code of one of AMD's GPUs."""
    given = arguments(kernel)
    loaded = module(path, form)
    runnable = loaded[kernel]
    if form in AMD:
        assert isinstance(loaded.native, GeneratedCode)
        runnable = RunnableKernel(loaded.native.amd_kernel(kernel, form))
    width = AMD.get(form, width)
    runnable.run(global_size=ITEMS, local_size=ITEMS, args=given, warp_width=width)
    return [array for array in given if isinstance(array, np.ndarray)]


@pytest.mark.drawn(8)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", ["conversions", "integers", "relations", "halves", "copies"])
def test_exact_functions_agree(kernel: str, form: str) -> None:
    path = FOLDER / "test_functions.cl"
    for mine, other in zip(run(path, kernel, form), run(path, kernel, ""), strict=True):
        if kernel == "halves":  # functions of halves are rounded from those of floats
            np.testing.assert_allclose(mine, other, rtol=2e-3, atol=1e-6)
        else:
            assert np.array_equal(mine, other)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("form", AMD)
def test_sub_groups_are_wavefronts(form: str) -> None:
    path = FOLDER / "test_lanes.cl"
    for mine, other in zip(
        run(path, "lanes", form), run(path, "lanes", "", AMD[form]), strict=True
    ):
        assert np.array_equal(mine, other)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kernel", "within"), [("mathematics", 2e-5), ("doubles", 1e-13)])
def test_mathematics_agrees(kernel: str, within: float, form: str) -> None:
    path = FOLDER / "test_functions.cl"
    for mine, other in zip(run(path, kernel, form), run(path, kernel, ""), strict=True):
        np.testing.assert_allclose(mine, other, rtol=within, atol=within / 10)


def test_conversions_are_those_of_numpy() -> None:
    """The one that all forms are compared with."""
    given, whole, bytes_, shorts, ints, naturals = run(
        FOLDER / "test_functions.cl", "conversions", ""
    )
    rows = given.reshape(-1, 4)
    assert np.array_equal(
        bytes_.reshape(-1, 8)[:, :4], np.clip(np.trunc(rows * np.float32(20)), 0, 255)
    )
    assert np.array_equal(bytes_.reshape(-1, 8)[:, 4:], np.clip(whole.reshape(-1, 4), 0, 255))
    nearest = np.clip(np.rint(rows * np.float32(9000)), -(2**15), 2**15 - 1)
    assert np.array_equal(shorts.reshape(-1, 8)[:, :4], nearest)
    below = np.clip(np.floor(rows.astype(np.float64) * 1e9), -(2**31), 2**31 - 1)
    assert np.array_equal(ints.reshape(-1, 12)[:, :4], np.ceil(rows))
    assert np.array_equal(ints.reshape(-1, 12)[:, 4:8], below)
    shifted = [
        max(0, (x << 33) % 2**64 - (2**64 if (x << 33) % 2**64 >> 63 else 0))
        for x in whole.tolist()
    ]
    assert naturals.tolist() == shifted


@pytest.mark.drawn(1)
@pytest.mark.parametrize("form", AMD)
def test_many_functions_of_one_kernel_agree(form: str) -> None:
    """The kernels that PTX is tested by."""
    found = []
    for chosen in (form, ""):
        loaded = module(FOLDER / "test_ptx_values.cl")
        x = np.linspace(-3, 3, 40).astype(np.float32)
        values: list[Any] = [np.zeros((32, 64), np.float32), np.zeros((32, 48), np.int32)]
        values.append(np.zeros((32, 8)))
        counted: list[Any] = [np.zeros(16, np.int32), np.full(4, 100, np.uint32)]
        counted += [kc.LocalBytes(8), np.zeros(1, np.int64)]
        for name, given, size in (("values", [x, *values], 32), ("atomics", counted, 64)):
            kernel = loaded[name]
            if chosen:
                kernel = RunnableKernel(loaded.native.amd_kernel(name, chosen))
            width = AMD.get(chosen, 32)
            kernel.run(global_size=size, local_size=size // 2, args=given, warp_width=width)
        found.append([*values, *counted[:2], counted[3]])
    for mine, other in zip(*found, strict=True):
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, rtol=2e-5, atol=1e-6)
        else:
            assert np.array_equal(mine, other)
