// Stream compaction in order: values above a threshold move to the front.
//
// `offsets` says where the first value that a thread block keeps goes: the prefix sum of what a
// counting kernel found. Lanes find their place in the warp by a ballot; the warps' counts meet in
// shared memory.

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kAllLanes = 0xffffffff;

extern "C" __global__ void ballot_compaction(
    const float *values, const unsigned *offsets, float *kept, int n, float threshold)
{
    __shared__ unsigned warp_counts[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int i = blockIdx.x * kThreads + threadIdx.x;

    const float value = i < n ? values[i] : 0.0f;
    const bool is_kept = i < n && value > threshold;
    const unsigned lanes = __ballot_sync(kAllLanes, is_kept);
    if (lane == 0)
        warp_counts[warp] = __popc(lanes);
    __syncthreads();

    if (is_kept) {
        unsigned position = offsets[blockIdx.x] + __popc(lanes & ((1u << lane) - 1));
        for (int w = 0; w < warp; ++w)
            position += warp_counts[w];
        kept[position] = value;
    }
}
