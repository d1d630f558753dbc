// Last kernel of a radix sort's pass: keys and their values go to where their digit of four bits
// belongs, in their old order.
//
// `offsets`, digits x tiles, says where the first key of each digit of a tile goes. A thread block
// takes its tile kThreads keys at a time. Within a warp a key's rank is the number of lanes before
// it with the same digit, found by ballots; the warps' counts meet in shared memory.

constexpr int kThreads = 256;
constexpr int kTile = 1024;
constexpr int kDigits = 16;
constexpr int kDigitBits = 4;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kAllLanes = 0xffffffff;

// The lanes with a key whose digit is this lane's.
__device__ __forceinline__ unsigned same_digit(int digit, bool has_key)
{
    unsigned lanes = __ballot_sync(kAllLanes, has_key);
#pragma unroll
    for (int bit = 0; bit < kDigitBits; ++bit) {
        const bool is_set = (digit >> bit) & 1;
        const unsigned with_bit = __ballot_sync(kAllLanes, is_set);
        lanes &= is_set ? with_bit : ~with_bit;
    }
    return lanes;
}

extern "C" __global__ void radix_scatter(
    const unsigned *keys, const unsigned *values, const unsigned *offsets,
    unsigned *keys_out, unsigned *values_out, int n, int shift)
{
    __shared__ unsigned next[kDigits];
    __shared__ unsigned warp_counts[kWarps][kDigits];
    const int thread = threadIdx.x;
    const int lane = thread % kWarpSize;
    const int warp = thread / kWarpSize;
    const int first = blockIdx.x * kTile;
    if (thread < kDigits)
        next[thread] = offsets[thread * gridDim.x + blockIdx.x];

#pragma unroll 1
    for (int round = 0; round < kTile / kThreads; ++round) {
        const int i = first + round * kThreads + thread;
        if (lane < kDigits)
            warp_counts[warp][lane] = 0;
        __syncwarp();
        const bool has_key = i < n;
        const unsigned key = has_key ? keys[i] : 0;
        const int digit = (key >> shift) % kDigits;
        const unsigned lanes = same_digit(digit, has_key);
        const int rank = __popc(lanes & ((1u << lane) - 1));
        if (has_key && rank == 0)
            warp_counts[warp][digit] = __popc(lanes);
        __syncthreads();

        // One thread a digit: where each warp's keys of the digit begin.
        if (thread < kDigits) {
            unsigned position = next[thread];
            for (int w = 0; w < kWarps; ++w) {
                const unsigned count = warp_counts[w][thread];
                warp_counts[w][thread] = position;
                position += count;
            }
            next[thread] = position;
        }
        __syncthreads();

        if (has_key) {
            const unsigned position = warp_counts[warp][digit] + rank;
            keys_out[position] = key;
            values_out[position] = values[i];
        }
        __syncwarp();
    }
}
