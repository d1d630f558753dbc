// Sum of each thread block's 256 elements by a tree in shared memory: half of the threads drop
// out at every step.

constexpr int kThreads = 256;

extern "C" __global__ void reduction(const float *values, float *sums, int n)
{
    __shared__ float partial[kThreads];
    const int thread = threadIdx.x;
    const int i = blockIdx.x * kThreads + thread;
    partial[thread] = i < n ? values[i] : 0.0f;
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
