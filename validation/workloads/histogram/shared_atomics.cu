// Histogram of bytes: 256 bins, added to `bins`.
//
// The bytes come as words of four. The threads of the whole grid stride over the words; a thread
// block counts in shared memory and adds its counts to the global bins at the end.

constexpr int kThreads = 256;
constexpr int kBins = 256;

extern "C" __global__ void shared_atomics(const unsigned *words, unsigned *bins, int n)
{
    __shared__ unsigned counts[kBins];
    counts[threadIdx.x] = 0;
    __syncthreads();

    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const unsigned word = words[i];
        atomicAdd(&counts[word & 0xff], 1);
        atomicAdd(&counts[(word >> 8) & 0xff], 1);
        atomicAdd(&counts[(word >> 16) & 0xff], 1);
        atomicAdd(&counts[word >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
