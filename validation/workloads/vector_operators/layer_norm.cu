// Layer normalization of every row, in the shape of PyTorch's vectorized_layer_norm_kernel, written
// anew: y[r][c] = (x[r][c] - mean) / sqrt(variance + epsilon) * gamma[c] + beta[c]; rows of whole 16
// bytes.
//
// A thread block of 32 x 4 or 64 x 4 threads takes one row. Each thread goes through its elements,
// four by one access, with Welford's recurrence; shuffles join 32 lanes each, shared memory what they
// found. The row is read again to be written.

constexpr int kLanes = 32;
constexpr int kMostWarps = 8;

struct Moments {
    float mean;
    float squares;
    float count;
};

__device__ __forceinline__ Moments with(Moments before, float value)
{
    const float difference = value - before.mean;
    const float count = before.count + 1.0f;
    const float mean = before.mean + difference * (1.0f / count);
    return {mean, before.squares + difference * (value - mean), count};
}

__device__ __forceinline__ Moments joined(Moments a, Moments b)
{
    const float count = a.count + b.count;
    if (!(count > 0.0f))
        return {0.0f, 0.0f, 0.0f};
    const float difference = b.mean - a.mean;
    const float share = 1.0f / count;
    const float share_a = a.count * share;
    const float share_b = b.count * share;
    return {share_a * a.mean + share_b * b.mean,
            a.squares + b.squares + difference * difference * a.count * share_b, count};
}

__device__ __forceinline__ Moments of_thread_block(Moments own, int thread, int threads, int columns)
{
    __shared__ Moments partial[kMostWarps / 2];
    __shared__ float result[2];
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        const Moments other{
            __shfl_down_sync(0xffffffffu, own.mean, distance),
            __shfl_down_sync(0xffffffffu, own.squares, distance),
            __shfl_down_sync(0xffffffffu, own.count, distance)};
        own = joined(own, other);
    }
    const int warp = thread / kLanes;
    const bool is_first = thread % kLanes == 0;
    for (int half = threads / kLanes / 2; half > 0; half /= 2) {
        const int giver = warp - half;
        if (is_first && giver >= 0 && giver < half)
            partial[giver] = own;
        __syncthreads();
        if (is_first && warp < half)
            own = joined(own, partial[warp]);
        __syncthreads();
    }
    if (thread == 0) {
        result[0] = own.mean;
        result[1] = own.squares / columns;
    }
    __syncthreads();
    return {result[0], result[1], 0.0f};
}

extern "C" __global__ void layer_norm(
    const float *x, const float *gamma, const float *beta, float *y, float *means, float *scales,
    int columns, float epsilon)
{
    const size_t start = static_cast<size_t>(blockIdx.x) * columns;
    const float4 *const in = reinterpret_cast<const float4 *>(x + start);
    float4 *const out = reinterpret_cast<float4 *>(y + start);
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * blockDim.y;
    const int fours = columns / 4;

    Moments own{0.0f, 0.0f, 0.0f};
    for (int i = thread; i < fours; i += threads) {
        const float4 found = in[i];
        own = with(with(with(with(own, found.x), found.y), found.z), found.w);
    }
    const Moments row = of_thread_block(own, thread, threads, columns);
    const float scale = rsqrtf(row.squares + epsilon);

    for (int i = thread; i < fours; i += threads) {
        const float4 found = in[i];
        const float4 factor = reinterpret_cast<const float4 *>(gamma)[i];
        const float4 shift = reinterpret_cast<const float4 *>(beta)[i];
        out[i] = make_float4(
            factor.x * (scale * (found.x - row.mean)) + shift.x,
            factor.y * (scale * (found.y - row.mean)) + shift.y,
            factor.z * (scale * (found.z - row.mean)) + shift.z,
            factor.w * (scale * (found.w - row.mean)) + shift.w);
    }
    if (thread == 0) {
        means[blockIdx.x] = row.mean;
        scales[blockIdx.x] = scale;
    }
}
