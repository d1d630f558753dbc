// A step of the D3Q19 lattice Boltzmann method with a single relaxation time and esoteric pull, the
// streaming in place of M. Lehmann, "Esoteric Pull and Esoteric Push: Two Simple In-Place Streaming
// Schemes for the Lattice Boltzmann Method on GPUs" (Computation 10, 2022, 92), written anew from the
// published method.
//
// One array populations[19][depth][height][width], periodic. Each is stored less the weight of its
// direction, so that small numbers keep their digits. Directions come in opposite pairs. In
// an even step a cell takes the first of a pair from its own place for the second, the second from
// the neighbour's place for the first, and writes each where the other came from; odd steps swap the
// places. Solid cells do nothing, which turns back what comes towards them.
//
// Arithmetic is in single precision. Populations are stored as float, as IEEE half times 2^15, or in
// a half format of their own: sign, 4 bits of exponent, 11 of fraction, values below 2, subnormal
// steps of 2^-25, converted by integer operations, rounded to the nearest, halves away from zero.

#include <cuda_fp16.h>

constexpr int kPairs = 9;

struct Single {
    using Stored = float;
    static __device__ __forceinline__ float loaded(float value) { return value; }
    static __device__ __forceinline__ float stored(float value) { return value; }
};

struct ScaledHalf {
    using Stored = __half;
    static __device__ __forceinline__ float loaded(__half value)
    {
        return __half2float(value) * (1.0f / 32768.0f);
    }
    static __device__ __forceinline__ __half stored(float value)
    {
        return __float2half_rn(value * 32768.0f);
    }
};

struct OwnHalf {
    using Stored = unsigned short;
    static __device__ __forceinline__ float loaded(unsigned short code)
    {
        const unsigned exponent = code >> 11 & 15u;
        const unsigned fraction = code & 0x7ffu;
        const unsigned zeros = __clz(fraction);
        const unsigned normal = (exponent + 112u) << 23 | fraction << 12;
        const unsigned small =
            (133u - zeros) << 23 | (fraction << (zeros - 8u) & 0x7fffffu);
        const unsigned size = exponent != 0u ? normal : fraction != 0u ? small : 0u;
        return __uint_as_float((code & 0x8000u) << 16 | size);
    }
    static __device__ __forceinline__ unsigned short stored(float value)
    {
        const unsigned bits = __float_as_uint(value);
        const unsigned exponent = bits >> 23 & 255u;
        const unsigned normal = ((bits & 0x7fffffffu) + 0x800u >> 12) - (112u << 11);
        const unsigned shift = min(125u - exponent, 31u);
        const unsigned whole = (bits & 0x7fffffu) | 0x800000u;
        const unsigned small = (whole >> (shift - 1u)) + 1u >> 1;
        return static_cast<unsigned short>(bits >> 16 & 0x8000u | (exponent > 112u ? normal : small));
    }
};

// What a pair leaves: `along` is the velocity's part in the first direction, `rest` what is the same
// for all.
struct Pair {
    float first;
    float second;
};

__device__ __forceinline__ Pair relaxed(
    Pair before, float weight, float density, float along, float rest, float excess, float rate)
{
    const float even = density * (4.5f * along * along + rest) + excess;
    const float odd = density * 3.0f * along;
    return {before.first + rate * (weight * (even + odd) - before.first),
            before.second + rate * (weight * (even - odd) - before.second)};
}

template <typename Format>
__device__ __forceinline__ void step(
    typename Format::Stored *populations, const unsigned char *is_solid, float rate, int width,
    int height, int depth, int is_odd)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y;
    const int z = blockIdx.z;
    if (x >= width)
        return;
    const int right = x + 1 == width ? 0 : x + 1;
    const int up = (y + 1 == height ? 0 : y + 1) * width;
    const int down = (y == 0 ? height - 1 : y - 1) * width;
    const int layer = width * height;
    const int front = (z + 1 == depth ? 0 : z + 1) * layer;
    const int back = (z == 0 ? depth - 1 : z - 1) * layer;
    const int row = y * width;
    const int plane = z * layer;
    const int cell = x + row + plane;
    if (is_solid[cell])
        return;
    // (1,0,0) (0,1,0) (0,0,1) (1,1,0) (1,0,1) (0,1,1) (1,-1,0) (1,0,-1) (0,1,-1)
    const int neighbour[kPairs] = {
        right + row + plane, x + up + plane,      x + row + front,
        right + up + plane,  right + row + front, x + up + front,
        right + down + plane, right + row + back, x + up + back};
    const size_t cells = static_cast<size_t>(layer) * depth;

    const float rest = Format::loaded(populations[cell]);
    Pair pair[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; i++) {
        const size_t own_place = (2 * i + (is_odd ? 1 : 2)) * cells;
        const size_t other_place = (2 * i + (is_odd ? 2 : 1)) * cells;
        pair[i].first = Format::loaded(populations[own_place + cell]);
        pair[i].second = Format::loaded(populations[other_place + neighbour[i]]);
    }

    float excess = rest;
    float flow[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; i++) {
        excess += pair[i].first + pair[i].second;
        flow[i] = pair[i].first - pair[i].second;
    }
    const float density = excess + 1.0f;
    const float inverse = 1.0f / density;
    const float u = (flow[0] + flow[3] + flow[4] + flow[6] + flow[7]) * inverse;
    const float v = (flow[1] + flow[3] + flow[5] - flow[6] + flow[8]) * inverse;
    const float w = (flow[2] + flow[4] + flow[5] - flow[7] - flow[8]) * inverse;
    const float square = -1.5f * (u * u + v * v + w * w);
    const float along[kPairs] = {u, v, w, u + v, u + w, v + w, u - v, u - w, v - w};

    populations[cell] =
        Format::stored(rest + rate * ((density * square + excess) * (1.0f / 3.0f) - rest));
#pragma unroll
    for (int i = 0; i < kPairs; i++) {
        const size_t own_place = (2 * i + (is_odd ? 1 : 2)) * cells;
        const size_t other_place = (2 * i + (is_odd ? 2 : 1)) * cells;
        const float weight = i < 3 ? 1.0f / 18.0f : 1.0f / 36.0f;
        const Pair after =
            relaxed(pair[i], weight, density, along[i], square, excess, rate);
        populations[other_place + neighbour[i]] = Format::stored(after.first);
        populations[own_place + cell] = Format::stored(after.second);
    }
}

extern "C" __global__ void step_fp32(
    float *populations, const unsigned char *is_solid, float rate, int width, int height, int depth,
    int is_odd)
{
    step<Single>(populations, is_solid, rate, width, height, depth, is_odd);
}

extern "C" __global__ void step_fp16s(
    __half *populations, const unsigned char *is_solid, float rate, int width, int height, int depth,
    int is_odd)
{
    step<ScaledHalf>(populations, is_solid, rate, width, height, depth, is_odd);
}

extern "C" __global__ void step_fp16c(
    unsigned short *populations, const unsigned char *is_solid, float rate, int width, int height,
    int depth, int is_odd)
{
    step<OwnHalf>(populations, is_solid, rate, width, height, depth, is_odd);
}
