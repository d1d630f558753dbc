// Counts of 256 values: every thread block of 256 threads counts in shared memory, 16 elements a
// thread, then adds its counts to the grid's.

constexpr int kBins = 256;
constexpr int kEach = 16;

extern "C" __global__ void histogram(const unsigned *values, unsigned *counts, int n)
{
    __shared__ unsigned partial[kBins];
    partial[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * (kBins * kEach) + threadIdx.x;
#pragma unroll 1
    for (int part = 0; part < kEach && i < n; part++, i += kBins)
        atomicAdd(&partial[values[i] & (kBins - 1)], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], partial[threadIdx.x]);
}
