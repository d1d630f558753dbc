// C = A B, row-major: A is m x k, B is k x n. One element of C a thread.
//
// A thread block computes a TILE x TILE tile of C from a row of tiles of A and a column of tiles of
// B, a pair of which is in shared memory at a time. Tiles are filled up with zeros at the edges.

template <typename Real, int TILE>
__device__ __forceinline__ void multiply(const Real *a, const Real *b, Real *c, int m, int n, int k)
{
    __shared__ Real a_tile[TILE][TILE];
    __shared__ Real b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * TILE + x;
    const int row = blockIdx.y * TILE + y;

    Real sum = 0;
    for (int first = 0; first < k; first += TILE) {
        const bool is_in_a = row < m && first + x < k;
        const bool is_in_b = first + y < k && column < n;
        a_tile[y][x] = is_in_a ? a[row * k + first + x] : 0;
        b_tile[y][x] = is_in_b ? b[(first + y) * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

extern "C" __global__ void gemm_tiled(
    const float *a, const float *b, float *c, int m, int n, int k)
{
    multiply<float, 32>(a, b, c, m, n, k);
}

extern "C" __global__ void gemm_tiled_16x16(
    const float *a, const float *b, float *c, int m, int n, int k)
{
    multiply<float, 16>(a, b, c, m, n, k);
}

extern "C" __global__ void gemm_fp64(
    const double *a, const double *b, double *c, int m, int n, int k)
{
    multiply<double, 16>(a, b, c, m, n, k);
}
