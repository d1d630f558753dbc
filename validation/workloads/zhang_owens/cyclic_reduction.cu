// The forward phase of cyclic reduction, one tridiagonal system of kEquations per thread block:
// lower[i] x[i - 1] + diagonal[i] x[i] + upper[i] x[i + 1] = right_side[i]. In each step, after
// which half of the equations is left, each of these takes in its two neighbours; the last one then
// gives the last unknown. Systems are stored one after the other; `lower` of the first and `upper`
// of the last equation are zero, so that the last one may take itself for its right neighbour.
//
// kPadding: a word is left out after every 16, so that strides of 16 words fall to different banks.

constexpr int kEquations = 512;
constexpr int kThreads = kEquations / 2;
constexpr int kBanks = 16;

template <bool kPadding> __device__ __forceinline__ int place(int equation)
{
    return kPadding ? equation + equation / kBanks : equation;
}

template <bool kPadding>
__device__ __forceinline__ void reduce(
    const float *lower, const float *diagonal, const float *upper, const float *right_side,
    float *last)
{
    constexpr int kWords = kPadding ? kEquations + kEquations / kBanks : kEquations;
    extern __shared__ float words[];
    float *a = words, *b = a + kWords, *c = b + kWords, *d = c + kWords, *x = d + kWords;
    const unsigned thread = threadIdx.x;
    const unsigned first = blockIdx.x * kEquations + thread;

#pragma unroll
    for (int i = 0; i < kEquations; i += kThreads) {
        const int to = place<kPadding>(i + thread);
        a[to] = lower[first + i];
        b[to] = diagonal[first + i];
        c[to] = upper[first + i];
        d[to] = right_side[first + i];
    }
    __syncthreads();

#pragma unroll 1
    for (unsigned stride = 1, active = kThreads; active > 0; stride *= 2, active /= 2) {
        if (thread < active) {
            const int equation = 2 * stride * (thread + 1) - 1;
            const int i = place<kPadding>(equation);
            const int left = place<kPadding>(equation - stride);
            const int right = place<kPadding>(min(equation + stride, kEquations - 1));
            const float down = __fdividef(a[i], b[left]);
            const float up = __fdividef(c[i], b[right]);
            b[i] = b[i] - c[left] * down - a[right] * up;
            d[i] = d[i] - d[left] * down - d[right] * up;
            a[i] = -a[left] * down;
            c[i] = -c[right] * up;
        }
        __syncthreads();
    }

    if (thread == 0) {
        const int end = place<kPadding>(kEquations - 1);
        x[end] = __fdividef(d[end], b[end]);
        last[blockIdx.x] = x[end];
    }
}

extern "C" __global__ void cyclic_reduction(
    const float *lower, const float *diagonal, const float *upper, const float *right_side,
    float *last)
{
    reduce<false>(lower, diagonal, upper, right_side, last);
}

extern "C" __global__ void cyclic_reduction_padded(
    const float *lower, const float *diagonal, const float *upper, const float *right_side,
    float *last)
{
    reduce<true>(lower, diagonal, upper, right_side, last);
}
