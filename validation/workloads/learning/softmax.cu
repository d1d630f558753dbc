// Softmax of every row: y[r][c] = exp(x[r][c] - m) / sum over k of exp(x[r][k] - m), m = max of
// row r.
//
// Matrices are row-major. A thread block takes one row in three passes: largest element, sum of the
// exponentials, quotients. Each pass that reduces ends with a tree in shared memory.

constexpr int kThreads = 256;

struct Maximum {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// The threads' values combined; every thread of the thread block gets the result.
template <typename Combine>
__device__ __forceinline__ float combined(float *partial, float value, Combine combine)
{
    const int thread = threadIdx.x;
    partial[thread] = value;
    __syncthreads();
#pragma unroll 1
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] = combine(partial[thread], partial[thread + active]);
        __syncthreads();
    }
    const float result = partial[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax(const float *x, float *y, int columns)
{
    __shared__ float partial[kThreads];
    const float *const row = x + static_cast<size_t>(blockIdx.x) * columns;
    float *const out = y + static_cast<size_t>(blockIdx.x) * columns;

    float largest = -INFINITY;
    for (int c = threadIdx.x; c < columns; c += kThreads)
        largest = fmaxf(largest, row[c]);
    largest = combined(partial, largest, Maximum());

    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += kThreads)
        sum += expf(row[c] - largest);
    sum = combined(partial, sum, Sum());

    for (int c = threadIdx.x; c < columns; c += kThreads)
        out[c] = expf(row[c] - largest) / sum;
}
