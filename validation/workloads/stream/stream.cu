// The five kernels of BabelStream (T. Deakin et al., 2018) in double precision, written anew: one
// element a thread, thread blocks of 1024; dot strides over the array.

constexpr int kThreads = 1024;
constexpr double kScalar = 0.4;

__device__ __forceinline__ int element()
{
    return blockIdx.x * kThreads + threadIdx.x;
}

extern "C" __global__ void copy(const double *a, double *c)
{
    c[element()] = a[element()];
}

extern "C" __global__ void mul(double *b, const double *c)
{
    b[element()] = kScalar * c[element()];
}

extern "C" __global__ void add(const double *a, const double *b, double *c)
{
    c[element()] = a[element()] + b[element()];
}

extern "C" __global__ void triad(double *a, const double *b, const double *c)
{
    a[element()] = b[element()] + kScalar * c[element()];
}

// One partial sum for each thread block, by a tree in shared memory.
extern "C" __global__ void dot(const double *a, const double *b, double *sums, int n)
{
    __shared__ double partial[kThreads];
    const int thread = threadIdx.x;
    double sum = 0.0;
    for (int i = element(); i < n; i += gridDim.x * kThreads)
        sum += a[i] * b[i];
    partial[thread] = sum;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            partial[thread] += partial[thread + half];
    }
    if (thread == 0)
        sums[blockIdx.x] = partial[0];
}
