// Gravitational acceleration of each of n bodies by all others; bodies are x, y, z, mass. Thread
// blocks of 128 stage as many bodies in shared memory; n is a multiple of 128.

constexpr int kThreads = 128;

extern "C" __global__ void nbody(const float *bodies, float *acceleration, float softening, int n)
{
    __shared__ float staged[4][kThreads];
    const int thread = threadIdx.x;
    const int i = blockIdx.x * kThreads + thread;
    const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += kThreads) {
#pragma unroll
        for (int part = 0; part < 4; part++)
            staged[part][thread] = bodies[4 * (first + thread) + part];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < kThreads; j++) {
            const float dx = staged[0][j] - x, dy = staged[1][j] - y, dz = staged[2][j] - z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float pull = staged[3][j] * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    acceleration[3 * i] = ax;
    acceleration[3 * i + 1] = ay;
    acceleration[3 * i + 2] = az;
}
