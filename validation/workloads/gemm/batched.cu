// Many products C = A B of 8 x 8 matrices in single precision, row-major, one matrix after another.
//
// A thread computes one element. A thread block takes four products (z) and holds their factors in
// shared memory; threads without a product work on zeros.

constexpr int kSide = 8;
constexpr int kProducts = 4;

extern "C" __global__ void gemm_batched(const float *a, const float *b, float *c, int products)
{
    __shared__ float a_tile[kProducts][kSide][kSide];
    __shared__ float b_tile[kProducts][kSide][kSide];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int product = blockIdx.x * kProducts + z;
    const int element = (product * kSide + y) * kSide + x;

    a_tile[z][y][x] = product < products ? a[element] : 0.0f;
    b_tile[z][y][x] = product < products ? b[element] : 0.0f;
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kSide; ++i)
        sum += a_tile[z][y][i] * b_tile[z][i][x];
    if (product < products)
        c[element] = sum;
}
