// Attention of one head: out = softmax(scale * Q K^T) V, softmax along rows.
//
// Q, K, V and out are [heads][length][kDepth]. A thread block of 16 x 16 threads takes one tile of
// kQueries queries and walks over tiles of kSide keys. A thread holds the scores of four queries
// with one key and a 4 x 4 piece of the output. Largest score and sum of the exponentials of each
// row are kept up to date while the tiles pass (online softmax), so that scores never leave the
// thread block.

constexpr int kDepth = 64;
constexpr int kQueries = 64;
constexpr int kSide = 16;
constexpr int kRows = kQueries / kSide;
constexpr int kColumns = kDepth / kSide;

// Rows of a tile of `tile_rows` x kDepth, zero beyond the end of the sequence.
__device__ __forceinline__ void load_tile(
    float (*tile)[kDepth + 1], const float *matrix, int first, int tile_rows, int length)
{
    for (int i = threadIdx.y * kSide + threadIdx.x; i < tile_rows * kDepth; i += kSide * kSide) {
        const int row = i / kDepth, column = i % kDepth;
        tile[row][column] = first + row < length ? matrix[(first + row) * kDepth + column] : 0.0f;
    }
}

// Combined over the 16 threads that share rows: half a warp.
__device__ __forceinline__ float row_maximum(float value)
{
#pragma unroll
    for (int distance = kSide / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

__device__ __forceinline__ float row_sum(float value)
{
#pragma unroll
    for (int distance = kSide / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

extern "C" __global__ void attention_tile(
    const float *q, const float *k, const float *v, float *out, int length, float scale)
{
    __shared__ float q_tile[kQueries][kDepth + 1];
    __shared__ float k_tile[kSide][kDepth + 1];
    __shared__ float v_tile[kSide][kDepth + 1];
    __shared__ float weights[kQueries][kSide + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first_query = blockIdx.x * kQueries;
    const size_t head = static_cast<size_t>(blockIdx.y) * length * kDepth;

    load_tile(q_tile, q + head, first_query, kQueries, length);
    float largest[kRows], sum[kRows], result[kRows][kColumns];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        largest[r] = -INFINITY;
        sum[r] = 0.0f;
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
            result[r][c] = 0.0f;
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
            for (int r = 0; r < kRows; ++r)
                score[r] += q_tile[y + r * kSide][d] * k_tile[x][d];

        const bool is_key = first_key + x < length;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const float scaled = is_key ? score[r] * scale : -INFINITY;
            const float now_largest = fmaxf(largest[r], row_maximum(scaled));
            const float shrink = expf(largest[r] - now_largest);
            const float weight = expf(scaled - now_largest);
            weights[y + r * kSide][x] = weight;
            largest[r] = now_largest;
            sum[r] = sum[r] * shrink + row_sum(weight);
#pragma unroll
            for (int c = 0; c < kColumns; ++c)
                result[r][c] *= shrink;
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
        const int query = first_query + y + r * kSide;
        if (query < length)
#pragma unroll
            for (int c = 0; c < kColumns; ++c)
                out[head + static_cast<size_t>(query) * kDepth + x + c * kSide] =
                    result[r][c] / sum[r];
    }
}
