// out = in transposed, n x n, by padded 32 x 32 tiles in shared memory and thread blocks of 32 x 8;
// n is a multiple of 32.

constexpr int kTile = 32;
constexpr int kRows = 8;

extern "C" __global__ void transpose_tiled(const float *in, float *out, int n)
{
    __shared__ float tile[kTile][kTile + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
#pragma unroll
    for (int row = ty; row < kTile; row += kRows)
        tile[row][tx] = in[(y + row) * n + x + tx];
    __syncthreads();
#pragma unroll
    for (int row = ty; row < kTile; row += kRows)
        out[(x + row) * n + y + tx] = tile[tx][row];
}
