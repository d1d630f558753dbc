// Discrete Fourier transforms of 512 complex numbers each, one thread block a transform.
//
// Three passes of radix 8 in Stockham's order, which needs no bit reversal: before a pass the data
// are transforms of `length` numbers, after it of 8 * length. A thread takes 8 numbers that lie 64
// apart, turns them by powers of exp(-2 pi i / (8 * length)), transforms them and puts them
// `length` apart. Between passes the numbers change threads through shared memory. `roots` holds
// exp(-2 pi i k / 512) for k from 0 to 511.

constexpr int kThreads = 64;
constexpr int kRadix = 8;
constexpr int kLength = kThreads * kRadix;
constexpr float kSqrtHalf = 0.70710678118654752f;

__device__ __forceinline__ float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ __forceinline__ float2 operator-(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ __forceinline__ float2 operator*(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ __forceinline__ float2 times_minus_i(float2 a)
{
    return make_float2(a.y, -a.x);
}

__device__ __forceinline__ void transform4(float2 &a, float2 &b, float2 &c, float2 &d)
{
    const float2 even_sum = a + c, even_difference = a - c;
    const float2 odd_sum = b + d, odd_difference = times_minus_i(b - d);
    a = even_sum + odd_sum;
    b = even_difference + odd_difference;
    c = even_sum - odd_sum;
    d = even_difference - odd_difference;
}

__device__ __forceinline__ void transform8(float2 (&v)[kRadix])
{
    transform4(v[0], v[2], v[4], v[6]);
    transform4(v[1], v[3], v[5], v[7]);
    const float2 odd[4] = {
        v[1],
        make_float2(kSqrtHalf * (v[3].x + v[3].y), kSqrtHalf * (v[3].y - v[3].x)),
        times_minus_i(v[5]),
        make_float2(kSqrtHalf * (v[7].y - v[7].x), -kSqrtHalf * (v[7].x + v[7].y)),
    };
    const float2 even[4] = {v[0], v[2], v[4], v[6]};
#pragma unroll
    for (int k = 0; k < kRadix / 2; ++k) {
        v[k] = even[k] + odd[k];
        v[k + kRadix / 2] = even[k] - odd[k];
    }
}

extern "C" __global__ void fft512(const float2 *input, const float2 *roots, float2 *output)
{
    __shared__ float2 exchange[kLength];
    const int thread = threadIdx.x;
    const size_t first = static_cast<size_t>(blockIdx.x) * kLength;

    float2 v[kRadix];
#pragma unroll
    for (int k = 0; k < kRadix; ++k)
        v[k] = input[first + thread + k * kThreads];

#pragma unroll
    for (int length = 1; length < kLength; length *= kRadix) {
        const int within = thread % length;
        if (length > 1) {
#pragma unroll
            for (int k = 0; k < kRadix; ++k)
                v[k] = exchange[thread + k * kThreads];
            __syncthreads();
#pragma unroll
            for (int k = 1; k < kRadix; ++k)
                v[k] = v[k] * roots[k * within * (kThreads / length)];
        }
        transform8(v);
        if (length < kThreads) {
            const int place = (thread - within) * kRadix + within;
#pragma unroll
            for (int k = 0; k < kRadix; ++k)
                exchange[place + k * length] = v[k];
            __syncthreads();
        }
    }

#pragma unroll
    for (int k = 0; k < kRadix; ++k)
        output[first + thread + k * kThreads] = v[k];
}
