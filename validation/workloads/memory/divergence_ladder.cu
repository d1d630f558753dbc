// Each lane of a warp takes a rung of its own: 32 ways through one switch, one after the other.
//
// Rung r is r + 1 steps of value -> value * (2 r + 3) + r, in arithmetic modulo 2^32.

template <unsigned RUNG> __device__ __forceinline__ unsigned climb(unsigned value)
{
#pragma unroll
    for (unsigned step = 0; step <= RUNG; ++step)
        value = value * (2 * RUNG + 3) + RUNG;
    return value;
}

#define RUNG(r) \
    case r: \
        value = climb<r>(value); \
        break;
#define FOUR_RUNGS(r) RUNG(r) RUNG(r + 1) RUNG(r + 2) RUNG(r + 3)

extern "C" __global__ void divergence_ladder(unsigned *values, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = values[i];
    switch (threadIdx.x % 32) {
        FOUR_RUNGS(0)
        FOUR_RUNGS(4)
        FOUR_RUNGS(8)
        FOUR_RUNGS(12)
        FOUR_RUNGS(16)
        FOUR_RUNGS(20)
        FOUR_RUNGS(24)
        FOUR_RUNGS(28)
    }
    values[i] = value;
}
