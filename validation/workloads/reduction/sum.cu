// Partial sums of `values`, one for each thread block.
//
// The threads of the whole grid stride over the array, so that a thread block reads a stretch of
// kThreads values in every round. A warp adds its lanes' sums by shuffles; the first warp adds the
// warps' sums, which meet in shared memory.

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ __forceinline__ float warp_sum(float sum)
{
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(kAllLanes, sum, distance);
    return sum;
}

extern "C" __global__ void partial_sums(const float *values, float *sums, int n)
{
    __shared__ float warp_sums[kThreads / kWarpSize];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;

    float sum = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
        sum += values[i];
    sum = warp_sum(sum);
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = warp_sum(lane < kThreads / kWarpSize ? warp_sums[lane] : 0.0f);
        if (lane == 0)
            sums[blockIdx.x] = sum;
    }
}
