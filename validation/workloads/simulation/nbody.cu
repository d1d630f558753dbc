// Gravitational accelerations of bodies on each other, all pairs.
//
// A body is four floats: position and mass. A thread adds up what all bodies do to its own; the
// thread block walks over them in tiles that it keeps in shared memory. Places past the end of the
// last tile hold bodies without mass.

constexpr int kThreads = 128;

__device__ __forceinline__ void attract(
    float3 &acceleration, float4 body, float4 other, float softening)
{
    const float x = other.x - body.x;
    const float y = other.y - body.y;
    const float z = other.z - body.z;
    const float inverse = rsqrtf(x * x + y * y + z * z + softening);
    const float strength = other.w * inverse * inverse * inverse;
    acceleration.x += x * strength;
    acceleration.y += y * strength;
    acceleration.z += z * strength;
}

extern "C" __global__ void nbody(
    const float4 *bodies, float4 *accelerations, int count, float softening)
{
    __shared__ float4 tile[kThreads];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float4 nobody = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 body = i < count ? bodies[i] : nobody;

    float3 acceleration = make_float3(0.0f, 0.0f, 0.0f);
    for (int first = 0; first < count; first += kThreads) {
        const int other = first + threadIdx.x;
        tile[threadIdx.x] = other < count ? bodies[other] : nobody;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < kThreads; ++k)
            attract(acceleration, body, tile[k], softening);
        __syncthreads();
    }
    if (i < count)
        accelerations[i] = make_float4(acceleration.x, acceleration.y, acceleration.z, 0.0f);
}
