// Sorts every kKeys keys in shared memory with a bitonic network, four keys a thread.
//
// Places past the end hold the largest key while the last stretch is sorted.

constexpr int kThreads = 256;
constexpr int kKeys = 4 * kThreads;

extern "C" __global__ void bitonic_sort(unsigned *keys, int n)
{
    __shared__ unsigned stretch[kKeys];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * kKeys;
#pragma unroll
    for (int k = 0; k < kKeys; k += kThreads)
        stretch[k + thread] = first + k + thread < n ? keys[first + k + thread] : 0xffffffff;

#pragma unroll 1
    for (int length = 2; length <= kKeys; length *= 2) {
#pragma unroll 1
        for (int distance = length / 2; distance > 0; distance /= 2) {
            __syncthreads();
#pragma unroll
            for (int k = 0; k < kKeys / 2; k += kThreads) {
                const int pair = k + thread;
                const int low = 2 * pair - (pair & (distance - 1));
                const int high = low + distance;
                const bool is_descending = (low & length) != 0;
                const unsigned a = stretch[low];
                const unsigned b = stretch[high];
                if ((a > b) != is_descending) {
                    stretch[low] = b;
                    stretch[high] = a;
                }
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kKeys; k += kThreads) {
        if (first + k + thread < n)
            keys[first + k + thread] = stretch[k + thread];
    }
}
