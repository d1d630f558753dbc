// Sum of each thread block's stretch of `values`, by a tree in shared memory.
//
// Every thread adds two elements while it loads, then half of the threads drop out at each step.
// The active threads stay contiguous, so whole warps retire and only the last steps diverge.

constexpr int kThreads = 256;

extern "C" __global__ void block_sums(const float *values, float *sums, int n)
{
    __shared__ float partial[kThreads];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * (2 * kThreads) + thread;

    float sum = 0.0f;
    if (first < n)
        sum = values[first];
    if (first + kThreads < n)
        sum += values[first + kThreads];
    partial[thread] = sum;
    __syncthreads();

#pragma unroll 1
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] += partial[thread + active];
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = partial[0];
}
