// First kernel of a radix sort's pass: how often each digit of four bits occurs in every tile of
// kTile keys. `counts` is digit-major, digits x tiles: its prefix sum tells where each tile's keys
// of a digit go.

constexpr int kThreads = 256;
constexpr int kTile = 1024;
constexpr int kDigits = 16;

extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int n, int shift)
{
    __shared__ unsigned tile_counts[kDigits];
    const int thread = threadIdx.x;
    if (thread < kDigits)
        tile_counts[thread] = 0;
    __syncthreads();

    const int first = blockIdx.x * kTile + thread;
    const int end = min(n, (static_cast<int>(blockIdx.x) + 1) * kTile);
    for (int i = first; i < end; i += kThreads)
        atomicAdd(&tile_counts[(keys[i] >> shift) % kDigits], 1);
    __syncthreads();

    if (thread < kDigits)
        counts[thread * gridDim.x + blockIdx.x] = tile_counts[thread];
}
