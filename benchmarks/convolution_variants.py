"""CUDA C++ of tiled convolutions: every tile from 1 x 1 to 4 x 8, all loops unrolled.

Each thread computes a tile of outputs, whose sums stay in registers, from inputs that it reads
from global memory or from a part of them in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["ConvolutionVariant", "convolution_source", "convolution_variants"]

_ROWS, _COLUMNS = 4, 8
_WIDTHS = (3, 5, 7)
_LARGEST_WIDTH = 9
_WITH_LARGEST = 8
"""The tiles with the fewest outputs have a larger filter, too."""
_SOURCE = """
template <int ROWS, int COLUMNS, int WIDTH>
__device__ __forceinline__ void store(const float (&sum)[ROWS][COLUMNS], float *out, int n,
                                      int row, int column) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) out[(row + r) * n + column + c] = sum[r][c];
}

template <int ROWS, int COLUMNS, int WIDTH>
__device__ __forceinline__ void from_global(const float *__restrict__ in,
                                            const float *__restrict__ weights,
                                            float *__restrict__ out, int n) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS;
  float sum[ROWS][COLUMNS] = {};
#pragma unroll
  for (int y = 0; y < WIDTH; ++y)
#pragma unroll
    for (int x = 0; x < WIDTH; ++x) {
      const float weight = weights[y * WIDTH + x];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
          sum[r][c] += weight * in[(row + r + y) * n + column + c + x];
    }
  store<ROWS, COLUMNS, WIDTH>(sum, out, n, row, column);
}

template <int ROWS, int COLUMNS, int WIDTH>
__device__ __forceinline__ void from_shared(const float *__restrict__ in,
                                            const float *__restrict__ weights,
                                            float *__restrict__ out, int n) {
  constexpr int HEIGHT = 8 * ROWS + WIDTH - 1, ACROSS = 16 * COLUMNS + WIDTH - 1;
  __shared__ float part[HEIGHT][ACROSS];
  const int top = blockIdx.y * 8 * ROWS, left = blockIdx.x * 16 * COLUMNS;
  for (int y = threadIdx.y; y < HEIGHT; y += 8)
    for (int x = threadIdx.x; x < ACROSS; x += 16) part[y][x] = in[(top + y) * n + left + x];
  __syncthreads();
  float sum[ROWS][COLUMNS] = {};
#pragma unroll
  for (int y = 0; y < WIDTH; ++y)
#pragma unroll
    for (int x = 0; x < WIDTH; ++x) {
      const float weight = weights[y * WIDTH + x];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
          sum[r][c] += weight * part[threadIdx.y * ROWS + r + y][threadIdx.x * COLUMNS + c + x];
    }
  store<ROWS, COLUMNS, WIDTH>(sum, out, n, top + threadIdx.y * ROWS, left + threadIdx.x * COLUMNS);
}
"""


@dataclass(frozen=True, slots=True)
class ConvolutionVariant:
    """A tile of `rows` x `columns` outputs a thread, a filter of `width` x `width` weights."""

    rows: int
    columns: int
    width: int
    is_shared: bool

    @property
    def name(self) -> str:
        """The kernel's name."""
        where = "shared" if self.is_shared else "global"
        return f"convolution_{where}_{self.rows}x{self.columns}_of_{self.width}"

    @property
    def entry(self) -> str:
        """The kernel in CUDA C++."""
        where = "from_shared" if self.is_shared else "from_global"
        sizes = f"{self.rows}, {self.columns}, {self.width}"
        return (
            f'extern "C" __global__ void __launch_bounds__(128) {self.name}(const float *in, '
            "const float *weights, float *out, int n) {\n"
            f"  {where}<{sizes}>(in, weights, out, n);\n}}\n"
        )


def convolution_variants() -> list[ConvolutionVariant]:
    """All 200, in a fixed order."""
    return list(_variants())


def _variants() -> Iterator[ConvolutionVariant]:
    tiles = [(rows, columns) for rows in range(1, _ROWS + 1) for columns in range(1, _COLUMNS + 1)]
    for rows, columns in tiles:
        for width in _WIDTHS:
            for is_shared in (False, True):
                yield ConvolutionVariant(rows, columns, width, is_shared)
    for rows, columns in sorted(tiles, key=lambda tile: (tile[0] * tile[1], tile))[:_WITH_LARGEST]:
        yield ConvolutionVariant(rows, columns, _LARGEST_WIDTH, False)


def convolution_source() -> str:
    """All variants as one file of CUDA C++."""
    return _SOURCE + "".join(variant.entry for variant in convolution_variants())
