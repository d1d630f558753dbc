// C = A B, row-major: A is rows x n, B is n x n, C is rows x n.
//
// A thread block computes one TILE x TILE tile of C, one element a thread. It walks along a row of
// tiles of A and a column of tiles of B and keeps the current pair in shared memory. Sizes must be
// multiples of TILE.

template <unsigned TILE>
__device__ __forceinline__ void multiply(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * TILE + y;
    const unsigned column = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (unsigned tile = 0; tile < n; tile += TILE) {
        a_tile[y][x] = a[row * n + tile + x];
        b_tile[y][x] = b[(tile + y) * n + column];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < TILE; ++k)
            sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void sgemm(const float *a, const float *b, float *c, unsigned n)
{
    multiply<32>(a, b, c, n);
}

extern "C" __global__ void sgemm_16x16(const float *a, const float *b, float *c, unsigned n)
{
    multiply<16>(a, b, c, n);
}
