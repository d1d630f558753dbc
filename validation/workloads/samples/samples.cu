// Kernels of the algorithms of three CUDA samples of NVIDIA (matrixMul, reduction, nbody), written
// anew with the samples' thread blocks and tiles.

// C = A B, row-major, of sizes that are multiples of 32: A is rows x depth, B is depth x columns.
constexpr int kEdge = 32;
extern "C" __global__ void matrix_multiply(
    float *c, float *a, float *b, int depth, int columns)
{
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kEdge + y, column = blockIdx.x * kEdge + x;
    float sum = 0.0f;
    for (int first = 0; first < depth; first += kEdge) {
        __shared__ float a_tile[kEdge][kEdge];
        __shared__ float b_tile[kEdge][kEdge];
        a_tile[y][x] = a[row * depth + first + x];
        b_tile[y][x] = b[(first + y) * columns + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kEdge; ++k)
            sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}

// One sum of integers for each thread block: two elements a round, shuffles at the end. n is a
// power of two.
constexpr unsigned kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ __forceinline__ int warp_sum(int sum)
{
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(kAllLanes, sum, distance);
    return sum;
}

extern "C" __global__ void reduction(
    const int *__restrict__ values, int *__restrict__ sums, unsigned n)
{
    __shared__ int warp_sums[kThreads / 32];
    const unsigned thread = threadIdx.x;
    int sum = 0;
    for (unsigned i = blockIdx.x * kThreads * 2 + thread; i < n; i += kThreads * 2 * gridDim.x) {
        sum += values[i];
        if (i + kThreads < n)
            sum += values[i + kThreads];
    }
    sum = warp_sum(sum);
    if (thread % 32 == 0)
        warp_sums[thread / 32] = sum;
    __syncthreads();
    if (thread < 32) {
        sum = warp_sum(thread < kThreads / 32 ? warp_sums[thread] : 0);
        if (thread == 0)
            sums[blockIdx.x] = sum;
    }
}

// A time step of all pairs of bodies in double precision: position and mass, then velocity. The
// number of bodies is a multiple of 256.
extern "C" __global__ void nbody(double4_16a *__restrict__ after, double4_16a *__restrict__ before,
    double4_16a *velocities, int bodies, double softening, float step, float damping)
{
    __shared__ double4_16a tile[kThreads];
    const int index = blockIdx.x * kThreads + threadIdx.x;
    if (index >= bodies)
        return;
    double4_16a body = before[index];
    double3 pull = make_double3(0.0, 0.0, 0.0);
    for (int first = 0; first < bodies; first += kThreads) {
        tile[threadIdx.x] = before[first + threadIdx.x];
        __syncthreads();
#pragma unroll 128
        for (unsigned k = 0; k < kThreads; ++k) {
            const double4_16a other = tile[k];
            const double x = other.x - body.x, y = other.y - body.y, z = other.z - body.z;
            const double inverse = rsqrt(x * x + y * y + z * z + softening);
            const double strength = other.w * (inverse * inverse * inverse);
            pull.x += x * strength;
            pull.y += y * strength;
            pull.z += z * strength;
        }
        __syncthreads();
    }
    double4_16a velocity = velocities[index];
    velocity.x = (velocity.x + pull.x * step) * damping;
    velocity.y = (velocity.y + pull.y * step) * damping;
    velocity.z = (velocity.z + pull.z * step) * damping;
    body.x += velocity.x * step;
    body.y += velocity.y * step;
    body.z += velocity.z * step;
    after[index] = body;
    velocities[index] = velocity;
}
