// Inclusive prefix sums of every 4 * kThreads integers, and the sum of each such stretch.
//
// A thread adds up four neighbouring integers, which it loads at once. A warp scans its threads'
// sums by shuffles; the first warp does the same with the sums of the warps, which meet in shared
// memory. `vectors` counts groups of four integers.

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ __forceinline__ int warp_scan(int value, int lane)
{
#pragma unroll
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const int before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane >= distance)
            value += before;
    }
    return value;
}

extern "C" __global__ void warp_shuffle_scan(
    const int4 *values, int4 *prefix, int *sums, int vectors)
{
    __shared__ int warp_sums[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int vector = blockIdx.x * kThreads + threadIdx.x;

    int4 item = make_int4(0, 0, 0, 0);
    if (vector < vectors)
        item = values[vector];
    item.y += item.x;
    item.z += item.y;
    item.w += item.z;

    const int scanned = warp_scan(item.w, lane);
    if (lane == kWarpSize - 1)
        warp_sums[warp] = scanned;
    __syncthreads();
    if (warp == 0) {
        const int sum = warp_scan(lane < kWarps ? warp_sums[lane] : 0, lane);
        if (lane < kWarps)
            warp_sums[lane] = sum;
    }
    __syncthreads();

    const int before = scanned - item.w + (warp > 0 ? warp_sums[warp - 1] : 0);
    if (vector < vectors)
        prefix[vector] = make_int4(
            item.x + before, item.y + before, item.z + before, item.w + before);
    if (threadIdx.x == kThreads - 1)
        sums[blockIdx.x] = before + item.w;
}
