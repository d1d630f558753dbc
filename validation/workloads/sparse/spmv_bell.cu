// y = A x for a sparse matrix in blocked ELLPACK format, tiles of 4 x 4, one row a thread.
//
// Every row of tiles has `slots` slots. `tile_columns`, slots x tile_rows, holds the number of a
// slot's column of tiles. `values`, slots x 4 columns x rows, keeps a tile's columns apart, so that
// neighbouring threads read neighbouring elements. Unused slots hold zeros.

constexpr int kTile = 4;

extern "C" __global__ void spmv_bell(
    const int *tile_columns, const float *values, const float *x, float *y, int tile_rows,
    int slots)
{
    const int rows = tile_rows * kTile;
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int slot = 0; slot < slots; ++slot) {
        const int column = tile_columns[slot * tile_rows + row / kTile] * kTile;
        const float *const tile = values + static_cast<size_t>(slot) * kTile * rows + row;
#pragma unroll
        for (int k = 0; k < kTile; ++k)
            sum += tile[k * rows] * x[column + k];
    }
    y[row] = sum;
}
