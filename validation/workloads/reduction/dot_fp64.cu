// Partial dot products of `x` and `y` in double precision, one for each thread block.
//
// The threads of the whole grid stride over the vectors; a tree in shared memory adds the sums of
// a thread block.

constexpr int kThreads = 128;

extern "C" __global__ void partial_dots(const double *x, const double *y, double *dots, int n)
{
    __shared__ double partial[kThreads];
    const int thread = threadIdx.x;

    double dot = 0.0;
    for (int i = blockIdx.x * kThreads + thread; i < n; i += gridDim.x * kThreads)
        dot += x[i] * y[i];
    partial[thread] = dot;
    __syncthreads();

#pragma unroll
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] += partial[thread + active];
        __syncthreads();
    }
    if (thread == 0)
        dots[blockIdx.x] = partial[0];
}
