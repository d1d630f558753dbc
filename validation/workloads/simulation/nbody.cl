// Gravitational accelerations of bodies on each other, all pairs: the algorithm and the data of
// nbody.cu, its tiles in local memory.

#define THREADS 128

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void nbody(__global const float4 *bodies, __global float4 *accelerations, int count,
           float softening)
{
    __local float4 tile[THREADS];
    const int thread = get_local_id(0);
    const int i = get_global_id(0);
    const float4 nobody = (float4)(0.0f);
    const float4 body = i < count ? bodies[i] : nobody;

    float3 acceleration = (float3)(0.0f);
    for (int first = 0; first < count; first += THREADS) {
        const int other = first + thread;
        tile[thread] = other < count ? bodies[other] : nobody;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
        for (int k = 0; k < THREADS; ++k) {
            const float3 way = tile[k].xyz - body.xyz;
            const float inverse = rsqrt(dot(way, way) + softening);
            acceleration += way * (tile[k].w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < count)
        accelerations[i] = (float4)(acceleration, 0.0f);
}
