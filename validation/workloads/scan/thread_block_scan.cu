// Exclusive prefix sums of every kElements integers, and the sum of each such stretch.
//
// A thread block scans its stretch in shared memory as Blelloch does: up a tree of sums, then down
// it again. One word of padding after every 32 keeps the strided accesses off each other's banks.
// Elements past the end count as zero.

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;

__device__ __forceinline__ int padded(int index)
{
    return index + index / 32;
}

extern "C" __global__ void thread_block_scan(const int *values, int *prefix, int *sums, int n)
{
    __shared__ int tree[kElements + kElements / 32];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * kElements + thread;
    const int second = first + kThreads;

    tree[padded(thread)] = first < n ? values[first] : 0;
    tree[padded(thread + kThreads)] = second < n ? values[second] : 0;

    int stride = 1;
#pragma unroll 1
    for (int active = kThreads; active > 0; active /= 2) {
        __syncthreads();
        if (thread < active) {
            const int left = stride * (2 * thread + 1) - 1;
            tree[padded(left + stride)] += tree[padded(left)];
        }
        stride *= 2;
    }
    __syncthreads();
    if (thread == 0) {
        sums[blockIdx.x] = tree[padded(kElements - 1)];
        tree[padded(kElements - 1)] = 0;
    }
#pragma unroll 1
    for (int active = 1; active <= kThreads; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (thread < active) {
            const int left = padded(stride * (2 * thread + 1) - 1);
            const int right = padded(stride * (2 * thread + 2) - 1);
            const int sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();

    if (first < n)
        prefix[first] = tree[padded(thread)];
    if (second < n)
        prefix[second] = tree[padded(thread + kThreads)];
}
