// Layer normalization of every row, with scale and shift:
// y[r][c] = (x[r][c] - mean) / sqrt(variance + epsilon) * gamma[c] + beta[c].
//
// Matrices are row-major. A warp takes one row; its lanes hold partial sums that butterfly shuffles
// add up. Mean first, then the mean square of the differences.

constexpr int kLanes = 32;

__device__ __forceinline__ float warp_sum(float value)
{
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

extern "C" __global__ void layernorm(
    const float *x, const float *gamma, const float *beta, float *y, int rows, int columns,
    float epsilon)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const float *const in = x + static_cast<size_t>(row) * columns;
    float *const out = y + static_cast<size_t>(row) * columns;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += kLanes)
        sum += in[c];
    const float mean = warp_sum(sum) / columns;

    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += kLanes) {
        const float difference = in[c] - mean;
        squares += difference * difference;
    }
    const float scale = rsqrtf(warp_sum(squares) / columns + epsilon);

    for (int c = threadIdx.x; c < columns; c += kLanes)
        out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}
