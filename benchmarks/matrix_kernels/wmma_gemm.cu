// C = A B in half precision with sums in single precision: 64 x 64 tiles, four warps of 32 x 32.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_gemm(const half *a, const half *b, float *c, int n) {
  __shared__ half tile_a[64][40], tile_b[32][72];
  int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  int down = warp / 2 * 32, right = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (int i = 0; i < 4; i++) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
  for (int k = 0; k < n; k += 32) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      int r = i / 4, s = i % 4 * 8;
      *(int4 *)&tile_a[r][s] = *(const int4 *)&a[(row + r) * n + k + s];
      r = i / 8, s = i % 8 * 8;
      *(int4 *)&tile_b[r][s] = *(const int4 *)&b[(k + r) * n + column + s];
    }
    __syncthreads();
    for (int inner = 0; inner < 32; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> above[2];
      for (int i = 0; i < 2; i++) {
        wmma::load_matrix_sync(left[i], &tile_a[down + 16 * i][inner], 40);
        wmma::load_matrix_sync(above[i], &tile_b[inner][right + 16 * i], 72);
      }
      for (int i = 0; i < 4; i++)
        wmma::mma_sync(sums[i / 2][i % 2], left[i / 2], above[i % 2], sums[i / 2][i % 2]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    wmma::store_matrix_sync(&c[(row + down + i / 2 * 16) * n + column + right + i % 2 * 16],
                            sums[i / 2][i % 2], n, wmma::mem_row_major);
}
