"""What users' HIP has beside plain arithmetic, as LLVM IR and as machine code, beside NumPy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.generated_code import GeneratedCode

Array = npt.NDArray[Any]
WIDTHS = {"gfx803": 64, "gfx90a": 64, "gfx950": 64, "gfx1030": 32, "gfx1100": 32, "gfx1201": 32}
RANDOM = np.random.default_rng(7)
HALVES = RANDOM.normal(0, 3, 1024).astype(np.float16)
SINGLES = RANDOM.normal(0, 3, 1024).astype(np.float32)
WORDS = RANDOM.integers(-(2**31), 2**31, 1024).astype(np.int32)
SMALL = RANDOM.integers(0, 16, 1024).astype(np.int32)
BYTES = RANDOM.integers(0, 2**32, 128).astype(np.uint32)


@pytest.fixture(scope="module")
def module() -> Any:
    return kc.load(Path(__file__).parent / "kernels" / "language.hip")


def runs(module: Any, kernel: str, architecture: str, *arguments: Any) -> Iterator[list[Any]]:
    """The arguments after each run of 64 threads, as LLVM IR and machine code, on both engines."""
    assert isinstance(module.native, GeneratedCode)
    width = WIDTHS[architecture]
    for form in (module[kernel], RunnableKernel(module.native.amd_kernel(kernel, architecture))):
        for engine in ("reference", "jit"):
            given = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
            form.run(grid=1, block=64, args=given, engine=engine, warp_width=width)
            yield given


def fused(x: Array, y: Array | np.float16, z: Array | np.float16) -> Array:
    """Exact in double precision."""
    return (x.astype(np.float64) * y + z).astype(np.float16)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_halves(module: Any, architecture: str) -> None:
    a, b, empty = HALVES[:64], HALVES[64:128], np.zeros(64, np.float16)
    for *_, found in runs(module, "half_quotient", architecture, a, b, empty):
        assert np.array_equal(found, a / b)
    wanted = fused(fused(a, a, np.float16(0.3)), np.float16(0.7), a)
    for *_, found in runs(module, "half_constants", architecture, a, empty):
        assert np.array_equal(found, wanted)
    given = a, np.zeros(64, np.int32), np.zeros(64)
    for _, whole, doubles in runs(module, "half_as_others", architecture, *given):
        assert np.array_equal(whole, np.where(a != 0, np.trunc(a), 100))
        assert np.array_equal(doubles, 2 * a.astype(np.float64))
    wide = a.astype(np.float64)
    turned = np.sin(wide) + np.floor(wide) - np.cos(wide)
    for *_, found in runs(module, "half_turns", architecture, a, empty):
        assert np.abs(found - turned).max() <= 0.01


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_halves_from_zero_to_one(module: Any, architecture: str) -> None:
    """LLVM makes of it products by a constant, and results that are clamped."""
    half = HALVES[:128] * np.float16(0.5)
    pairs = np.clip(fused(half, half, half), 0, 1)
    given = HALVES[:128], np.zeros(128, np.float16), np.zeros(64, np.float16)
    for _, found, differences in runs(module, "half_bounds", architecture, *given):
        assert np.array_equal(found, pairs)
        assert np.array_equal(differences, np.clip(half[::2] - half[1::2], 0, 1))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_conversions_from_zero_to_one(module: Any, architecture: str) -> None:
    """Results that are clamped where a half becomes a single, and a single a half."""
    a, b = HALVES[:64], SINGLES[:64]
    sums = np.float32(a) * np.float32(a) + b
    pairs = np.stack([np.clip(sums, 0, 1).astype(np.float16), np.full(64, 2, np.float16)], 1)
    results = np.zeros(64, np.float32), np.zeros(64, np.float16), np.zeros(128, np.float16)
    for _, _, singles, halves, joined in runs(
        module, "half_and_single_bounds", architecture, a, b, *results
    ):
        assert np.array_equal(singles, np.clip(a.astype(np.float32), 0, 1))
        assert np.array_equal(halves, np.clip(b.astype(np.float16), 0, 1))
        np.testing.assert_allclose(joined.reshape(64, 2), pairs, rtol=1e-3)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_pairs_of_halves_and_bfloat16(module: Any, architecture: str) -> None:
    pairs = HALVES[:128].reshape(64, 2)
    wanted = np.maximum(fused(pairs, np.float16(1.5), -np.abs(pairs)), np.float16(-2))
    wanted = np.where(wanted[:, :1] > wanted[:, 1:], wanted[:, ::-1], wanted)
    given = pairs.reshape(-1), np.zeros(128, np.float16), 1.5
    for _, found, _ in runs(module, "half_pairs", architecture, *given):
        assert np.array_equal(found, wanted.reshape(-1))
    a = SINGLES[:64].astype(ml_dtypes.bfloat16)
    of_a = np.maximum(a * a + ml_dtypes.bfloat16(1.5) - a, np.abs(a))
    numbers = a.view(np.uint16), np.zeros(64, np.uint16), 1.5
    for _, found, _ in runs(module, "brain_floats", architecture, *numbers):
        assert np.array_equal(found, of_a.view(np.uint16))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_arrays_in_registers(module: Any, architecture: str) -> None:
    rows, threads = SINGLES.reshape(64, 16).copy(), np.arange(64)
    empty = np.zeros(64, np.float32)
    first, second = int(SMALL[0]), int(SMALL[0] + SMALL[1]) & 15
    wanted = np.full(64, 3, np.float32) if first == second else rows[:, second]
    for *_, found in runs(module, "chosen_by_all", architecture, SINGLES, SMALL, empty):
        assert np.array_equal(found, wanted)
    rows[threads, SMALL[:64]] = 3
    for *_, found in runs(module, "chosen_by_each", architecture, SINGLES, SMALL, empty):
        assert np.array_equal(found, rows[threads, SMALL[1:65]])
    x, y = BYTES[:64], BYTES[64:]
    for found, _ in runs(module, "taking_turns", architecture, BYTES, 3):
        assert np.array_equal(found, np.concatenate([y * 9, x * 3]))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_integers(module: Any, architecture: str) -> None:
    a = WORDS[:64] >> SMALL[:64] * 2
    a[:2] = 0, -1
    longs = RANDOM.integers(-(2**62), 2**62, 64) >> RANDOM.integers(0, 60, 64)
    bits = [31 - int(x ^ (x >> 31)).bit_length() for x in a.tolist()]
    for found, _, of_longs in runs(
        module, "of_signs", architecture, a, longs, np.zeros(64, np.float32)
    ):
        assert found.tolist() == bits
        assert np.array_equal(of_longs, longs.astype(np.float32))
    wide, bytes_ = WORDS.astype(np.int64), BYTES.astype(np.int64)
    shorts = WORDS[:128].view(np.int16)
    sums = np.minimum(bytes_[:64] + bytes_[64:], 2**32 - 1)
    rest = np.maximum(bytes_[64:] - sums, 0)
    short = np.clip(shorts[:128].astype(int) - shorts[128:], -(2**15), 2**15 - 1)
    for of_ints, of_words, of_shorts in runs(
        module, "at_the_ends", architecture, WORDS[:128], BYTES, shorts
    ):
        whole = np.clip(wide[:64] + wide[64:128], -(2**31), 2**31 - 1)
        assert np.array_equal(of_ints[:64], whole)
        assert np.array_equal(of_words, np.concatenate([sums, rest]))
        assert np.array_equal(of_shorts[:128], short)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_parts_of_words(module: Any, architecture: str) -> None:
    numbers = SINGLES[:128]
    nearest = numbers.astype(np.float16)
    is_beyond = np.abs(nearest.astype(np.float64)) > np.abs(numbers)
    cut = np.where(is_beyond, np.nextafter(nearest, np.float16(0)), nearest)
    for _, found in runs(module, "packed", architecture, numbers, np.zeros(64, np.uint32)):
        assert np.array_equal(found.view(np.float16), cut)
    a, b = BYTES[:64], BYTES[64:]
    of_bytes = a.view(np.uint8).reshape(64, 4).astype(int), b.view(np.uint8).reshape(64, 4)
    distance = np.abs(of_bytes[0] - of_bytes[1])
    of_shorts = [x.view(np.uint16).reshape(64, 2).astype(int) for x in (a, b)]
    wanted = [
        distance.sum(1) + 5,
        np.where(of_bytes[1] != 0, distance, 0).sum(1) + 7,
        np.abs(of_shorts[0] - of_shorts[1]).sum(1) + 9,
        (a.astype(np.uint64) << np.uint64(32) | b) >> np.uint64(24) & np.uint64(0xFFFFFFFF),
    ]
    empty = np.zeros(256, np.uint32)
    for *_, found in runs(module, "differences", architecture, a, b, empty):
        assert np.array_equal(found, np.concatenate(wanted).astype(np.uint32))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_functions_that_are_not_inlined_and_counters(module: Any, architecture: str) -> None:
    a = np.abs(SINGLES[:128])
    sums = [
        np.sum([np.sqrt(part + np.float32(i)) for i in range(n)], axis=0, dtype=np.float32)
        for part, n in ((a[:64], 5), (a[64:], 6))
    ]
    for found, _ in runs(module, "called", architecture, a, 5):
        assert np.allclose(found[:64], sums[0] + sums[1], rtol=1e-6)
    for (found,) in runs(module, "counters", architecture, SMALL[:128]):
        assert np.array_equal(found, np.concatenate([2 * SMALL[:64], np.ones(64, int)]))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_groups_of_threads(module: Any, architecture: str) -> None:
    width, a = WIDTHS[architecture], SMALL[:64]
    wanted = a.copy()
    for first in range(0, 64, width):
        part = a[first : first + width]
        odd = part[part & 1 == 1]
        same = [100 * len(odd) + int((odd & 6 == x & 6).sum()) for x in odd.tolist()]
        wanted[first : first + width][part & 1 == 1] = same
    for (found,) in runs(module, "lanes_that_take_part", architecture, a):
        assert np.array_equal(found, wanted)
    tiles = a.reshape(16, 4)
    above = tiles[:, [0, 0, 1, 2]]
    bits = (tiles & 1) @ (1 << np.arange(4))
    of_tiles = tiles[:, 2:3] + 10 * above + 100 * tiles[:, ::-1] + 1000 * bits[:, None]
    of_tiles = of_tiles + 100000 * np.arange(16)[:, None]
    for (found,) in runs(module, "tiles", architecture, a):
        assert np.array_equal(found, of_tiles.reshape(-1))
    odd = a[a & 1 == 1]
    to, none = np.full(64, -1, np.int32), np.zeros(1, np.int32)
    for _, found, count in runs(module, "compacted", architecture, a, to, none):
        assert count[0] == len(odd)
        assert np.array_equal(np.sort(found[: len(odd)]), np.sort(odd))
        assert np.all(found[len(odd) :] == -1)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", WIDTHS)
def test_complex_numbers_and_parts(module: Any, architecture: str) -> None:
    single = SINGLES[:128].view(np.complex64)
    double = SINGLES[128:256].astype(np.float64).view(np.complex128)
    of_single = single * single + (np.pi + 1j * np.abs(single))
    of_double = double / (double.conj() + (1 + 2j))
    given = SINGLES[:128], double.view(np.float64), np.zeros(128, np.float32), np.zeros(128)
    for *_, found, of_doubles in runs(module, "complex_numbers", architecture, *given):
        assert np.allclose(found.view(np.complex64), of_single, rtol=1e-5, atol=1e-5)
        assert np.allclose(of_doubles.view(np.complex128), of_double, rtol=1e-13)
    a = SINGLES[:64]
    fraction, exponent = np.frexp(a)
    whole = np.floor(a) * 1000 + np.ceil(a) + np.rint(a.astype(np.float16).astype(np.float32))
    results = np.zeros(64, np.float32), np.zeros(64, np.int32), np.zeros(64, np.int64)
    for _, fractions, exponents, wholes in runs(module, "parts", architecture, a, *results):
        assert np.array_equal(fractions, fraction)
        assert np.array_equal(exponents, exponent)
        assert np.array_equal(wholes, whole.astype(np.int64))


def test_thread_blocks_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "k.hip"
    file.write_text(
        "#include <hip/hip_cooperative_groups.h>\n"
        "__global__ void k() { cooperative_groups::this_grid().sync(); }\n"
    )
    with pytest.raises(kc.KernelcastError, match="wait for each other are not executed"):
        kc.load(file)


def test_quotients_of_sources_for_gfx803(tmp_path: Path) -> None:
    """A clang for gfx803 lets subnormal numbers be zeros, but around divisions."""
    file = tmp_path / "k.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void k(float *a) { a[threadIdx.x] /= a[threadIdx.x + 64]; }\n'
    )
    loaded = kc.load(file, arch="gfx803")
    assert isinstance(loaded.native, GeneratedCode)
    assert "s_setreg" in loaded.native.code("k", "gfx803").assembly
    a = SINGLES[:128].copy()
    wanted = a[:64] / a[64:]
    kernel = RunnableKernel(loaded.native.amd_kernel("k", "gfx803"))
    kernel.run(grid=1, block=64, args=[a], warp_width=64)
    assert np.array_equal(a[:64], wanted)


def test_ticks_are_those_of_100_mhz(module: Any) -> None:
    """Ten times fewer than the nanoseconds of the reference engine, in both forms."""
    for kernel in (module["ticks"], RunnableKernel(module.native.amd_kernel("ticks", "gfx90a"))):
        found, before = np.zeros(64, np.uint64), time.monotonic_ns() // 10
        kernel.run(grid=1, block=64, args=[found], engine="reference", warp_width=64)
        assert np.all((found >= before) & (found <= time.monotonic_ns() // 10))


def test_what_is_not_to_be_optimised(tmp_path: Path) -> None:
    """Kernels of `-O0` are marked `noinline optnone`, which belong together."""
    file = tmp_path / "k.cl"
    file.write_text("__kernel void k(__global float *a) { a[get_global_id(0)] *= 2; }\n")
    loaded = kc.load(file, options=["-O0"])
    assert isinstance(loaded.native, GeneratedCode)
    assert "optnone" in loaded.native.text
    assert "s_endpgm" in loaded.native.code("k", "gfx90a").assembly
