// Histogram of floats from 0 to 1 in bins of equal width, counted in global memory.
//
// One value a thread. Values outside of the range count in the first or last bin.

extern "C" __global__ void global_atomics(
    const float *values, unsigned *bins, int n, int bin_count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int bin = static_cast<int>(values[i] * static_cast<float>(bin_count));
        atomicAdd(&bins[min(max(bin, 0), bin_count - 1)], 1);
    }
}
