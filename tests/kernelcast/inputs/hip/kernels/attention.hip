// Attention of one head, softmax(scale * Q K^T) V, a tile of 64 queries a thread block.
#include <hip/hip_runtime.h>

constexpr int kDepth = 64, kQueries = 64, kSide = 16;
constexpr int kRows = kQueries / kSide, kColumns = kDepth / kSide;

__device__ __forceinline__ void load_tile(float (*tile)[kDepth + 1], const float *matrix, int first,
                                          int tile_rows, int length) {
  for (int i = threadIdx.y * kSide + threadIdx.x; i < tile_rows * kDepth; i += kSide * kSide) {
    int row = i / kDepth, column = i % kDepth;
    tile[row][column] = first + row < length ? matrix[(first + row) * kDepth + column] : 0.0f;
  }
}
__device__ __forceinline__ float row_maximum(float value) {
#pragma unroll
  for (int distance = kSide / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor(value, distance));
  return value;
}
__device__ __forceinline__ float row_sum(float value) {
#pragma unroll
  for (int distance = kSide / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  return value;
}

extern "C" __global__ void attention_tile(const float *q, const float *k, const float *v, float *out,
                                          int length, float scale) {
  __shared__ float q_tile[kQueries][kDepth + 1], k_tile[kSide][kDepth + 1], v_tile[kSide][kDepth + 1];
  __shared__ float weights[kQueries][kSide + 1];
  int x = threadIdx.x, y = threadIdx.y, first_query = blockIdx.x * kQueries;
  size_t head = (size_t)blockIdx.y * length * kDepth;
  load_tile(q_tile, q + head, first_query, kQueries, length);
  float largest[kRows], sum[kRows], result[kRows][kColumns];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    largest[r] = -INFINITY;
    sum[r] = 0.0f;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) result[r][c] = 0.0f;
  }
  for (int first_key = 0; first_key < length; first_key += kSide) {
    __syncthreads();
    load_tile(k_tile, k + head, first_key, kSide, length);
    load_tile(v_tile, v + head, first_key, kSide, length);
    __syncthreads();
    float score[kRows] = {};
#pragma unroll 8
    for (int d = 0; d < kDepth; ++d)
#pragma unroll
      for (int r = 0; r < kRows; ++r) score[r] += q_tile[y + r * kSide][d] * k_tile[x][d];
    bool is_key = first_key + x < length;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float scaled = is_key ? score[r] * scale : -INFINITY;
      float now_largest = fmaxf(largest[r], row_maximum(scaled));
      float shrink = expf(largest[r] - now_largest), weight = expf(scaled - now_largest);
      weights[y + r * kSide][x] = weight;
      largest[r] = now_largest;
      sum[r] = sum[r] * shrink + row_sum(weight);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) result[r][c] *= shrink;
    }
    __syncthreads();
#pragma unroll 4
    for (int key = 0; key < kSide; ++key)
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
          result[r][c] += weights[y + r * kSide][key] * v_tile[key][x + c * kSide];
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    int query = first_query + y + r * kSide;
    if (query < length)
#pragma unroll
      for (int c = 0; c < kColumns; ++c)
        out[head + (size_t)query * kDepth + x + c * kSide] = result[r][c] / sum[r];
  }
}
