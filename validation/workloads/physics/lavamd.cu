// Potential and force on charged particles from all particles of their own box and the boxes next
// to it, for the pair potential charge * exp(-decay * r^2).
//
// Space is a grid of layers x rows x columns boxes with kParticles particles each, which lie one
// box after the other; particles are (x, y, z, charge), results (force x, y, z, potential). The
// potential counts the particle itself too. One thread block per box, one thread per particle; the
// particles of each neighbouring box are staged in shared memory in turn.

constexpr int kParticles = 100;

__device__ __forceinline__ float4 plus_influence(
    float4 sum, float4 home, float4 other, float decay)
{
    const float x = home.x - other.x, y = home.y - other.y, z = home.z - other.z;
    const float potential = other.w * expf(-decay * (x * x + y * y + z * z));
    const float force = 2.0f * decay * potential;
    sum.x += force * x;
    sum.y += force * y;
    sum.z += force * z;
    sum.w += potential;
    return sum;
}

extern "C" __global__ void lavamd(
    const float4 *particles, float4 *results, int columns, int rows, int layers, float decay)
{
    __shared__ float4 staged[kParticles];
    const int thread = threadIdx.x;
    const int box = blockIdx.x;
    const int box_x = box % columns, box_y = box / columns % rows, box_z = box / (columns * rows);
    const bool has_particle = thread < kParticles;

    float4 home = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (has_particle)
        home = particles[box * kParticles + thread];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

#pragma unroll 1
    for (int z = max(box_z - 1, 0); z <= min(box_z + 1, layers - 1); ++z)
#pragma unroll 1
        for (int y = max(box_y - 1, 0); y <= min(box_y + 1, rows - 1); ++y)
#pragma unroll 1
            for (int x = max(box_x - 1, 0); x <= min(box_x + 1, columns - 1); ++x) {
                const int neighbour = (z * rows + y) * columns + x;
                __syncthreads();
                if (has_particle)
                    staged[thread] = particles[neighbour * kParticles + thread];
                __syncthreads();
                if (has_particle)
                    for (int j = 0; j < kParticles; ++j)
                        sum = plus_influence(sum, home, staged[j], decay);
            }
    if (has_particle)
        results[box * kParticles + thread] = sum;
}
