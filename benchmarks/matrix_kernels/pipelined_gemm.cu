// C = A B as mma_gemm does it, with cp.async through three stages; pieces of 16 bytes are swizzled
// in shared memory instead of padded.
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>

constexpr int STAGES = 3, TILE = 64, DEPTH = 32;

__device__ __forceinline__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

// Where the 16 bytes are that begin with this element: rows of 64 bytes, pairs of them in 128.
__device__ __forceinline__ int place_a(int row, int piece) {
  return row * DEPTH + ((piece ^ (row >> 1 & 3)) << 3);
}

__device__ __forceinline__ int place_b(int row, int piece) {
  return row * TILE + ((piece ^ (row & 7)) << 3);
}

extern "C" __global__ void __launch_bounds__(128)
pipelined_gemm(const half *a, const half *b, float *c, int n) {
  __shared__ alignas(128) half tile_a[STAGES][TILE * DEPTH], tile_b[STAGES][DEPTH * TILE];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  const int down = warp / 2 * 32, right = warp % 2 * 32, steps = n / DEPTH;
  float sums[2][4][4] = {};
  auto fetch = [&](int step) {
    if (step < steps)
      for (int i = threadIdx.x; i < 256; i += 128) {
        int r = i / 4, piece = i % 4;
        __pipeline_memcpy_async(&tile_a[step % STAGES][place_a(r, piece)],
                                &a[(row + r) * n + step * DEPTH + piece * 8], 16);
        r = i / 8, piece = i % 8;
        __pipeline_memcpy_async(&tile_b[step % STAGES][place_b(r, piece)],
                                &b[(step * DEPTH + r) * n + column + piece * 8], 16);
      }
    __pipeline_commit();
  };
  for (int step = 0; step < STAGES - 1; step++) fetch(step);
  for (int step = 0; step < steps; step++) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    fetch(step + STAGES - 1);
    const half *from_a = tile_a[step % STAGES], *from_b = tile_b[step % STAGES];
    for (int inner = 0; inner < DEPTH; inner += 16) {
      unsigned left[2][4], above[2][4];
      for (int i = 0; i < 2; i++) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(left[i][0]), "=r"(left[i][1]), "=r"(left[i][2]), "=r"(left[i][3])
                     : "r"(shared_address(
                         from_a + place_a(down + 16 * i + lane % 16, inner / 8 + lane / 16))));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(above[i][0]), "=r"(above[i][1]), "=r"(above[i][2]), "=r"(above[i][3])
                     : "r"(shared_address(
                         from_b + place_b(inner + lane % 16, right / 8 + 2 * i + lane / 16))));
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
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 4; j++)
      for (int h = 0; h < 2; h++) {
        int r = row + down + 16 * i + lane / 4 + 8 * h, s = column + right + 8 * j + lane % 4 * 2;
        *(float2 *)&c[r * n + s] = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
}
