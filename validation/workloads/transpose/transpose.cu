// to = from^T, row-major: `from` is rows x columns floats, `to` columns x rows.
//
// A thread block of 32 x 8 moves a tile of 32 x 32, each thread four elements of a column.

constexpr int kTile = 32;
constexpr int kRowsAtOnce = 8;

// Reads along rows, writes along columns: each store of a warp goes to 32 cache lines.
extern "C" __global__ void transpose_naive(float *to, const float *from, int rows, int columns)
{
    const int column = blockIdx.x * kTile + threadIdx.x;
    const int first_row = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
    for (int down = 0; down < kTile; down += kRowsAtOnce) {
        const int row = first_row + down;
        if (row < rows && column < columns)
            to[column * rows + row] = from[row * columns + column];
    }
}

// Reads and writes along rows, by way of a tile in shared memory whose rows are kPitch words apart.
template <int kPitch>
__device__ __forceinline__ void transpose(float *to, const float *from, int rows, int columns)
{
    __shared__ float tile[kTile][kPitch];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first_column = blockIdx.x * kTile;
    const int first_row = blockIdx.y * kTile;

#pragma unroll
    for (int down = 0; down < kTile; down += kRowsAtOnce) {
        const int row = first_row + y + down;
        if (row < rows && first_column + x < columns)
            tile[y + down][x] = from[row * columns + first_column + x];
    }
    __syncthreads();
#pragma unroll
    for (int down = 0; down < kTile; down += kRowsAtOnce) {
        const int column = first_column + y + down;
        if (column < columns && first_row + x < rows)
            to[column * rows + first_row + x] = tile[x][y + down];
    }
}

// Padded: the columns of the tile are spread over all banks.
extern "C" __global__ void transpose_tiled(float *to, const float *from, int rows, int columns)
{
    transpose<kTile + 1>(to, from, rows, columns);
}

// Unpadded: a column of the tile lies in one bank.
extern "C" __global__ void transpose_conflicts(float *to, const float *from, int rows, int columns)
{
    transpose<kTile>(to, from, rows, columns);
}
