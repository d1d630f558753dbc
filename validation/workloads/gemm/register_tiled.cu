// C = A B in single precision, row-major: A is m x k, B is k x n. 4 x 4 elements of C a thread.
//
// A thread block of 256 computes a 64 x 64 tile of C in steps of 16 along k. A's tile is kept
// transposed in shared memory, so that a thread reads what it needs of both tiles as vectors of
// four. k and n must be multiples of 4: global memory is read and written in such vectors too.

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kPerThread = 4;
constexpr int kPitch = kTile + 4; // keeps vectors aligned, spreads the transposed stores

__device__ __forceinline__ float4 read_vector(
    const float *matrix, int row, int column, int rows, int columns)
{
    if (row >= rows || column >= columns)
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return *reinterpret_cast<const float4 *>(&matrix[row * columns + column]);
}

extern "C" __global__ void __launch_bounds__(256) gemm_register_tiled(
    const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
    int m, int n, int k)
{
    __shared__ __align__(16) float a_tile[kDepth][kPitch];
    __shared__ __align__(16) float b_tile[kDepth][kPitch];
    const int thread = threadIdx.x;
    const int x = thread % 16 * kPerThread, y = thread / 16 * kPerThread; // of C's tile
    const int a_row = thread / 4, a_column = thread % 4 * 4;
    const int b_row = thread / 16, b_column = thread % 16 * 4;
    const int first_row = blockIdx.y * kTile;
    const int first_column = blockIdx.x * kTile;

    float sums[kPerThread][kPerThread] = {};
    for (int first = 0; first < k; first += kDepth) {
        const float4 of_a = read_vector(a, first_row + a_row, first + a_column, m, k);
        const float4 of_b = read_vector(b, first + b_row, first_column + b_column, k, n);
        a_tile[a_column][a_row] = of_a.x;
        a_tile[a_column + 1][a_row] = of_a.y;
        a_tile[a_column + 2][a_row] = of_a.z;
        a_tile[a_column + 3][a_row] = of_a.w;
        *reinterpret_cast<float4 *>(&b_tile[b_row][b_column]) = of_b;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            const float4 column = *reinterpret_cast<const float4 *>(&a_tile[i][y]);
            const float4 row = *reinterpret_cast<const float4 *>(&b_tile[i][x]);
            const float from_a[kPerThread] = {column.x, column.y, column.z, column.w};
            const float from_b[kPerThread] = {row.x, row.y, row.z, row.w};
            for (int j = 0; j < kPerThread; ++j)
                for (int l = 0; l < kPerThread; ++l)
                    sums[j][l] += from_a[j] * from_b[l];
        }
        __syncthreads();
    }
    for (int j = 0; j < kPerThread; ++j) {
        const int row = first_row + y + j;
        if (row < m && first_column + x < n)
            *reinterpret_cast<float4 *>(&c[row * n + first_column + x]) =
                make_float4(sums[j][0], sums[j][1], sums[j][2], sums[j][3]);
    }
}
