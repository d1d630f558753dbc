// Tridiagonal systems lower[i] x[i - 1] + diagonal[i] x[i] + upper[i] x[i + 1] = right_side[i] by
// cyclic reduction, one system of kUnknowns per thread block, half as many threads.
//
// Arrays are [systems][kUnknowns]; a system's first `lower` and last `upper` have no meaning. Going
// forward, every other equation left takes in its two neighbours, and these drop out of the system;
// going backward, they are solved from the unknowns known already.

constexpr int kUnknowns = 512;
constexpr int kThreads = kUnknowns / 2;

extern "C" __global__ void cyclic_reduction(
    const float *lower, const float *diagonal, const float *upper, const float *right_side,
    float *solution)
{
    __shared__ float a[kUnknowns], b[kUnknowns], c[kUnknowns], d[kUnknowns], x[kUnknowns];
    const int thread = threadIdx.x;
    const size_t first = static_cast<size_t>(blockIdx.x) * kUnknowns;

    for (int i = thread; i < kUnknowns; i += kThreads) {
        a[i] = lower[first + i];
        b[i] = diagonal[first + i];
        c[i] = upper[first + i];
        d[i] = right_side[first + i];
    }
    __syncthreads();

#pragma unroll 1
    for (int stride = 1; stride < kUnknowns; stride *= 2) {
        const int i = 2 * stride * (thread + 1) - 1;
        if (i < kUnknowns) {
            const int before = i - stride, after = i + stride;
            const float down = a[i] / b[before];
            float main = b[i] - down * c[before], side = d[i] - down * d[before];
            float next = 0.0f;
            if (after < kUnknowns) {
                const float up = c[i] / b[after];
                main -= up * a[after];
                side -= up * d[after];
                next = -up * c[after];
            }
            a[i] = -down * a[before];
            b[i] = main;
            c[i] = next;
            d[i] = side;
        }
        __syncthreads();
    }

    if (thread == 0)
        x[kUnknowns - 1] = d[kUnknowns - 1] / b[kUnknowns - 1];
    __syncthreads();
#pragma unroll 1
    for (int stride = kUnknowns / 2; stride > 0; stride /= 2) {
        const int i = 2 * stride * thread + stride - 1;
        if (i < kUnknowns) {
            float side = d[i] - c[i] * x[i + stride];
            if (i >= stride)
                side -= a[i] * x[i - stride];
            x[i] = side / b[i];
        }
        __syncthreads();
    }
    for (int i = thread; i < kUnknowns; i += kThreads)
        solution[first + i] = x[i];
}
