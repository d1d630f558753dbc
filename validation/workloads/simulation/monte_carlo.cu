// Points of the unit square that fall into the quarter circle, counted by every thread.
//
// The random numbers are those of Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random
// numbers: as easy as 1, 2, 3, SC 2011): the counter is the thread's number and that of its draw,
// and each draw gives the coordinates of two points, as fractions of 2^32. All arithmetic is on
// integers, so that the counts are exact.

constexpr int kRounds = 10;

__device__ __forceinline__ uint4 philox(uint4 counter, uint2 key)
{
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const unsigned high0 = __umulhi(0xD2511F53u, counter.x);
        const unsigned low0 = 0xD2511F53u * counter.x;
        const unsigned high1 = __umulhi(0xCD9E8D57u, counter.z);
        const unsigned low1 = 0xCD9E8D57u * counter.z;
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

// Whether x^2 + y^2 < 1 for the 31 leading bits of the fractions.
__device__ __forceinline__ bool is_inside(unsigned x, unsigned y)
{
    const unsigned long long a = x >> 1;
    const unsigned long long b = y >> 1;
    return a * a + b * b < 1ull << 62;
}

extern "C" __global__ void monte_carlo_pi(
    unsigned *hits, int threads, int draws, unsigned key0, unsigned key1)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= threads)
        return;
    unsigned count = 0;
    for (int draw = 0; draw < draws; ++draw) {
        const uint4 numbers = philox(make_uint4(thread, draw, 0, 0), make_uint2(key0, key1));
        count += is_inside(numbers.x, numbers.y);
        count += is_inside(numbers.z, numbers.w);
    }
    hits[thread] = count;
}
