"""Programs in CUDA C++ with texture and surface objects, compiled by NVRTC, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc

pytestmark = pytest.mark.usefixtures("nvrtc")

Array = npt.NDArray[Any]
F = np.float32
ENGINES = ["jit", "reference"]
SOURCE = r"""
extern "C" __global__ void resize(cudaTextureObject_t from, uchar4 *to, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float4 c = tex2D<float4>(from, (x + 0.5f) / width, (y + 0.5f) / height);
    to[y * width + x] = make_uchar4(c.x * 255 + 0.5f, c.y * 255 + 0.5f, c.z * 255 + 0.5f,
                                    c.w * 255 + 0.5f);
}

extern "C" __global__ void project(cudaTextureObject_t volume, float *to, int width, int depth,
                                   float slope)
{
    /* rays through a volume, not along its axes */
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sum = 0;
    for (int z = 0; z < depth; z++)
        sum += tex3D<float>(volume, x + 0.5f + slope * z, y + 0.25f, z + 0.5f);
    to[y * width + x] = sum;
}

extern "C" __global__ void convolve(cudaTextureObject_t image, const float *weights, int radius,
                                    cudaSurfaceObject_t to)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++)
            sum += weights[(j + radius) * (2 * radius + 1) + i + radius] *
                   tex2D<float>(image, x + i + 0.5f, y + j + 0.5f);
    surf2Dwrite(sum, to, x * (int)sizeof(float), y, cudaBoundaryModeZero);
}

extern "C" __global__ void gradient(cudaTextureObject_t image, float2 *to, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const float4 q = tex2Dgather<float4>(image, x + 1.0f, y + 1.0f, 0);
    to[y * width + x] = make_float2(q.z - q.w, q.x - q.w);
}

extern "C" __global__ void layers(cudaTextureObject_t sheets, cudaTextureObject_t line,
                                  cudaSurfaceObject_t to, int count)
{
    const int x = threadIdx.x, y = blockIdx.x;
    float most = -1;
    for (int n = 0; n < count; n++)
        most = fmaxf(most, tex2DLayered<float>(sheets, x + 0.5f, y + 0.5f, n));
    const int scaled = tex1Dfetch<int>(line, x) * (int)(most * 100);
    surf2DLayeredwrite(scaled, to, x * 4, y, 1);
}

__device__ __noinline__ float pick(cudaTextureObject_t t, float x, float y)
{
    return tex2D<float>(t, x, y);
}

extern "C" __global__ void inner(cudaTextureObject_t t, float *to)
{
    to[threadIdx.x] = pick(t, threadIdx.x, threadIdx.x % 3);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    path: Path = tmp_path_factory.mktemp("textures") / "textures.cu"
    path.write_text(SOURCE)
    return kc.load(path)


def bilinear(image: Array, x: Array, y: Array) -> Array:
    """The CUDA programming guide's formula, clamped; x and y in texels."""
    height, width = image.shape[:2]
    i, j = np.floor(x - F(0.5)), np.floor(y - F(0.5))
    a = np.floor((x - F(0.5) - i) * 256 + 0.5)[..., None] / 256
    b = np.floor((y - F(0.5) - j) * 256 + 0.5)[..., None] / 256

    def at(row: Array, column: Array) -> Array:
        rows, columns = np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)
        found: Array = image[rows.astype(int), columns.astype(int)].astype(np.float64)
        return found.reshape(*row.shape, -1)

    above = (1 - a) * at(j, i) + a * at(j, i + 1)
    below = (1 - a) * at(j + 1, i) + a * at(j + 1, i + 1)
    mixed: Array = (1 - b) * above + b * below
    return mixed


@pytest.mark.parametrize("engine", ENGINES)
def test_bilinear_resize(program: kc.LoadedModule, engine: str) -> None:
    image = np.random.default_rng(1).integers(0, 256, (20, 30, 4), np.uint8)
    out = np.zeros((25, 50, 4), np.uint8)
    texture = kc.Texture(
        image,
        filter=kc.Filter.LINEAR,
        normalized_coordinates=True,
        read_mode=kc.ReadMode.NORMALIZED_FLOAT,
    )
    program["resize"].run(args=[texture, out, 50, 25], grid=(2, 7), block=(32, 4), engine=engine)
    x = ((np.arange(50, dtype=F) + F(0.5)) / F(50) * F(30))[None, :].repeat(25, 0)
    y = ((np.arange(25, dtype=F) + F(0.5)) / F(25) * F(20))[:, None].repeat(50, 1)
    expected = np.floor(bilinear(image, x, y) + 0.5)
    assert np.abs(out - expected).max() <= 1  # a share or a colour may round either way
    assert np.mean(out != expected) < 0.01


@pytest.mark.parametrize("engine", ENGINES)
def test_rays_through_a_volume(program: kc.LoadedModule, engine: str) -> None:
    volume = np.random.default_rng(2).random((8, 6, 32), F)
    out = np.zeros((6, 32), F)
    texture = kc.Texture(volume, kc.ImageKind.IMAGE_3D, kc.Addressing.BORDER, kc.Filter.LINEAR)
    program["project"].run(args=[texture, out, 32, 8, 0.375], grid=(1, 6), block=32, engine=engine)
    padded = np.pad(volume.astype(np.float64), 12)
    expected = np.zeros((6, 32))
    for z in range(8):
        left, share = np.floor(0.375 * z), 0.375 * z % 1
        for y in range(6):
            rows = 0.25 * padded[12 + z, 11 + y] + 0.75 * padded[12 + z, 12 + y]
            first = 12 + int(left) + np.arange(32)
            expected[y] += (1 - share) * rows[first] + share * rows[first + 1]
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_convolution_through_a_texture_to_a_surface(program: kc.LoadedModule, engine: str) -> None:
    random = np.random.default_rng(3)
    image, weights = random.random((16, 32), F), random.random((5, 5), F)
    out = np.zeros((16, 30), F)  # the last columns of the grid are outside
    program["convolve"].run(
        args=[kc.Texture(image), weights, 2, kc.Surface(out)],
        grid=(1, 4),
        block=(32, 4),
        engine=engine,
    )
    padded = np.pad(image.astype(np.float64), 2, mode="edge")
    expected = sum(
        weights[j, i] * padded[j : j + 16, i : i + 30] for j in range(5) for i in range(5)
    )
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def test_gathers(program: kc.LoadedModule) -> None:
    image, out = np.random.default_rng(4).random((9, 33), F), np.zeros((8, 32, 2), F)
    program["gradient"].run(args=[kc.Texture(image), out, 32, 8], grid=(1, 8), block=32)
    np.testing.assert_array_equal(out[..., 0], image[:8, 1:] - image[:8, :32])
    np.testing.assert_array_equal(out[..., 1], image[1:, :32] - image[:8, :32])


def test_layers_and_linear_memory(program: kc.LoadedModule) -> None:
    random = np.random.default_rng(5)
    sheets, line = random.random((3, 4, 32), F), random.integers(0, 100, 32, np.int32)
    out = np.zeros((2, 4, 32), np.int32)
    layered, buffer = kc.ImageKind.IMAGE_2D_ARRAY, kc.ImageKind.IMAGE_1D_BUFFER
    program["layers"].run(
        args=[kc.Texture(sheets, layered), kc.Texture(line, buffer), kc.Surface(out, layered), 3],
        grid=4,
        block=32,
    )
    expected = line * (sheets.max(axis=0) * F(100)).astype(np.int32)
    np.testing.assert_array_equal(out, [np.zeros_like(expected), expected])


def test_functions_that_are_not_inlined(program: kc.LoadedModule) -> None:
    image, out = np.random.default_rng(6).random((3, 32), F), np.zeros(32, F)
    program["inner"].run(args=[kc.Texture(image), out], grid=1, block=32)
    lanes = np.arange(32)
    np.testing.assert_array_equal(out, image[lanes % 3, lanes])


def test_a_trace_has_the_fetches_as_loads_of_the_texture_path(program: kc.LoadedModule) -> None:
    """Every texel of the image is read once: as many bytes come from DRAM."""
    image, out = np.random.default_rng(7).random((64, 256), F), np.zeros((64, 256), F)
    weights = np.ones(1, F)
    trace = program["convolve"].run(
        args=[kc.Texture(image), weights, 0, kc.Surface(out)], grid=(8, 16), block=(32, 4)
    )
    np.testing.assert_array_equal(out, image)
    traffic = trace.profile("v100-pcie").traffic
    # the weight is one sector of 32 bytes
    assert traffic.dram_read_transactions == image.nbytes / 32 + 1
    assert traffic.requested_load_bytes == 2 * image.nbytes
    assert traffic.requested_store_bytes == out.nbytes
