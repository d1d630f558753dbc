// A Jacobi sweep for Poisson's equation in double precision, with the sum of the squared changes.
//
// Meshes are height x width, row-major, boundary included: each inner point becomes the mean of its
// four neighbours and `source`, which holds h^2 times the right hand side. Every thread block adds
// up the squares of its changes: by shuffles in a warp, then in shared memory.

constexpr int kWidth = 32;
constexpr int kHeight = 8;

__device__ __forceinline__ double sum_of_warp(double value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

extern "C" __global__ void jacobi(
    double *__restrict__ to, double *__restrict__ residuals, const double *__restrict__ from,
    const double *__restrict__ source, int width, int height)
{
    __shared__ double of_warp[kHeight]; // a warp is a row of the thread block
    const int x = blockIdx.x * kWidth + threadIdx.x + 1;
    const int y = blockIdx.y * kHeight + threadIdx.y + 1;

    double change = 0.0;
    if (x < width - 1 && y < height - 1) {
        const int i = y * width + x;
        const double mean =
            0.25 * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] + source[i]);
        change = mean - from[i];
        to[i] = mean;
    }

    const double sum = sum_of_warp(change * change);
    if (threadIdx.x == 0)
        of_warp[threadIdx.y] = sum;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        double total = 0.0;
        for (int row = 0; row < kHeight; ++row)
            total += of_warp[row];
        residuals[blockIdx.y * gridDim.x + blockIdx.x] = total;
    }
}
