// Largest value and its index, for each thread block's share of `values`; of equal values the
// one of the lowest index.
//
// The threads of the whole grid stride over the array; a tree in shared memory compares the
// candidates of a thread block.

#include <float.h>
#include <limits.h>

constexpr int kThreads = 256;

__device__ __forceinline__ bool is_ahead(float value, int index, float other, int other_index)
{
    return value > other || (value == other && index < other_index);
}

extern "C" __global__ void max_index(
    const float *values, float *largest, int *largest_index, int n)
{
    __shared__ float best_value[kThreads];
    __shared__ int best_index[kThreads];
    const int thread = threadIdx.x;

    float value = -FLT_MAX;
    int index = INT_MAX;
    for (int i = blockIdx.x * kThreads + thread; i < n; i += gridDim.x * kThreads) {
        const float candidate = values[i];
        if (candidate > value) {
            value = candidate;
            index = i;
        }
    }
    best_value[thread] = value;
    best_index[thread] = index;
    __syncthreads();

#pragma unroll 1
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (thread < active) {
            const int other = thread + active;
            if (is_ahead(best_value[other], best_index[other], best_value[thread],
                         best_index[thread])) {
                best_value[thread] = best_value[other];
                best_index[thread] = best_index[other];
            }
        }
        __syncthreads();
    }
    if (thread == 0) {
        largest[blockIdx.x] = best_value[0];
        largest_index[blockIdx.x] = best_index[0];
    }
}
