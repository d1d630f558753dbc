// Sums over a window that slides round a thread block's values, read from shared memory.
//
// A thread block's values lie `stride` words apart in shared memory, 1 to 32: at stride 2 a warp
// hits each second bank twice, at stride 32 all its reads fall into one bank.

constexpr int kThreads = 256;
constexpr int kLargestStride = 32;

extern "C" __global__ void shared_conflicts(
    unsigned *sums, const unsigned *values, int n, int stride, int window)
{
    __shared__ unsigned words[kThreads * kLargestStride];
    const int thread = threadIdx.x;
    const int i = blockIdx.x * kThreads + thread;

    words[thread * stride] = i < n ? values[i] : 0;
    __syncthreads();

    unsigned sum = 0;
    for (int ahead = 0; ahead < window; ++ahead)
        sum += words[(thread + ahead) % kThreads * stride];
    if (i < n)
        sums[i] = sum;
}
