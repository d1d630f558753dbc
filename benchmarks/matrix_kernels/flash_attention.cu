// Attention forward, one warp to 16 queries of 64 dimensions: scores and values by mma.sync, the
// softmax of keys in tiles of 16 as they come. q, k, v and o have a row of 64 halves a position.
#include <cuda_fp16.h>

__device__ void multiply(float *d, const unsigned *a, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned packed(float low, float high) {
  half2 both = __floats2half2_rn(low, high);
  return *(unsigned *)&both;
}

extern "C" __global__ void flash_attention(const half *q, const half *k, const half *v, half *o,
                                           int keys, float scale) {
  __shared__ half tile_k[16][72], tile_v[16][72];
  int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2, first = blockIdx.x * 16;
  unsigned query[4][4];
  for (int d = 0; d < 4; d++)
    for (int r = 0; r < 4; r++)
      query[d][r] = *(const unsigned *)&q[(first + group + r % 2 * 8) * 64 + d * 16 + r / 2 * 8 + pair];
  float out[8][4] = {}, top[2] = {-1e30f, -1e30f}, sum[2] = {};
  for (int key = 0; key < keys; key += 16) {
    for (int i = lane; i < 128; i += 32) {
      *(int4 *)&tile_k[i / 8][i % 8 * 8] = *(const int4 *)&k[(key + i / 8) * 64 + i % 8 * 8];
      *(int4 *)&tile_v[i / 8][i % 8 * 8] = *(const int4 *)&v[(key + i / 8) * 64 + i % 8 * 8];
    }
    __syncwarp();
    float scores[2][4] = {};
    for (int j = 0; j < 2; j++)
      for (int d = 0; d < 4; d++)
        multiply(scores[j], query[d], *(unsigned *)&tile_k[8 * j + group][16 * d + pair],
                 *(unsigned *)&tile_k[8 * j + group][16 * d + 8 + pair]);
    for (int h = 0; h < 2; h++) {
      float most = top[h];
      for (int j = 0; j < 2; j++)
        most = fmaxf(most, fmaxf(scores[j][2 * h], scores[j][2 * h + 1]) * scale);
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      float shrink = __expf(top[h] - most), part = 0;
      for (int j = 0; j < 4; j++) {
        float *s = &scores[j / 2][2 * h + j % 2];
        part += *s = __expf(*s * scale - most);
      }
      part += __shfl_xor_sync(~0u, part, 1);
      part += __shfl_xor_sync(~0u, part, 2);
      sum[h] = sum[h] * shrink + part;
      top[h] = most;
      for (int d = 0; d < 8; d++) out[d][2 * h] *= shrink, out[d][2 * h + 1] *= shrink;
    }
    unsigned weights[4] = {packed(scores[0][0], scores[0][1]), packed(scores[0][2], scores[0][3]),
                           packed(scores[1][0], scores[1][1]), packed(scores[1][2], scores[1][3])};
    for (int d = 0; d < 8; d++) {
      unsigned b0, b1;
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(b0), "=r"(b1)
                   : "r"((unsigned)__cvta_generic_to_shared(&tile_v[lane % 16][8 * d])));
      multiply(out[d], weights, b0, b1);
    }
    __syncwarp();
  }
  for (int d = 0; d < 8; d++)
    for (int h = 0; h < 2; h++)
      *(unsigned *)&o[(first + group + 8 * h) * 64 + 8 * d + pair] =
          packed(out[d][2 * h] / sum[h], out[d][2 * h + 1] / sum[h]);
}
