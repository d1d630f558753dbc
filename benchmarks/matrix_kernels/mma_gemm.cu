// The same as wmma_gemm with ldmatrix and mma.sync.m16n8k16.
#include <cuda_fp16.h>

__device__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

extern "C" __global__ void mma_gemm(const half *a, const half *b, float *c, int n) {
  __shared__ half tile_a[64][40], tile_b[32][72];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  int down = warp / 2 * 32, right = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (int k = 0; k < n; k += 32) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      int r = i / 4, s = i % 4 * 8;
      *(int4 *)&tile_a[r][s] = *(const int4 *)&a[(row + r) * n + k + s];
      r = i / 8, s = i % 8 * 8;
      *(int4 *)&tile_b[r][s] = *(const int4 *)&b[(k + r) * n + column + s];
    }
    __syncthreads();
    for (int inner = 0; inner < 32; inner += 16) {
      unsigned left[2][4], above[2][4];
      for (int i = 0; i < 2; i++) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(left[i][0]), "=r"(left[i][1]), "=r"(left[i][2]), "=r"(left[i][3])
                     : "r"(shared_address(&tile_a[down + 16 * i + lane % 16][inner + lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(above[i][0]), "=r"(above[i][1]), "=r"(above[i][2]), "=r"(above[i][3])
                     : "r"(shared_address(&tile_b[inner + lane % 16][right + 16 * i + lane / 16 * 8])));
      }
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
          float *s = sums[i][j];
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                       "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                       : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]),
                         "r"(above[j / 2][j % 2 * 2]), "r"(above[j / 2][j % 2 * 2 + 1]));
        }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 4; j++)
      for (int h = 0; h < 2; h++) {
        int r = row + down + 16 * i + lane / 4 + 8 * h, s = column + right + 8 * j + lane % 4 * 2;
        *(float2 *)&c[r * n + s] = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
}
